//! `lehr report`: one page of HTML to look at a run.

use std::path::Path;

use anyhow::bail;

use lehr::store::{Run, RunDirectory};
use lehr::write;

use super::End;
use crate::args::ReportArgs;
use crate::models::{Served, with_model};
use crate::output::{check, check_readable, say};
use crate::text;

/// Makes the page.
pub fn run(mut args: ReportArgs) -> anyhow::Result<End> {
    args.input.aside = args.id.iter().chain(&args.by).cloned().collect();
    args.input.id.clone_from(&args.id);
    args.input.ids = true;
    check(&args.output, args.force)?;
    check_readable(&args.output, "a page of HTML")?;
    for data in [&args.data, &args.titles].into_iter().flatten() {
        let (Ok(data), Ok(output)) = (data.canonicalize(), args.output.canonicalize()) else {
            continue; // a path that does not exist yet cannot be the data
        };
        if data == output {
            bail!("{}: this is the data; write to another file with -o", args.output.display());
        }
    }
    let page = match args.runs.as_slice() {
        [one] => {
            let directory = RunDirectory::open(one)?;
            with_model!(&directory, M => page_of::<M>(one, &args)?)
        }
        _ => bail!("several runs are not compared yet"),
    };
    write::whole(&args.output, page.as_bytes())?;
    let size = text::bytes(page.len() as u64);
    say(&args.output, &format!("{}: {size}\n", args.output.display()))?;
    Ok(End::Done)
}

fn page_of<M: Served>(path: &Path, args: &ReportArgs) -> anyhow::Result<String> {
    let run = Run::<M>::load(path)?;
    let given = M::given(&run, args)?;
    Ok(lehr_report::one(&name_of(path), &run, &given)?)
}

/// What a run is called: its folder.
fn name_of(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}
