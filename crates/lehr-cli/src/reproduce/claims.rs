//! From runs to verdicts: effects with their standard errors, the conditions under which they were
//! found, and what follows for a claim of the paper.

use serde::{Deserialize, Serialize};

use crate::text::rounded;

/// An effect counts if it is this many standard errors away from nothing.
const ERRORS: f64 = 2.0;

/// A difference counts as a tie if it is smaller than this share of the largest.
const TIE: f64 = 1e-9;

/// The mean of paired differences, with what tells whether it is one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Pairs.
    pub n: usize,
    /// Their mean difference.
    pub mean: f64,
    /// Its standard error; none of a single pair.
    pub error: Option<f64>,
    /// Pairs with a positive difference.
    pub wins: usize,
    /// Pairs with a negative one.
    pub losses: usize,
}

impl Effect {
    /// The effect that some differences show; those that are not finite count as losses of no size.
    pub fn of(differences: &[f64]) -> Self {
        let n = differences.len();
        let finite: Vec<f64> = differences.iter().copied().filter(|x| x.is_finite()).collect();
        let count = finite.len() as f64;
        let mean = if finite.is_empty() { 0.0 } else { finite.iter().sum::<f64>() / count };
        let squares: f64 = finite.iter().map(|x| (x - mean).powi(2)).sum();
        let error = (finite.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        let largest = finite.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let wins = finite.iter().filter(|&&x| x > TIE * largest).count();
        let losses = finite.iter().filter(|&&x| x < -TIE * largest).count() + n - finite.len();
        Effect { n, mean, error, wins, losses }
    }

    /// Whether the differences are positive beyond chance.
    pub fn is_positive(&self) -> bool {
        let clear = self.error.is_some_and(|error| self.mean > ERRORS * error);
        self.mean > 0.0 && clear && self.wins > self.losses
    }

    /// Whether they are negative beyond chance.
    pub fn is_negative(&self) -> bool {
        let clear = self.error.is_some_and(|error| -self.mean > ERRORS * error);
        self.mean < 0.0 && clear && self.losses > self.wins
    }
}

/// What was found under one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The condition, so that "holds only when ..." can go on with it.
    pub when: String,
    /// The effect and its standard error, as text.
    pub effect: String,
    /// Wins and losses, paired by start; nothing where nothing is paired.
    pub pairs: String,
    /// Whether the claim holds here.
    pub holds: bool,
    /// Whether the opposite does.
    pub opposite: bool,
}

impl Condition {
    /// Differences that the claim says are positive, in `unit`.
    pub fn paired(when: impl Into<String>, differences: &[f64], unit: &str) -> Self {
        let effect = Effect::of(differences);
        let ties = effect.n - effect.wins - effect.losses;
        let pairs = match ties {
            0 => format!("{} : {}", effect.wins, effect.losses),
            _ => format!("{} : {}, {ties} equal", effect.wins, effect.losses),
        };
        Condition {
            when: when.into(),
            effect: format!("{}{}", with_error(effect.mean, effect.error, true), in_unit(unit)),
            pairs,
            holds: effect.is_positive(),
            opposite: effect.is_negative(),
        }
    }

    /// A number that the claim says has a certain value: it holds if the value is within `allowed` of it,
    /// or within two standard errors.
    pub fn value(
        when: impl Into<String>,
        found: (f64, Option<f64>),
        predicted: f64,
        allowed: f64,
        unit: &str,
    ) -> Self {
        let (value, error) = found;
        let off = (value - predicted).abs();
        let holds = off <= allowed.max(ERRORS * error.unwrap_or(0.0));
        Condition {
            when: when.into(),
            effect: format!(
                "{}{} (predicted {})",
                with_error(value, error, false),
                in_unit(unit),
                rounded(predicted, 3)
            ),
            pairs: String::new(),
            holds,
            opposite: !holds,
        }
    }
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// `+1.23 ± 0.04`: as many digits as the error gives sense to.
pub fn with_error(value: f64, error: Option<f64>, signed: bool) -> String {
    let sign = if signed && value > 0.0 { "+" } else { "" };
    let Some(error) = error.filter(|error| *error > 0.0) else {
        return format!("{sign}{}", rounded(value, 4));
    };
    // Two digits of the error.
    let decimals = 1 - error.log10().floor() as i32;
    if (0..=9).contains(&decimals) {
        let decimals = decimals as usize;
        return format!("{sign}{value:.decimals$} ± {error:.decimals$}");
    }
    if decimals < 0 && value.abs() < 1e9 {
        let unit = 10_f64.powi(-decimals);
        let at = |x: f64| (x / unit).round() * unit;
        return format!("{sign}{:.0} ± {:.0}", at(value), at(error));
    }
    format!("{sign}{} ± {}", rounded(value, 4), rounded(error, 2))
}

/// One statement of the paper and what our runs say about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The paper's words, in short.
    pub words: String,
    /// Our setting.
    pub setting: String,
    /// What was found, under each condition that was tried.
    pub conditions: Vec<Condition>,
    /// What else should be known; Markdown.
    pub remark: String,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Under every condition.
    Holds,
    /// Under these conditions.
    HoldsOnlyWhen(Vec<String>),
    /// Under none; and whether the opposite does under all.
    DoesNotHold {
        /// The opposite holds under every condition.
        opposite: bool,
    },
    /// Nothing was run.
    NotRun,
}

impl Claim {
    /// A claim without a remark.
    pub fn new(words: &str, setting: impl Into<String>, conditions: Vec<Condition>) -> Self {
        Claim { words: words.into(), setting: setting.into(), conditions, remark: String::new() }
    }

    /// Adds a remark.
    pub fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remark = remark.into();
        self
    }

    /// What the conditions say together.
    pub fn verdict(&self) -> Verdict {
        let holding: Vec<&Condition> = self.conditions.iter().filter(|c| c.holds).collect();
        match holding.len() {
            _ if self.conditions.is_empty() => Verdict::NotRun,
            n if n == self.conditions.len() => Verdict::Holds,
            0 => Verdict::DoesNotHold { opposite: self.conditions.iter().all(|c| c.opposite) },
            _ => Verdict::HoldsOnlyWhen(holding.iter().map(|c| c.when.clone()).collect()),
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::HoldsOnlyWhen(when) => write!(f, "holds only when: {}", when.join("; ")),
            Verdict::DoesNotHold { opposite: false } => f.write_str("does not hold"),
            Verdict::DoesNotHold { opposite: true } => {
                f.write_str("does not hold: the opposite does")
            }
            Verdict::NotRun => f.write_str("not run"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(conditions: &[(&str, &[f64])]) -> Claim {
        let conditions =
            conditions.iter().map(|(when, x)| Condition::paired(*when, x, "nats")).collect();
        Claim::new("noise helps", "made up", conditions)
    }

    const UP: &[f64] = &[1.0, 2.0, 3.0, 2.0];
    const DOWN: &[f64] = &[-1.0, -2.0, -3.0, -2.0];
    const UNCLEAR: &[f64] = &[5.0, -5.0, 4.0, -3.0];

    #[test]
    fn a_verdict_of_each_kind() {
        let text = |conditions: &[(&str, &[f64])]| claim(conditions).verdict().to_string();
        assert_eq!(text(&[("a", UP), ("b", UP)]), "holds");
        assert_eq!(text(&[("d = 5", UP), ("d = 10", UNCLEAR)]), "holds only when: d = 5");
        assert_eq!(text(&[("a", UP), ("b", DOWN), ("c", UP)]), "holds only when: a; c");
        assert_eq!(text(&[("a", UNCLEAR), ("b", DOWN)]), "does not hold");
        assert_eq!(text(&[("a", UNCLEAR)]), "does not hold");
        assert_eq!(text(&[("a", DOWN)]), "does not hold: the opposite does");
        assert_eq!(text(&[]), "not run");
    }

    #[test]
    fn an_effect_needs_pairs_clear_of_chance_and_more_wins_than_losses() {
        let effect = Effect::of(UP);
        assert_eq!((effect.n, effect.mean, effect.wins, effect.losses), (4, 2.0, 4, 0));
        // Squares 1 + 0 + 1 + 0, over 3, over 4.
        assert!((effect.error.unwrap() - (2.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        assert!(effect.is_positive() && !effect.is_negative());
        assert!(Effect::of(DOWN).is_negative());
        assert!(!Effect::of(&[3.0]).is_positive(), "one run shows nothing");
        assert!(!Effect::of(&[0.0, 0.0, 0.0]).is_positive(), "equal runs show nothing");
        // Nor do most of them, if the others weigh as much.
        assert!(!Effect::of(&[3.0, 3.0, 3.0, -8.0]).is_positive());
        assert!(!Effect::of(&[-3.0, -3.0, -3.0, 8.0]).is_negative());
        // One huge win does not outweigh many losses.
        assert!(!Effect::of(&[100.0, -1.0, -1.0, -1.0]).is_positive());
        // A run without a number is a loss, and not forgotten.
        let effect = Effect::of(&[1.0, f64::NAN, 1.5]);
        assert_eq!((effect.n, effect.wins, effect.losses), (3, 2, 1));
        // Rounding is a tie.
        let effect = Effect::of(&[1e-12, 1.0, 2.0]);
        assert_eq!((effect.wins, effect.losses), (2, 0));
    }

    #[test]
    fn a_predicted_value_holds_within_what_is_allowed_or_two_errors() {
        let at = |value, error| Condition::value("x", (value, error), -2.0, 0.1, "").holds;
        assert!(at(-2.05, None) && !at(-2.2, None) && at(-2.2, Some(0.15)) && !at(-1.0, Some(0.2)));
        let shown = Condition::value("x", (-1.98, Some(0.03)), -2.0, 0.1, "").effect;
        assert_eq!(shown, "-1.980 ± 0.030 (predicted -2)");
    }

    #[test]
    fn numbers_have_the_digits_that_their_error_gives_sense_to() {
        assert_eq!(with_error(1234.567, Some(12.3), true), "+1235 ± 12");
        assert_eq!(with_error(-0.012345, Some(0.00067), true), "-0.01235 ± 0.00067");
        assert_eq!(with_error(1234567.0, Some(4321.0), true), "+1234600 ± 4300");
        assert_eq!(with_error(3.0, None, true), "+3");
        assert_eq!(with_error(2.0, Some(0.0), false), "2");
    }
}
