//! What a page of ratings shows: titles, ratings to test on, and users.

use std::path::Path;

use lehr::data::{FromFile, Ratings};
use lehr::models::pmf::Pmf;
use lehr::store::{Run, held_out};
use lehr_report::ratings::Given;

use super::recommend::read_titles;
use crate::args::BesideArgs;
use crate::models::{check_flags, notes_on, read};

pub(super) fn given(run: &Run<Pmf>, args: &BesideArgs) -> anyhow::Result<Given> {
    check_flags(
        &run.config.model,
        &[
            ("by", "documents", args.by.is_some()),
            ("id", "points and documents", args.id.is_some()),
        ],
    )?;
    let mut given = Given { users: args.user.clone(), ..Given::default() };
    if let Some(path) = args.titles.as_deref() {
        given.titles = read_titles(&run.model, &run.config, path)?;
    }
    given.test = Some(match args.data.as_deref() {
        None => own(run),
        Some(path) => {
            let new = read(&run.model, &run.config, path, &args.input)?;
            given.notes = notes_on(run, path, &new);
            match new.data.fingerprint() == run.config.data.fingerprint {
                true => split(run, &new.data),
                false => Ok((new.data, format!("the ratings of {}", name(path)))),
            }
        }
    });
    Ok(given)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The ratings that the fit has held out, of its own data.
fn own(run: &Run<Pmf>) -> Result<(Ratings, String), String> {
    let data = &run.config.data;
    if run.config.fit.holdout.count(data.items) == 0 {
        return Err(NOTHING.into());
    }
    let Some(path) = data.path.as_deref().filter(|_| !data.pipe) else {
        return Err("the ratings of the fit are in no file".into());
    };
    let ratings = Ratings::read(path, &data.options).map_err(|error| match path.exists() {
        true => format!("the ratings of the fit cannot be read ({error})"),
        false => format!("the ratings of the fit, {}, are gone", name(path)),
    })?;
    if ratings.fingerprint() != data.fingerprint {
        return Err(format!("{} has changed since the fit", name(path)));
    }
    split(run, &ratings)
}

const NOTHING: &str =
    "the fit has held out no ratings (--holdout 0.1 would), and others were not given with --data";

/// Those that it has held out, of all its ratings.
fn split(run: &Run<Pmf>, ratings: &Ratings) -> Result<(Ratings, String), String> {
    let held_out = held_out(ratings, &run.config.fit).map_err(|error| error.to_string())?;
    held_out
        .map(|part| (part, "the ratings that the fit has held out".into()))
        .ok_or(NOTHING.into())
}
