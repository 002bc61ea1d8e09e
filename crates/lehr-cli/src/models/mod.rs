//! What the command line knows of each model. Everything else is the same for all of them.

macro_rules! modules {
    ($($module:ident $Model:ident),*) => { $(mod $module;)* };
}
lehr::for_each_model!(modules);

pub use lda::topics;
pub use pmf::{recommend, similar};

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use serde::Serialize;

use lehr::ErrorKind;
use lehr::data::{Dataset, FromFile};
use lehr::fit::{Observation, Searched};
use lehr::models::{ReadOptions, Shipped};
use lehr::read::{TextColumn, Unknown};
use lehr::store::{Loaded, Run, RunConfig, RunDirectory, RunResult, Saved};
use lehr_plot::terminal::TermSeries;
use lehr_report::Reported;

use crate::args::{About, BesideArgs, DataArgs, EvalArgs, TransformArgs, tables_of};
use crate::commands::fit::naming_file;
use crate::complaint::words;
use crate::output::TableFile;
use crate::text::{self, counted, quoted};

/// A model as the commands need it.
pub trait Served: Shipped + Reported {
    /// What `lehr fit` says of it, for each name of its runs.
    const ABOUT: &'static [About];
    /// What an item is called.
    const ITEM: &'static str;
    /// Whether items are read together with their ids, if they have some.
    const READS_IDS: bool = false;
    /// How to read new data for a run: as it read its own, with flags on top.
    fn options(
        flags: &DataArgs,
        config: &RunConfig<Self>,
        path: &Path,
    ) -> anyhow::Result<ReadOptions<Self>>;

    /// Columns of the data's file that go to the output as they are, one cell for each item: those that are
    /// asked for by a flag without its hyphens and a column.
    fn kept(
        _run: &OpenRun<Self>,
        _new: &NewData<Self>,
        args: &TransformArgs,
        wanted: &[(&str, &str)],
    ) -> anyhow::Result<Vec<TextColumn>> {
        bail!(
            "--{} is for points, and {} is a run of another model; leave it out",
            wanted.first().map_or("keep", |(flag, _)| flag),
            args.run.display()
        )
    }

    /// Takes back a setting that new data have no use for, if it comes from the run and not from a
    /// flag; false if it does not.
    fn take_back(_options: &mut ReadOptions<Self>, _flags: &DataArgs, _field: &str) -> bool {
        false
    }

    /// Scores data and prints how well they did.
    fn eval(run: &OpenRun<Self>, new: &NewData<Self>, args: &EvalArgs) -> anyhow::Result<()>;

    /// Writes what each item belongs to; says what it did.
    fn transform(
        run: &OpenRun<Self>,
        new: &NewData<Self>,
        output: &TableFile<'_>,
    ) -> anyhow::Result<String>;

    /// What the end of a fit says besides the bound, line by line.
    fn summary(result: &RunResult) -> Vec<String>;

    /// The run and its settings in half a line.
    fn title(run: &OpenRun<Self>) -> String;

    /// How large the data are.
    fn data_size(run: &OpenRun<Self>) -> String;

    /// The lines of `show` about the scores of the last observation, and about the fitted model.
    fn state(run: &OpenRun<Self>, last: Option<&Observation>) -> String;

    /// The largest parts of the model.
    fn listing(run: &OpenRun<Self>, top: Option<usize>) -> String;

    /// The charts of the observations of a run, with their titles.
    fn charts(observations: &[&Observation]) -> Vec<(&'static str, TermSeries)>;

    /// What a page or a picture of the run shows besides the run.
    fn given(run: &Run<Self>, args: &BesideArgs) -> anyhow::Result<Self::Given>;

    /// Prints the run as one JSON line.
    fn show_json(run: &OpenRun<Self>, observations: &[&Observation]) -> anyhow::Result<()>;
}

/// What `show --json` says of a run of any model.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    complete: bool,
    step: u64,
    bound: Option<f64>,
    heldout: Option<f64>,
    measures: Option<&'a BTreeMap<String, f64>>,
    guard_hits: u64,
    /// What the search did, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a Searched>,
}

impl<'a> Head<'a> {
    fn of<M: Served>(run: &'a OpenRun<M>, observations: &[&'a Observation]) -> Self {
        let (state, last) = (run.saved.model_state(), observations.last().copied());
        Head {
            model: &run.config.model,
            complete: matches!(run.saved, Saved::Complete(..)),
            step: state.step,
            bound: last.map(|o| o.bound),
            heldout: last.and_then(|o| o.heldout),
            measures: last.map(|o| &o.measures),
            guard_hits: state.guard_hits,
            search: run.saved.search(),
        }
    }
}

/// Does `$work` with `$M` as the type of the model of a run.
macro_rules! with_model {
    ($directory:expr, $M:ident => $work:expr) => {{
        #[allow(unused_imports, reason = "some work calls the trait's functions")]
        use $crate::models::Served as _;
        let directory: &lehr::store::RunDirectory = $directory;
        let name = directory.model_name()?;
        lehr::with_model!(name.as_str(), $M => $work, else anyhow::bail!(
            "{}: this run's model is '{name}', which this version of lehr does not know; update lehr",
            directory.path().display()
        ))
    }};
}
pub(crate) use with_model;

/// A saved run.
pub struct OpenRun<M: Served> {
    /// Where it is.
    pub directory: RunDirectory,
    /// Its settings.
    pub config: RunConfig<M>,
    /// The model.
    pub model: M,
    /// The fit, as far as it has come.
    pub saved: Saved,
}

/// Data that a model was not fitted to.
pub struct NewData<M: Served> {
    /// The items.
    pub data: M::Data,
    /// What the model does not know of them.
    pub unknown: Unknown,
    /// What to copy next to what is made of them.
    pub kept: Vec<TextColumn>,
}

impl<M: Served> OpenRun<M> {
    /// Loads the run.
    pub fn open(directory: RunDirectory) -> anyhow::Result<Self> {
        let Loaded { model, config, saved, warning } = directory.load::<M>()?;
        if let Some(warning) = warning {
            eprintln!("{}", text::for_stderr(&format!("warning: {warning}")));
        }
        Ok(OpenRun { directory, config, model, saved })
    }

    /// Loads the run for a command that only this model has.
    pub fn open_for(path: &Path, command: &str) -> anyhow::Result<Self> {
        let directory = RunDirectory::open(path)?;
        let name = directory.model_name()?;
        if !M::NAMES.contains(&name.as_str()) {
            bail!(
                "{}: this is a run of {name}, and 'lehr {command}' is for {}; look at it with 'lehr \
                 show {}'",
                path.display(),
                M::NAMES.join(" and "),
                quoted(path)
            );
        }
        OpenRun::open(directory)
    }

    /// Reads data for this model: as the run did, with flags on top.
    pub fn read(&self, path: &Path, flags: &DataArgs) -> anyhow::Result<NewData<M>> {
        read(&self.model, &self.config, path, flags)
    }

    /// The same, for a command that says what there is to know of them.
    pub fn read_and_tell(&self, path: &Path, flags: &DataArgs) -> anyhow::Result<NewData<M>> {
        let new = self.read(path, flags)?;
        for note in new.data.notes() {
            eprintln!("{}", text::for_stderr(&format!("note: {}", note.render(words))));
        }
        Ok(new)
    }
}

/// Reads data for a model: as its run did, with flags on top.
pub fn read<M: Served>(
    model: &M,
    config: &RunConfig<M>,
    path: &Path,
    flags: &DataArgs,
) -> anyhow::Result<NewData<M>> {
    let (data, unknown) =
        reading::<M, _>(flags, config, path, |options| model.read_new(path, options))?;
    model.check_fits(&data, &config.data.columns).map_err(|error| naming_file(error, path))?;
    Ok(NewData { data, unknown, kept: Vec::new() })
}

/// Refuses flags of `lehr report` that are for other models.
fn check_flags(model: &str, flags: &[(&str, &str, bool)]) -> anyhow::Result<()> {
    match flags.iter().find(|(_, _, given)| *given) {
        Some((flag, items, _)) => {
            bail!("--{flag} is for {items}, and this run's model is {model}; leave it out")
        }
        None => Ok(()),
    }
}

/// What a page says of data that were given: whether they are those of the fit, and what was left out of them.
fn notes_on<M: Served>(run: &Run<M>, path: &Path, new: &NewData<M>) -> Vec<String> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let items = items::<M>(&new.data);
    let mut notes = vec![match new.data.fingerprint() == run.config.data.fingerprint {
        true => format!("Shown with {name}, the data of the fit ({items})."),
        false => format!("Shown with {name} ({items}), other data than those of the fit."),
    }];
    notes.extend(left_out(&new.unknown, None).map(|left_out| format!("{left_out}.")));
    notes.extend(new.data.notes().iter().map(|note| note.render(words)));
    notes
}

/// Does `work` with the options for new data. Flags that are for other models are refused. Settings of the run that the new file has no use for
/// are left out, e.g. the stop words of a text when numbers follow.
pub fn reading<M: Served, T>(
    flags: &DataArgs,
    config: &RunConfig<M>,
    path: &Path,
    mut work: impl FnMut(&ReadOptions<M>) -> lehr::Result<T>,
) -> anyhow::Result<T> {
    let model = &config.model;
    if let Some((flag, users)) = tables_of(model).and_then(|tables| flags.not_for(tables)) {
        bail!("{flag} is for {users}, and this run's model is {model}; leave it out");
    }
    let mut options = M::options(flags, config, path)?;
    loop {
        match work(&options) {
            Ok(done) => return Ok(done),
            Err(error) => match error.kind() {
                ErrorKind::Config { field, .. } if M::take_back(&mut options, flags, field) => {}
                _ => return Err(naming_file(error, path)),
            },
        }
    }
}

/// What was left out of new data, if anything was; `tokens` are those that were not, if known.
pub fn left_out(unknown: &Unknown, tokens: Option<f64>) -> Option<String> {
    (unknown.words > 0).then(|| {
        let share = tokens.map_or(String::new(), |tokens| {
            let share = 100.0 * unknown.tokens / (unknown.tokens + tokens);
            format!(", {} %", text::rounded(share, 2))
        });
        let (are, were) = if unknown.words == 1 { ("is", "was") } else { ("are", "were") };
        format!(
            "{} ({}{share}) {are} not in the model's vocabulary and {were} left out",
            counted(unknown.words as u64, "word"),
            counted(unknown.tokens.round() as u64, "token"),
        )
    })
}

/// Which number is the largest; the first of several.
pub fn largest(numbers: &[f64]) -> usize {
    let by_size = |&a: &usize, &b: &usize| numbers[a].total_cmp(&numbers[b]).then(b.cmp(&a));
    (0..numbers.len()).max_by(by_size).unwrap_or(0)
}

/// How many items there are, in words.
pub fn items<M: Served>(data: &M::Data) -> String {
    counted(data.n_items() as u64, M::ITEM)
}
