//! What a fit is given: items, where they come from, which of them are held out, and where to start.

use std::path::Path;

use super::run::Run;
use super::run_config::DataSource;
use crate::data::{Dataset, FromFile};
use crate::fit::{State, Watcher};
use crate::math::rng::Purpose;
use crate::models::{ReadOptions, Stored};
use crate::read;
use crate::settings::{FitConfig, Holdout};
use crate::step::sample::split_part;
use crate::{Error, Result, threads};

/// Data, and the file that they come from if there is one.
pub struct Items<'a, M: Stored> {
    /// The items.
    pub data: &'a M::Data,
    /// The file and how it was read; none if they came from a program's memory.
    pub source: Option<(&'a Path, &'a ReadOptions<M>)>,
}

impl<M: Stored> Clone for Items<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Stored> Copy for Items<'_, M> {}

impl<'a, M: Stored> Items<'a, M> {
    /// Items of a program's memory.
    pub fn in_memory(data: &'a M::Data) -> Self {
        Items { data, source: None }
    }

    /// Items of a file that was read with these options.
    pub fn of_file(data: &'a M::Data, path: &'a Path, options: &'a ReadOptions<M>) -> Self {
        Items { data, source: Some((path, options)) }
    }

    /// Tells what is in a file.
    pub(super) fn tell(&self, watcher: &mut dyn Watcher) {
        if self.source.is_some() {
            watcher.reads(&self.data.counts());
        }
    }

    /// What the configuration of a run says of these data; paths in it are absolute.
    pub(crate) fn describe(&self) -> DataSource<ReadOptions<M>> {
        let mut options = self.source.map(|(_, options)| options.clone()).unwrap_or_default();
        M::Data::anchor(&mut options);
        self.data.record(&mut options);
        DataSource {
            path: self.source.map(|(path, _)| read::behind(path)),
            pipe: self.source.is_some_and(|(path, _)| read::is_pipe(path)),
            options,
            fingerprint: self.data.fingerprint(),
            items: self.data.n_items(),
            columns: self.data.column_names().to_vec(),
            gaps: self.data.gaps(),
            chosen: self.data.chosen(),
            unknown_dropped: false,
        }
    }
}

/// Where a fit starts.
pub enum Begin<'a, M: Stored> {
    /// At random, or where the model's own settings say.
    Random,
    /// At the state that this makes of the model and the items to fit.
    At(&'a dyn Fn(&M, &M::Data) -> Result<State>),
    /// Where another fit stands, with its model: units and priors stay as they are.
    With(&'a Run<M>),
}

impl<M: Stored> Begin<'_, M> {
    /// The model to fit.
    pub(super) fn model(
        &self,
        params: M::Params,
        items: &Items<'_, M>,
        train: &M::Data,
    ) -> Result<M> {
        match self {
            Begin::With(other) => {
                other.model.check_fits(items.data, &other.config.data.columns)?;
                Ok(other.model.clone())
            }
            _ => M::build(params, train),
        }
    }

    /// Whether all starts would be the same.
    pub(super) fn is_given(&self, model: &M) -> bool {
        !matches!(self, Begin::Random) || model.is_given_its_start()
    }

    /// The first state, unless it is random. What gives a model its start may be gone when the run is
    /// resumed, so that it is made now.
    pub(super) fn state(
        &self,
        model: &M,
        train: &M::Data,
        config: &FitConfig,
    ) -> Result<Option<State>> {
        match self {
            Begin::At(start) => start(model, train).map(Some),
            Begin::With(other) => Ok(Some(State::from(other.lambda().clone()))),
            Begin::Random if model.is_given_its_start() => {
                let start = || State::start(model, train, config.seed, 0);
                threads::own(config.threads, start).map(Some)
            }
            Begin::Random => Ok(None),
        }
    }
}

/// Those of all items of a run that it holds out, split as the settings say; none if it holds out none.
pub fn held_out<D: FromFile>(data: &D, config: &FitConfig) -> Result<Option<D>> {
    Ok(Parts::new(data, config)?.split.map(|(_, held_out)| held_out))
}

/// The items to fit and the items to score, split as the settings say.
pub(super) struct Parts<'a, D> {
    whole: &'a D,
    split: Option<(D, D)>,
}

impl<'a, D: FromFile> Parts<'a, D> {
    pub(super) fn new(data: &'a D, config: &FitConfig) -> Result<Self> {
        let n_items = data.n_items();
        let held_out = config.holdout.count(n_items);
        if held_out == 0 {
            if config.holdout == Holdout::default() {
                return Ok(Parts { whole: data, split: None });
            }
            let allowed = format!(
                "is none of {n_items} {}; hold out more, or a whole number of them",
                D::ITEMS
            );
            return Err(Error::config("holdout", config.holdout, allowed));
        }
        if held_out >= n_items {
            let allowed = format!("there are only {n_items} {}; hold out fewer", D::ITEMS);
            return Err(Error::config("holdout", config.holdout, allowed));
        }
        let places = config.holdout.places(n_items);
        let (kept, out) = split_part(n_items, places, config.seed, Purpose::Holdout);
        Ok(Parts { whole: data, split: Some((data.subset(&kept), data.subset(&out))) })
    }

    pub(super) fn train(&self) -> &D {
        self.split.as_ref().map_or(self.whole, |(train, _)| train)
    }

    pub(super) fn heldout(&self) -> Option<&D> {
        self.split.as_ref().map(|(_, heldout)| heldout)
    }
}
