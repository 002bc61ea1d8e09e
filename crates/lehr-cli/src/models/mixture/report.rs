//! What a page of clusters shows: items, and what they are called.

use lehr::models::mixture::Mixture;
use lehr::store::Run;
use lehr_report::clusters::Given;

use super::kept;
use crate::args::BesideArgs;
use crate::models::{check_flags, notes_on, read};

pub(super) fn given(run: &Run<Mixture>, args: &BesideArgs) -> anyhow::Result<Given> {
    check_flags(
        &run.config.model,
        &[
            ("titles", "ratings", args.titles.is_some()),
            ("user", "ratings", !args.user.is_empty()),
            ("by", "documents", args.by.is_some()),
        ],
    )?;
    let Some(path) = args.data.as_deref() else { return Ok(Given::default()) };
    let new = read(&run.model, &run.config, path, &args.input)?;
    let notes = notes_on(run, path, &new);
    let names = match args.id.as_deref() {
        None => None,
        Some(column) => {
            let mut columns = kept(&run.config, &new.data, path, &args.input, &[("id", column)])?;
            columns.pop().map(|column| column.cells)
        }
    };
    Ok(Given { points: Some(new.data.into()), names, notes })
}
