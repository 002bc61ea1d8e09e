//! What figure 1 runs: ranks, scales of the start and methods, and their settings in words.

use lehr::FitConfig;
use lehr::models::PmfParams;
use lehr::step::anneal::Law;
use lehr::step::schedule::{Effective, StepSize};

use super::data::Set;
use crate::{Job, Options};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// rho = 1, no noise.
    Batch,
    /// M_t = 50 t, rho = 0.85 in every sweep: the paper's letter.
    SviPlus,
    /// rho = 0.85, no noise: is it the damping?
    Damped,
    /// M_t of a row's ratings instead of Gaussian noise: is it Gaussianity?
    Subsample,
    /// As SVI+, but rho = 1 for a row as soon as its noise is over.
    QuietOne,
    /// rho = 1, no noise, and the best u -> A u, v -> A^-T v in closed form: is it more than this motion?
    Gauge,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 6] = [
        Method::Batch,
        Method::SviPlus,
        Method::Damped,
        Method::Subsample,
        Method::QuietOne,
        Method::Gauge,
    ];

    /// Those that are also run from starts of other scales and for long.
    pub const MAIN: [Method; 3] = [Method::Batch, Method::SviPlus, Method::Gauge];

    /// Its name in records and figures.
    pub fn name(self) -> &'static str {
        match self {
            Method::Batch => "batch",
            Method::SviPlus => "SVI+",
            Method::Damped => "rho = 0.85, no noise",
            Method::Subsample => "subsample",
            Method::QuietOne => "SVI+, rho 1 once quiet",
            Method::Gauge => "batch with gauge step",
        }
    }

    /// The method of that name.
    pub fn named(name: &str) -> Option<Self> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether its updates are noisy.
    pub fn is_noisy(self) -> bool {
        matches!(self, Method::SviPlus | Method::Subsample | Method::QuietOne)
    }
}

/// Runs that can be compared: one data set, one rank, one kind of start, one number of sweeps.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its name in records, which is also the condition in claims.
    pub name: String,
    /// Which data set.
    pub set: usize,
    /// d.
    pub dims: usize,
    /// The start's means and standard deviations as a multiple of the prior's.
    pub scale: f64,
    /// Sweeps.
    pub sweeps: u64,
    /// Sweeps between observations of the bound.
    pub eval_every: u64,
    /// Whether it is there to see where everything ends.
    pub long: bool,
    /// The methods, and how many starts each has.
    pub methods: Vec<(Method, u32)>,
}

/// d, as in the paper.
pub const DIMS: [usize; 2] = [5, 10];

/// The scales of the start; 1 is a draw from the prior.
pub const SCALES: [f64; 3] = [1.0, 0.3, 0.1];

const RHO: f64 = 0.85;

/// A long run has this many times the sweeps.
const LONGER: u64 = 10;

/// All settings for these data sets.
pub fn all(sets: &[Set], options: &Options) -> Vec<Setting> {
    let starts = options.runs(20, 5);
    let mut settings = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let setting = |dims, name: String| Setting {
            name,
            set: index,
            dims,
            scale: 1.0,
            sweeps: set.sweeps,
            eval_every: 1,
            long: false,
            methods: Method::MAIN.map(|method| (method, starts)).to_vec(),
        };
        for dims in DIMS {
            let name = format!("{}, d = {dims}", set.name);
            // The controls of ten million ratings would take as long again from all starts.
            let controls = if set.small { starts } else { options.runs(10, 5) };
            let starts_of = |method| match method {
                Method::Batch | Method::SviPlus => starts,
                _ => controls,
            };
            let methods = Method::ALL.map(|method| (method, starts_of(method))).to_vec();
            let from_prior = format!("{name}, starts from the prior");
            settings.push(Setting { methods, ..setting(dims, from_prior) });
            if !set.small {
                continue;
            }
            for scale in SCALES.into_iter().skip(1) {
                let name = format!("{name}, starts of scale {scale}");
                settings.push(Setting { scale, ..setting(dims, name) });
            }
            let sweeps = LONGER * set.sweeps;
            let few = options.runs(5, 3);
            for scale in [SCALES[0], SCALES[1]] {
                let start =
                    if scale == 1.0 { String::new() } else { format!(", starts of scale {scale}") };
                let name = format!("{name}{start}, {sweeps} sweeps");
                let long = [Method::Batch, Method::SviPlus, Method::QuietOne, Method::Gauge];
                settings.push(Setting {
                    sweeps,
                    scale,
                    eval_every: LONGER,
                    long: true,
                    methods: long.map(|method| (method, few)).to_vec(),
                    ..setting(dims, name)
                });
            }
        }
    }
    settings
}

impl Setting {
    /// Its runs.
    pub fn jobs(&self, set: &Set) -> Vec<Job> {
        let work = 1e-6 * set.ratings.n_ratings() as f64 * self.sweeps as f64;
        let job = |method: Method, start| Job {
            setting: self.name.clone(),
            method: method.name().into(),
            start,
            // About seconds: noise makes sweeps dearer, and so do dimensions.
            cost: work
                * (0.004 + 0.0016 * self.dims as f64)
                * if method.is_noisy() { 1.3 } else { 1.0 },
        };
        let starts = self.methods.iter().flat_map(|&(m, n)| (0..n).map(move |start| (m, start)));
        starts.map(|(method, start)| job(method, start)).collect()
    }

    /// How many starts a method has here.
    pub fn starts(&self, method: Method) -> u32 {
        self.methods.iter().find(|(m, _)| *m == method).map_or(0, |&(_, starts)| starts)
    }

    /// The model's settings for a method.
    pub fn params(&self, method: Method) -> PmfParams {
        let paper = PmfParams::paper(self.dims);
        let own_start = (self.scale != 1.0).then_some(self.scale);
        PmfParams {
            gauge: method == Method::Gauge,
            // The prior has c = 1.
            init_sd: own_start,
            init_var: own_start.map(|scale| scale * scale),
            ..paper
        }
    }

    /// The fit's settings for a method and a start.
    pub fn config(&self, method: Method, set: &Set, seed: u64, start: u32) -> FitConfig {
        FitConfig {
            steps: Some(self.sweeps),
            tol: 0.0,
            effective: if method.is_noisy() {
                Effective::Linear(set.slope)
            } else {
                Effective::Off
            },
            law: if method == Method::Subsample { Law::Subsample } else { Law::Gaussian },
            // The paper's variance, and noise for as long as M_t asks for it.
            corrected: false,
            noise_end: 1.0,
            step_size: Some(match method {
                Method::Batch | Method::Gauge => StepSize::Constant(1.0),
                Method::SviPlus | Method::Damped | Method::Subsample => StepSize::Constant(RHO),
                Method::QuietOne => StepSize::UntilQuiet(RHO),
            }),
            // Seeds next to each other must not share starts.
            seed: seed.wrapping_add(u64::from(start) << 32),
            eval_every: Some(self.eval_every),
            ..FitConfig::default()
        }
    }
}

/// The settings in words.
pub fn about(sets: &[Set]) -> Vec<String> {
    let mut about = vec![format!(
        "The paper's model: c = 1, sigma^2 = 1/2, nothing centred or learned; d = {} and {}. Every sweep uses \
         all ratings, users first, then items. A start draws every mean from the prior N(0, 1), with variance \
         1 under q, unless its scale s is named: then means have standard deviation s and variances are s^2. \
         No run stops early.",
        DIMS[0], DIMS[1],
    )];
    let mut slopes: Vec<String> = sets.iter().map(|set| format!("M_t = {}t", set.slope)).collect();
    slopes.dedup();
    about.push(format!(
        "`batch`: rho = 1. `SVI+`: rho = {RHO} in every sweep, {}. The paper writes S_t = Omega; we read it so that \
         each user and item has its own ratings as |S|, and its noise ends when M_t has reached their number (the most popular items are noisy to the end where \
         they have more ratings than the last M_t); the variance is the paper's |S|/M - 1; a row that \
         noise would push below half of its prior precision takes its noiseless step (guard \
         `reject-below-prior`).",
        slopes.join(", "),
    ));
    about.push(format!(
        "Controls: `rho = {RHO}, no noise`; `subsample`, which takes M_t of each row's ratings instead of \
         Gaussian noise, and is otherwise SVI+; `SVI+, rho 1 once quiet`: rho = 1 for a row as soon as its \
         noise is over; `batch with gauge step`: batch, which also moves to the best u -> A u, v -> A^-T v, a \
         closed form that leaves all predictions as they are and needs no noise.",
    ));
    let sweeps: Vec<String> =
        sets.iter().map(|set| format!("{}: {} sweeps", set.name, set.sweeps)).collect();
    about.push(format!("{}.", sweeps.join("; ")));
    about
}

/// How many starts there are, in words.
pub fn starts(sets: &[Set], settings: &[Setting]) -> String {
    let mut texts = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let of_set: Vec<&Setting> = settings.iter().filter(|s| s.set == index).collect();
        let Some(first) = of_set.first() else { continue };
        let (main, controls) = (first.starts(Method::SviPlus), first.starts(Method::Damped));
        let mut text = format!("{}: {main} starts of batch and SVI+", set.name);
        text.push_str(&match controls == main {
            true => " and of every control".to_string(),
            false => {
                format!(", the first {controls} of these for the controls")
            }
        });
        if set.small {
            text.push_str(&format!(
                "; from starts of the scales {} and {} batch, SVI+ and batch with gauge step",
                SCALES[1], SCALES[2]
            ));
        }
        if let Some(long) = of_set.iter().find(|setting| setting.long) {
            text.push_str(&format!(
                "; and, from the prior and at the scale 0.3, {} starts of these and of SVI+ with rho 1 once \
                 quiet for {} sweeps, to see where they end",
                long.starts(Method::Batch),
                long.sweeps
            ));
        }
        texts.push(text + ".");
    }
    texts.join(" ")
}
