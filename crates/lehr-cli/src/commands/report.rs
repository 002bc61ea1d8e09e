//! `lehr report`: one page of HTML to look at a run.

use std::path::{Path, PathBuf};

use anyhow::bail;

use lehr::compare::Comparable;
use lehr::store::{Run, RunDirectory};
use lehr::write;
use lehr_report::{Member, Several};

use super::End;
use super::sweep::size_name;
use crate::args::{BesideArgs, ReportArgs};
use crate::models::{Served, with_model};
use crate::output::{check, check_readable, say};
use crate::text;

/// Makes the page.
pub fn run(mut args: ReportArgs) -> anyhow::Result<End> {
    args.beside.id = args.id.take();
    args.beside.user = std::mem::take(&mut args.user);
    args.beside.set_columns();
    check(&args.output, args.force)?;
    check_readable(&args.output, "a page of HTML")?;
    check_apart(&args.output, &args.beside)?;
    let page = match Shown::of(&args.runs, &args.beside)? {
        Shown::One(directory) => {
            with_model!(&directory, M => page_of::<M>(&args.runs[0], &args.beside)?)
        }
        Shown::Several(several) => several.page()?,
    };
    write::whole(&args.output, page.as_bytes())?;
    let size = text::bytes(page.len() as u64);
    say(&args.output, &format!("{}: {size}\n", args.output.display()))?;
    Ok(End::Done)
}

fn page_of<M: Served>(path: &Path, args: &BesideArgs) -> anyhow::Result<String> {
    let run = Run::<M>::load(path)?;
    let given = M::given(&run, args)?;
    Ok(lehr_report::one(&name_of(path), &run, &given)?)
}

/// Refuses to write over what is read.
pub(super) fn check_apart(output: &Path, args: &BesideArgs) -> anyhow::Result<()> {
    for data in [&args.data, &args.titles].into_iter().flatten() {
        let (Ok(data), Ok(output)) = (data.canonicalize(), output.canonicalize()) else {
            continue; // a path that does not exist yet cannot be the data
        };
        if data == output {
            bail!("{}: this is the data; write to another file with -o", output.display());
        }
    }
    Ok(())
}

/// What is shown of the paths on the command line.
pub(super) enum Shown {
    /// A run.
    One(RunDirectory),
    /// Several, sweeps among them.
    Several(Several),
}

impl Shown {
    /// Opens the paths.
    pub fn of(paths: &[PathBuf], args: &BesideArgs) -> anyhow::Result<Self> {
        if let [one] = paths
            && !lehr::sweep::is_sweep(one)
        {
            return Ok(Shown::One(RunDirectory::open(one)?));
        }
        check_alone(args)?;
        let (sweeps, runs): (Vec<&PathBuf>, Vec<&PathBuf>) =
            paths.iter().partition(|path| lehr::sweep::is_sweep(path));
        let model = match (runs.first(), sweeps.first()) {
            (Some(run), _) => RunDirectory::open(run)?.model_name()?,
            (None, Some(sweep)) => lehr::sweep::model_name(sweep)?,
            (None, None) => bail!("give a run directory"),
        };
        let path = runs.first().or(sweeps.first()).map_or(Path::new(""), |path| path);
        lehr::with_model!(model.as_str(), M => several_of::<M>(&runs, &sweeps), else bail!(
            "{}: its model is '{model}', which this version of lehr does not know; update lehr",
            path.display()
        ))
        .map(Shown::Several)
    }
}

fn several_of<M: Served + Comparable>(
    runs: &[&PathBuf],
    sweeps: &[&PathBuf],
) -> anyhow::Result<Several> {
    let check_model = |path: &Path, model: &str| {
        if !M::NAMES.contains(&model) {
            bail!(
                "{}: this is a run of {model}, and the first is one of {}; runs of one model compare",
                path.display(),
                M::NAMES.join(" or ")
            );
        }
        Ok(())
    };
    let mut members = Vec::new();
    for path in runs {
        check_model(path, &RunDirectory::open(path)?.model_name()?)?;
        members.push(Member { name: name_of(path), run: Run::<M>::load(path)? });
    }
    name_apart(&mut members, runs);
    let mut shown = (!members.is_empty()).then(|| lehr_report::several(&members, size_name::<M>()));
    for (at, path) in sweeps.iter().enumerate() {
        check_model(path, &lehr::sweep::model_name(path)?)?;
        let swept = lehr::sweep::table_of::<M>(path)?;
        let run = swept.table.rows.first().map(|row| Run::<M>::load(&row.run)).transpose()?;
        let sweep = lehr_report::sweep(&name_of(path), at, &swept, size_name::<M>(), run.as_ref());
        shown = Some(match shown {
            Some(shown) => shown.and(sweep),
            None => sweep,
        });
    }
    shown.ok_or_else(|| anyhow::anyhow!("give a run directory"))
}

/// Runs whose folders are called the same are called by their paths.
fn name_apart<M: Served>(members: &mut [Member<M>], paths: &[&PathBuf]) {
    let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
    for (member, path) in members.iter_mut().zip(paths) {
        if names.iter().filter(|name| **name == member.name).count() > 1 {
            member.name = path.display().to_string();
        }
    }
}

/// Refuses what only the page of one run can show.
fn check_alone(args: &BesideArgs) -> anyhow::Result<()> {
    let given = [
        ("data", args.data.is_some()),
        ("titles", args.titles.is_some()),
        ("user", !args.user.is_empty()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            bail!("--{flag} is for one run; leave it out, or give one run")
        }
        None => Ok(()),
    }
}

/// What a run is called: its folder.
pub(super) fn name_of(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}
