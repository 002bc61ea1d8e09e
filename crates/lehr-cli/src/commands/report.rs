//! `lehr report`: one page of HTML to look at a run.

use std::path::{Path, PathBuf};

use anyhow::bail;

use lehr::store::{Run, RunDirectory};
use lehr::write;
use lehr_report::Member;

use super::End;
use super::sweep::size_name;
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
        [one] if lehr::sweep::is_sweep(one) => {
            check_alone(&args)?;
            page_of_sweep(one)?
        }
        [one] => {
            let directory = RunDirectory::open(one)?;
            with_model!(&directory, M => page_of::<M>(one, &args)?)
        }
        [first, ..] => {
            check_alone(&args)?;
            if let Some(sweep) = args.runs.iter().find(|run| lehr::sweep::is_sweep(run)) {
                bail!("{}: is a sweep, which has its own page; give runs alone", sweep.display());
            }
            let directory = RunDirectory::open(first)?;
            with_model!(&directory, M => page_of_several::<M>(&args.runs)?)
        }
        [] => bail!("give a run directory"),
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

/// Refuses what only the page of one run can show.
fn check_alone(args: &ReportArgs) -> anyhow::Result<()> {
    let given = [
        ("data", args.data.is_some()),
        ("titles", args.titles.is_some()),
        ("user", !args.user.is_empty()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            bail!("--{flag} is for the page of one run; leave it out, or give one run")
        }
        None => Ok(()),
    }
}

fn page_of_sweep(path: &Path) -> anyhow::Result<String> {
    let name = lehr::sweep::model_name(path)?;
    lehr::with_model!(name.as_str(), M => {
        let swept = lehr::sweep::table_of::<M>(path)?;
        Ok(lehr_report::sweep(&name_of(path), &swept.table, size_name::<M>())?)
    }, else bail!(
        "{}: this sweep's model is '{name}', which this version of lehr does not know; update lehr",
        path.display()
    ))
}

fn page_of_several<M: Served>(paths: &[PathBuf]) -> anyhow::Result<String> {
    let mut members = Vec::new();
    for path in paths {
        let model = RunDirectory::open(path)?.model_name()?;
        if !M::NAMES.contains(&model.as_str()) {
            bail!(
                "{}: this is a run of {model}, and the first is one of {}; runs of one model compare",
                path.display(),
                M::NAMES.join(" or ")
            );
        }
        members.push(Member { name: name_of(path), run: Run::<M>::load(path)? });
    }
    Ok(lehr_report::several(&members)?)
}

/// What a run is called: its folder.
fn name_of(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}
