//! `lehr transform`: what each item belongs to, as a table.

use lehr::read::TextColumn;
use lehr::store::RunDirectory;
use lehr::write::TableFormat;

use super::End;
use crate::args::TransformArgs;
use crate::models::{OpenRun, Served, with_model};
use crate::output::{TableFile, say};

/// Labels the data.
pub fn run(mut args: TransformArgs) -> anyhow::Result<End> {
    args.input.aside = args.id.iter().chain(&args.keep).cloned().collect();
    args.input.id.clone_from(&args.id);
    let directory = RunDirectory::open(&args.run)?;
    with_model!(&directory, M => transform(&OpenRun::<M>::open(directory)?, &args))
}

fn transform<M: Served>(run: &OpenRun<M>, args: &TransformArgs) -> anyhow::Result<End> {
    for data in [Some(&args.data), run.config.data.path.as_ref()].into_iter().flatten() {
        // Paths that do not exist yet cannot be the data.
        let (Ok(data), Ok(output)) = (data.canonicalize(), args.output.canonicalize()) else {
            continue;
        };
        if data == output {
            anyhow::bail!(
                "{}: this is the data; write to another file with -o",
                args.output.display()
            );
        }
    }
    let output = TableFile::new(&args.output, args.output_format, args.force)?;
    let id = args.id.as_deref().map(|column| ("id", column));
    let keep = args.keep.iter().map(|column| ("keep", column.as_str()));
    let mut wanted: Vec<_> = id.into_iter().chain(keep).collect();
    check_wanted(&wanted, &output)?;
    if M::READS_IDS {
        wanted.retain(|&(flag, _)| flag != "id");
    }
    // An array has no room for ids.
    let mut input = args.input.clone();
    input.ids = output.format != TableFormat::Npy;
    let mut new = run.read_and_tell(&args.data, &input)?;
    if !wanted.is_empty() {
        new.kept = M::kept(run, &new, args, &wanted)?;
        check_names(&new.kept, args)?;
    }
    let done = M::transform(run, &new, &output).map_err(|error| {
        // What the library says of files has their names.
        match error.is::<lehr::Error>() {
            true => error,
            false => anyhow::anyhow!("{}: {error}", args.data.display()),
        }
    })?;
    say(&args.output, &format!("{}: {done}\n", args.output.display()))?;
    Ok(End::Done)
}

/// What can be checked of the columns to copy before anything is read.
fn check_wanted(wanted: &[(&str, &str)], output: &TableFile<'_>) -> anyhow::Result<()> {
    let Some(&(flag, _)) = wanted.first() else { return Ok(()) };
    let mut columns: Vec<_> = wanted.iter().map(|(_, column)| column).collect();
    columns.sort();
    if let Some(twice) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
        anyhow::bail!("--{flag}: column {} is asked for twice; name it once", twice[0]);
    }
    if output.format == TableFormat::Npy {
        anyhow::bail!(
            "--{flag}: {} is an array, which has no room for text; write a table with -o, e.g. labels.csv",
            output.path.display()
        );
    }
    Ok(())
}

/// Columns that are copied must not be called like those of the output; `label` makes way.
fn check_names(kept: &[TextColumn], args: &TransformArgs) -> anyhow::Result<()> {
    let is_kept = |name: &str| kept.iter().any(|column| column.name == name);
    let taken = |column: &&TextColumn| {
        column.name.starts_with("responsibility_") || (column.name == "cluster" && is_kept("label"))
    };
    match kept.iter().find(taken) {
        Some(column) => anyhow::bail!(
            "{}: column {} has the name of a column of the output; rename it, or leave it out of --keep",
            args.data.display(),
            column.name
        ),
        None => Ok(()),
    }
}
