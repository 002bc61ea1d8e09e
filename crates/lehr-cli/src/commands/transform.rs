//! `lehr transform`: what each item belongs to, as a table.

use lehr::store::RunDirectory;

use super::End;
use crate::args::TransformArgs;
use crate::models::{OpenRun, Served, with_model};
use crate::text::print;

/// Labels the data.
pub fn run(args: TransformArgs) -> anyhow::Result<End> {
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
    lehr::write::check_name(&args.output)?;
    let new = run.read(&args.data, &args.input)?;
    let done = M::transform(run, &new, &args.output).map_err(|error| {
        // What the library says of files has their names.
        match error.is::<lehr::Error>() {
            true => error,
            false => anyhow::anyhow!("{}: {error}", args.data.display()),
        }
    })?;
    print(&format!("{}: {done}\n", args.output.display()))?;
    Ok(End::Done)
}
