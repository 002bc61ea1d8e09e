//! The sentence that fits a model: what to fit, how, where, and who looks on.

use crate::fit::drive::{Driver, Fitted, Restarts, Resume, Session};
use crate::fit::stop::deadline;
use crate::fit::{Meter, State, Watcher};
use crate::math::stop::Stop;
use crate::model::Model;
use crate::settings::{FitConfig, Plan};
use crate::step::engine::{Engine, Threads};
use crate::{Error, ErrorKind, Result, threads};

/// Fits a model to items.
///
/// ```
/// use lehr::data::Points;
/// use lehr::models::{Mixture, MixtureParams};
///
/// // Forty numbers around 0.5 and forty around 9.5.
/// let around = |centre: f64| (0..40).map(move |n| centre + 0.025 * f64::from(n - 20));
/// let points = Points::new(around(0.5).chain(around(9.5)).collect(), 1)?;
/// let mixture = Mixture::new(MixtureParams::gmm(2), &points)?;
/// let fitted = lehr::fit(&mixture, &points).threads(1).run()?;
/// let mut means: Vec<f64> =
///     mixture.components(fitted.state.lambda.table()).iter().map(|c| c.mean[0]).collect();
/// means.sort_by(f64::total_cmp);
/// assert!((means[0] - 0.5).abs() < 0.5 && (means[1] - 9.5).abs() < 0.5);
/// # Ok::<(), lehr::Error>(())
/// ```
pub fn fit<'a, M: Model>(model: &'a M, data: &'a M::Data) -> FitBuilder<'a, M> {
    FitBuilder::new(model, Some(data), None)
}

/// Fits a model to the items that an engine has, wherever those are. There is nothing to make a random start
/// from: [`FitBuilder::from`] says where to start.
pub fn fit_on<'a, M: Model>(model: &'a M, engine: &'a mut dyn Engine<M>) -> FitBuilder<'a, M> {
    FitBuilder::new(model, None, Some(engine))
}

/// A fit that is about to be run; see [`fit`].
pub struct FitBuilder<'a, M: Model> {
    model: &'a M,
    /// The items, if they are here.
    data: Option<&'a M::Data>,
    heldout: Option<&'a M::Data>,
    config: FitConfig,
    threads: Option<usize>,
    plan: Option<Plan>,
    resume: Option<Resume>,
    /// The first start.
    restart: u32,
    /// The steps that an earlier fit has made.
    made: u64,
    engine: Option<&'a mut dyn Engine<M>>,
    driver: &'a dyn Driver<M>,
    watcher: Option<&'a mut dyn Watcher>,
}

impl<'a, M: Model> FitBuilder<'a, M> {
    fn new(model: &'a M, data: Option<&'a M::Data>, engine: Option<&'a mut dyn Engine<M>>) -> Self {
        FitBuilder {
            model,
            data,
            heldout: None,
            config: FitConfig::default(),
            threads: None,
            plan: None,
            resume: None,
            restart: 0,
            made: 0,
            engine,
            driver: &Restarts,
            watcher: None,
        }
    }

    /// How to fit; the defaults are those of batch VI.
    pub fn config(self, config: FitConfig) -> Self {
        FitBuilder { config, ..self }
    }

    /// A plan that is checked already, instead of the one that the configuration leads to.
    pub fn plan(self, plan: Plan) -> Self {
        FitBuilder { plan: Some(plan), ..self }
    }

    /// Threads, if not those of the configuration; 0 uses all cores. Does not change results.
    pub fn threads(self, threads: usize) -> Self {
        FitBuilder { threads: Some(threads), ..self }
    }

    /// Items to score during the fit.
    pub fn heldout(self, heldout: Option<&'a M::Data>) -> Self {
        FitBuilder { heldout, ..self }
    }

    /// Where to start, if not at random: a [`State`], or a [`Resume`] of an earlier fit.
    pub fn from(self, from: impl Into<Resume>) -> Self {
        FitBuilder { resume: Some(from.into()), ..self }
    }

    /// Which of the seed's random starts comes first, if not start 0: its batches and noise are its own,
    /// too.
    pub fn start(self, restart: u32) -> Self {
        FitBuilder { restart, ..self }
    }

    /// Start where an earlier fit has ended: the steps of the plan come after those that it has made.
    pub fn onwards(self, state: State) -> Self {
        FitBuilder { made: state.step, ..self.from(state) }
    }

    /// The same, or at random.
    pub fn from_or_random(self, resume: Option<Resume>) -> Self {
        FitBuilder { resume, ..self }
    }

    /// What runs fits one after the other, if not restarts.
    pub fn driver(self, driver: &'a dyn Driver<M>) -> Self {
        FitBuilder { driver, ..self }
    }

    /// Who looks on.
    pub fn watch<'b>(self, watcher: &'b mut dyn Watcher) -> FitBuilder<'b, M>
    where
        'a: 'b,
    {
        FitBuilder {
            model: self.model,
            data: self.data,
            heldout: self.heldout,
            config: self.config,
            threads: self.threads,
            plan: self.plan,
            resume: self.resume,
            restart: self.restart,
            made: self.made,
            engine: match self.engine {
                Some(engine) => Some(engine),
                None => None,
            },
            driver: self.driver,
            watcher: Some(watcher),
        }
    }

    /// Fits. Everything is checked first.
    pub fn run(self) -> Result<Fitted> {
        let FitBuilder {
            model, data, heldout, config, threads, plan, resume, restart, made, ..
        } = self;
        let (engine, driver, watcher) = (self.engine, self.driver, self.watcher);
        let plan = match (plan, data, &engine) {
            (Some(plan), ..) => plan,
            (None, Some(data), _) => config.check_for(model, data)?,
            (None, None, Some(engine)) => config.check_on(model, engine.sizes())?,
            (None, None, None) => return Err(Error::data("there are no items to fit")),
        };
        plan.check_model(model)?;
        let plan = if made > 0 { plan.after(made) } else { plan };
        let threads = threads.unwrap_or(config.threads);
        let flag = watcher.as_ref().and_then(|watcher| watcher.stop_flag());
        let stop = Stop::new(flag, deadline(plan.time));
        let adopted = stop.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads::number(threads))
            .start_handler(move |_| adopted.adopt())
            .thread_name(|i| format!("lehr-{i}"))
            .build()
            .map_err(|error| Error::config("threads", threads, format!("{error}; try fewer")))?;
        let start = |restart: u32| match data {
            Some(data) => stop
                .heed(|| State::start(model, data, plan.seed, restart))
                .unwrap_or_else(|why| Err(ErrorKind::Stopped(why.into()).into())),
            None => Err(Error::data("there are no items here to make a start from; give a state")),
        };
        // The whole loop lives in our own pool: nothing here ever touches rayon's global one.
        pool.install(|| {
            let of_model = data.map(|data| model.engine(data)).transpose()?.flatten();
            let mut own: Option<Box<dyn Engine<M> + '_>> = match (of_model, data) {
                (Some(engine), _) => Some(engine),
                (None, Some(data)) => Some(Box::new(Threads::new(model, data))),
                (None, None) => None,
            };
            let own = own.as_deref_mut();
            let Some(engine) = engine.or(own) else {
                return Err(Error::data("there are no items to fit"));
            };
            let (plan, start, meter) = (&plan, &start, Meter::default());
            let stop = stop.clone();
            let mut session = Session { model, data, heldout, plan, engine, start, meter, stop };
            let mut nobody = ();
            let watcher = watcher.unwrap_or(&mut nobody);
            let resume = match resume {
                None if restart > 0 => Some(Resume::at_start(restart, start(restart)?)),
                resume => resume,
            };
            driver.drive(&mut session, resume, watcher)
        })
    }
}
