//! What a page of topics shows: documents, what these belong to, and where words are counted.

use std::path::Path;

use lehr::error::Part;
use lehr::models::Stored;
use lehr::models::lda::Lda;
use lehr::read::DocsOptions;
use lehr::store::Run;
use lehr_report::topics::Given;

use super::check_known;
use super::topics::training_documents;
use crate::args::BesideArgs;
use crate::complaint;
use crate::models::{NewData, check_flags, naming_file, notes_on, reading};
use crate::text::quoted;

pub(super) fn given(run: &Run<Lda>, args: &BesideArgs) -> anyhow::Result<Given> {
    let model = &run.config.model;
    check_flags(
        model,
        &[("titles", "ratings", args.titles.is_some()), ("user", "ratings", !args.user.is_empty())],
    )?;
    let mut given = Given::default();
    let Some(path) = args.data.as_deref() else {
        given.counted = Some(training_documents(&run.model, &run.config.data));
        return Ok(given);
    };
    let new = read(run, path, args, None)?;
    check_known(&new).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    given.notes = notes_on(run, path, &new);
    given.counted = Some(Ok(new.data.clone()));
    if let Some(column) = &args.by {
        // The reader of documents has one column besides the text, their ids: here it is the groups.
        let new = read(run, path, args, Some(column)).map_err(|error| naming_by(error, column))?;
        let groups = new.data.ids().unwrap_or_default();
        given.groups = Some((column.clone(), groups));
    }
    given.documents = Some(new.data);
    Ok(given)
}

/// The reader takes the column for that of the ids; who asked called it otherwise.
fn naming_by(error: anyhow::Error, column: &str) -> anyhow::Error {
    let Some(known) = error.downcast_ref::<lehr::Error>() else { return error };
    let words = |part: &Part| match part {
        Part::Setting { name, .. } if name == "id" => {
            Some(format!("--by {}", quoted(column.as_ref())))
        }
        part => complaint::words(part),
    };
    anyhow::anyhow!("{}", known.render(words))
}

/// The documents with their texts, or with what a column says in place of their ids.
fn read(
    run: &Run<Lda>,
    path: &Path,
    args: &BesideArgs,
    column: Option<&str>,
) -> anyhow::Result<NewData<Lda>> {
    let mut flags = args.input.clone();
    if let Some(column) = column {
        flags.id = Some(column.to_string());
    }
    let (data, unknown) = reading::<Lda, _>(&flags, &run.config, path, |options| {
        let options = DocsOptions { texts: column.is_none(), ..options.clone() };
        run.model.read_new(path, &options)
    })?;
    run.model.check_fits(&data, &[]).map_err(|error| naming_file(error, path))?;
    Ok(NewData { data, unknown, kept: Vec::new() })
}
