//! rho_t, M_t and how often items count: how they change over the steps. Small values that read and write as
//! text, so that a run records them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// M_t, the effective batch size.
///
/// As text: `off`, `50` (constant), `50t` (linear: 50 times the step), `geometric:10:150` (from 10 to
/// the real batch size over 150 steps), `fading:30:20` (noise whose variance falls from 30 to 0 over 20 steps), or
/// `auto` (a search chooses; see [`FitConfig::search`](crate::FitConfig::search)).
///
/// ```
/// use lehr::step::schedule::Effective;
/// let linear: Effective = "50t".parse().unwrap();
/// assert_eq!(linear.at(3, 1000), Some(150.0));
/// assert_eq!(linear.at(20, 1000), None); // 50 * 20 >= 1000: the noise is gone
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "NumberOrText", into = "String")]
pub enum Effective {
    /// No noise: plain SVI, or batch VI.
    #[default]
    Off,
    /// The same M in every step.
    Constant(f64),
    /// M_t = c t.
    Linear(f64),
    /// M_t grows by a constant factor from `from` to |S| over `steps` steps.
    Geometric {
        /// M at the first step.
        from: f64,
        /// The last noisy step; at the next one M has reached |S|.
        steps: u64,
    },
    /// M_t = |S| / (1 + v), the variance v of the weights falling from `variance` to 0 over `steps` steps.
    Fading {
        /// v at the first step.
        variance: f64,
        /// The last noisy step.
        steps: u64,
    },
    /// No noise but where a search makes some.
    Auto,
}

impl Effective {
    /// Whether every step is without noise.
    pub fn is_off(&self) -> bool {
        matches!(self, Effective::Off | Effective::Auto)
    }

    /// M at step `t` (from 1) for a batch of `batch` items; `None` where there is no noise.
    pub fn at(&self, t: u64, batch: usize) -> Option<f64> {
        let size = batch as f64;
        let m = match *self {
            Effective::Off | Effective::Auto => return None,
            Effective::Constant(m) => m,
            Effective::Linear(c) => c * t as f64,
            Effective::Geometric { steps, .. } if t > steps => return None,
            Effective::Geometric { from, steps } => {
                from * (size / from).powf((t - 1) as f64 / steps as f64)
            }
            Effective::Fading { steps, .. } if t > steps => return None,
            Effective::Fading { variance, steps } => {
                size / (1.0 + variance * (1.0 - (t - 1) as f64 / steps as f64))
            }
        };
        (m < size).then_some(m)
    }

    /// The last step at which there is noise; 0 if there is none at all, `u64::MAX` if it never ends.
    pub fn last_noisy_step(&self, batch: usize) -> u64 {
        if batch < 2 || self.at(1, batch).is_none() {
            return 0;
        }
        match *self {
            Effective::Off | Effective::Auto => 0,
            Effective::Constant(_) => u64::MAX,
            Effective::Geometric { steps, .. } | Effective::Fading { steps, .. } => steps,
            Effective::Linear(c) => {
                // The largest t with c t < |S|, whichever way the quotient is rounded.
                let last = (batch as f64 / c).ceil() as u64;
                if self.at(last, batch).is_some() { last } else { last - 1 }
            }
        }
    }

    /// What is wrong with the numbers, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match *self {
            Effective::Off | Effective::Auto => None,
            Effective::Fading { variance, .. } if !(variance > 0.0 && variance <= 1e9) => {
                Some("the variance of the noise must be positive and at most a billion")
            }
            Effective::Constant(m)
            | Effective::Linear(m)
            | Effective::Geometric { from: m, .. }
                if !(m >= 1e-3 && m.is_finite()) =>
            {
                Some("the effective batch size must be at least 0.001")
            }
            Effective::Geometric { steps: 0, .. } | Effective::Fading { steps: 0, .. } => {
                Some("a schedule needs at least one step")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effective::Off => write!(f, "off"),
            Effective::Constant(m) => write!(f, "{m}"),
            Effective::Linear(c) => write!(f, "{c}t"),
            Effective::Geometric { from, steps } => write!(f, "geometric:{from}:{steps}"),
            Effective::Fading { variance, steps } => write!(f, "fading:{variance}:{steps}"),
            Effective::Auto => write!(f, "auto"),
        }
    }
}

impl FromStr for Effective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is not an effective batch size: use a number (50), a multiple of the step \
                 (50t), geometric:FROM:STEPS (geometric:10:150), fading:VARIANCE:STEPS (fading:30:20), auto \
                 (a search) or off"
            )
        };
        let number = |s: &str| s.trim().parse::<f64>().map_err(|_| wrong());
        let parsed = if text == "off" {
            Effective::Off
        } else if text == "auto" {
            Effective::Auto
        } else if let Some(rest) = text.strip_prefix("fading:") {
            let (variance, steps) = rest.split_once(':').ok_or_else(wrong)?;
            let steps = steps.trim().parse().map_err(|_| wrong())?;
            Effective::Fading { variance: number(variance)?, steps }
        } else if let Some(rest) = text.strip_prefix("geometric:") {
            let (from, steps) = rest.split_once(':').ok_or_else(wrong)?;
            let steps = steps.trim().parse().map_err(|_| wrong())?;
            Effective::Geometric { from: number(from)?, steps }
        } else if let Some(c) = text.strip_suffix('t') {
            Effective::Linear(number(c)?)
        } else {
            Effective::Constant(number(text)?)
        };
        match parsed.problem() {
            Some(problem) => Err(format!("'{text}': {problem}")),
            None => Ok(parsed),
        }
    }
}

/// A tempered start: at first every item counts several times (or less than once), which falls or rises to once.
///
/// As text: `off`, `2` (from twice to once over 60 % of the steps), `2:0.3` (over 30 %), `2:20` (over 20 steps).
///
/// ```
/// use lehr::step::schedule::Temper;
/// let temper: Temper = "2:10".parse().unwrap();
/// let until = temper.until(500);
/// assert_eq!((temper.at(1, until), temper.at(6, until), temper.at(11, until)), (2.0, 1.5, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "NumberOrText", into = "String")]
pub enum Temper {
    /// Items count once from the first step on.
    #[default]
    Off,
    /// They start by counting `times` times.
    From {
        /// How often, in the first step.
        times: f64,
        /// For how long: a fraction of the steps if below 1, else steps.
        over: f64,
    },
}

impl Temper {
    /// For how long items count more than once by default.
    const OVER: f64 = 0.6;

    /// Twice at first: what pays for topics from batches.
    pub const USUAL: Temper = Temper::From { times: 2.0, over: Temper::OVER };

    /// The last step in which items do not count once; 0 if there is none.
    pub fn until(&self, steps: u64) -> u64 {
        match *self {
            Temper::Off => 0,
            Temper::From { over, .. } if over < 1.0 => (over * steps as f64).ceil() as u64,
            Temper::From { over, .. } => over as u64,
        }
    }

    /// How many times items count in step `t` (from 1), if they count once after step `until`.
    pub fn at(&self, t: u64, until: u64) -> f64 {
        match *self {
            Temper::From { times, .. } if t <= until => {
                times + (1.0 - times) * (t - 1) as f64 / until as f64
            }
            _ => 1.0,
        }
    }

    /// What is wrong with the numbers, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match *self {
            Temper::From { times, .. } if !(0.01..=100.0).contains(&times) => {
                Some("items can count 0.01 to 100 times; 2 is usual")
            }
            Temper::From { over, .. } if !(over > 0.0 && over <= 1e15) => {
                Some("it must last for a fraction of the steps (0.6) or for some steps (20)")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Temper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Temper::Off => write!(f, "off"),
            Temper::From { times, over } if over == Temper::OVER => write!(f, "{times}"),
            Temper::From { times, over } => write!(f, "{times}:{over}"),
        }
    }
}

impl FromStr for Temper {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Temper::Off);
        }
        let wrong = || {
            format!(
                "'{text}' is not a tempered start: use how many times items count at first (2), with a \
                 fraction of the steps (2:0.6) or steps (2:20), or off"
            )
        };
        let number = |s: &str| s.trim().parse::<f64>().map_err(|_| wrong());
        let (times, over) = match text.split_once(':') {
            Some((times, over)) => (number(times)?, number(over)?),
            None => (number(text)?, Temper::OVER),
        };
        let parsed = Temper::From { times, over };
        match parsed.problem() {
            Some(problem) => Err(format!("'{text}': {problem}")),
            None => Ok(parsed),
        }
    }
}

/// rho_t, the step size.
///
/// As text: `0.5` (constant), `power:10:0.75` for (10 + t)^-0.75, `0.5,1` for 0.5 while there is noise
/// and 1 as soon as it is off (full batches only).
///
/// ```
/// use lehr::step::schedule::StepSize;
/// let rho: StepSize = "power:10:0.75".parse().unwrap();
/// assert_eq!(rho.at(6, true), 16f64.powf(-0.75));
/// let rho: StepSize = "0.85,1".parse().unwrap();
/// assert_eq!((rho.at(1, true), rho.at(2, false)), (0.85, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "NumberOrText", into = "String")]
pub enum StepSize {
    /// The same in every step.
    Constant(f64),
    /// (tau0 + t)^-kappa.
    Power {
        /// Delays the decay.
        tau0: f64,
        /// The decay; SVI converges for kappa in (0.5, 1].
        kappa: f64,
    },
    /// This while the step is noisy, 1 once it is not.
    UntilQuiet(f64),
}

impl StepSize {
    /// rho at step `t` (from 1), which has annealing noise or not.
    pub fn at(&self, t: u64, noisy: bool) -> f64 {
        match *self {
            StepSize::Constant(rho) => rho,
            StepSize::Power { tau0, kappa } => (tau0 + t as f64).powf(-kappa).min(1.0),
            StepSize::UntilQuiet(rho) if noisy => rho,
            StepSize::UntilQuiet(_) => 1.0,
        }
    }

    /// What is wrong with the numbers, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match *self {
            StepSize::Constant(rho) | StepSize::UntilQuiet(rho) => (!(rho > 0.0 && rho <= 1.0))
                .then_some("a step size must lie above 0 and be at most 1"),
            StepSize::Power { tau0, kappa } => {
                (!(tau0 >= 0.0 && tau0.is_finite() && (0.0..=1.0).contains(&kappa)))
                    .then_some("power:TAU0:KAPPA needs tau0 >= 0 and kappa between 0 and 1")
            }
        }
    }
}

impl fmt::Display for StepSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepSize::Constant(rho) => write!(f, "{rho}"),
            StepSize::Power { tau0, kappa } => write!(f, "power:{tau0}:{kappa}"),
            StepSize::UntilQuiet(rho) => write!(f, "{rho},1"),
        }
    }
}

impl FromStr for StepSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is not a step size: use a number (0.5), power:TAU0:KAPPA \
                 (power:10:0.75) or RHO,1 (0.5,1: 0.5 while there is noise, then 1)"
            )
        };
        let number = |s: &str| s.trim().parse::<f64>().map_err(|_| wrong());
        let parsed = if let Some(rest) = text.strip_prefix("power:") {
            let (tau0, kappa) = rest.split_once(':').ok_or_else(wrong)?;
            StepSize::Power { tau0: number(tau0)?, kappa: number(kappa)? }
        } else if let Some((rho, one)) = text.split_once(',') {
            if one.trim() != "1" {
                return Err(wrong());
            }
            StepSize::UntilQuiet(number(rho)?)
        } else {
            StepSize::Constant(number(text)?)
        };
        match parsed.problem() {
            Some(problem) => Err(format!("'{text}': {problem}")),
            None => Ok(parsed),
        }
    }
}

/// In a configuration file, `effective = 50` should work as well as `effective = "50"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(f64),
    Text(String),
}

macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl TryFrom<NumberOrText> for $name {
            type Error = String;
            fn try_from(value: NumberOrText) -> Result<Self, String> {
                match value {
                    NumberOrText::Number(number) => number.to_string().parse(),
                    NumberOrText::Text(text) => text.parse(),
                }
            }
        }
        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    )*};
}
as_text!(Effective, StepSize, Temper);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_survive_text() {
        for text in ["off", "50", "0.5t", "geometric:10:150", "fading:30:20", "auto"] {
            assert_eq!(text.parse::<Effective>().unwrap().to_string(), text);
        }
        for text in ["0.5", "power:10:0.75", "0.85,1"] {
            assert_eq!(text.parse::<StepSize>().unwrap().to_string(), text);
        }
        for text in ["off", "2", "0.5:20", "3:0.25"] {
            assert_eq!(text.parse::<Temper>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_tempered_start_ends_where_items_count_once() {
        let temper = Temper::From { times: 0.5, over: 0.5 };
        let until = temper.until(8);
        let times: Vec<f64> = (1..=6).map(|t| temper.at(t, until)).collect();
        assert_eq!((until, times), (4, vec![0.5, 0.625, 0.75, 0.875, 1.0, 1.0]));
        for nonsense in ["", "two", "0", "-1", "nan", "2:", "2:0", "2:-3", "2:nan", "1e9", "2:1:1"]
        {
            assert!(nonsense.parse::<Temper>().is_err(), "{nonsense}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_allowed_forms() {
        for text in ["", "x", "-3", "0", "NaN", "inf", "5tt", "geometric:3", "geometric:3:0"] {
            assert!(text.parse::<Effective>().is_err(), "{text}");
        }
        for text in ["", "0", "1.5", "-1", "NaN", "0.5,2", "power:1", "power:-1:0.5", "power:1:2"] {
            assert!(text.parse::<StepSize>().is_err(), "{text}");
        }
        assert!("x".parse::<Effective>().unwrap_err().contains("geometric:10:150"));
    }

    #[test]
    fn the_geometric_schedule_runs_from_m0_to_the_batch() {
        let schedule = Effective::Geometric { from: 10.0, steps: 3 };
        let at = |t| schedule.at(t, 1250).unwrap();
        assert!((at(1) - 10.0).abs() < 1e-12 && (at(2) - 50.0).abs() < 1e-9);
        assert_eq!(schedule.at(4, 1250), None);
        assert_eq!(Effective::Constant(50.0).at(9, 50), None);
    }

    #[test]
    fn the_last_noisy_step_is_where_the_noise_ends() {
        let last = |text: &str, batch| text.parse::<Effective>().unwrap().last_noisy_step(batch);
        assert_eq!((last("off", 100), last("100", 100), last("100t", 100)), (0, 0, 0));
        assert_eq!((last("99", 100), last("0.5", 1)), (u64::MAX, 0));
        assert_eq!((last("geometric:10:7", 100), last("geometric:100:7", 100)), (7, 0));
        for text in ["50t", "30t", "0.1t", "0.3t", "7t"] {
            let schedule: Effective = text.parse().unwrap();
            let t = schedule.last_noisy_step(100);
            assert!(schedule.at(t, 100).is_some() && schedule.at(t + 1, 100).is_none(), "{text}");
        }
    }
}
