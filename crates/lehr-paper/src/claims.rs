//! From runs to verdicts: effects with their standard errors, the conditions under which they were
//! found, and what follows for a claim of the paper.

use serde::{Deserialize, Serialize};

use lehr_plot::caption::rounded;

/// A difference counts as a tie if it is smaller than this share of the largest.
const TIE: f64 = 1e-9;

/// Standard errors beyond which a mean of `n` numbers is not chance, at the level of 5 %: Student's t.
fn errors(n: usize) -> f64 {
    const T: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    match n.saturating_sub(1) {
        0 => f64::INFINITY,
        freedom if freedom <= T.len() => T[freedom - 1],
        // The first terms of its expansion, good to 0.0025 from here on.
        freedom => 1.95996 + 2.3723 / freedom as f64 + 2.8225 / (freedom * freedom) as f64,
    }
}

/// The mean of paired differences, with what tells whether it is one.
#[derive(Debug, Clone, Copy, PartialEq)]
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

    /// What it says of the claim that it is positive: that needs a mean clear of chance, and most pairs.
    pub fn finding(&self) -> Finding {
        let Some(error) = self.error else { return Finding::TooFew };
        let clear = self.mean.abs() > errors(self.n) * error;
        match () {
            () if clear && self.mean > 0.0 && 2 * self.wins > self.n => Finding::Holds,
            () if clear && self.mean < 0.0 && 2 * self.losses > self.n => Finding::Opposite,
            () => Finding::Unclear,
        }
    }
}

/// What a condition says of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It holds.
    Holds,
    /// Its opposite does.
    Opposite,
    /// A number has another value than predicted.
    Differs,
    /// Neither can be distinguished from chance.
    Unclear,
    /// There are too few runs to tell anything.
    TooFew,
}

impl Finding {
    /// Its sign in the tables.
    pub fn mark(self) -> char {
        match self {
            Finding::Holds => '✓',
            Finding::Opposite | Finding::Differs => '✗',
            Finding::Unclear | Finding::TooFew => '·',
        }
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
    /// What follows.
    pub finding: Finding,
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
            finding: effect.finding(),
        }
    }

    /// A number that the claim says has a certain value, give or take what is `allowed`. An error that is
    /// larger than that shows nothing.
    pub fn value(
        when: impl Into<String>,
        found: (f64, Option<f64>),
        predicted: f64,
        allowed: f64,
        unit: &str,
    ) -> Self {
        let (value, error) = found;
        let off = (value - predicted).abs();
        let finding = match error {
            None => Finding::TooFew,
            Some(error) if off > allowed.max(2.0 * error) => Finding::Differs,
            Some(error) if off <= allowed && error <= allowed => Finding::Holds,
            Some(_) => Finding::Unclear,
        };
        Condition {
            when: when.into(),
            effect: format!(
                "{}{} (predicted {}, give or take {})",
                with_error(value, error, false),
                in_unit(unit),
                rounded(predicted, 3),
                rounded(allowed, 3)
            ),
            pairs: String::new(),
            finding,
        }
    }

    /// Something that the claim says is so in every run: it may fail in one of ten.
    pub fn always(when: impl Into<String>, hits: usize, n: usize, what: &str) -> Self {
        let finding = match n {
            0 | 1 => Finding::TooFew,
            _ if 10 * hits >= 9 * n => Finding::Holds,
            _ => Finding::Differs,
        };
        let effect = format!("{what} in {hits} of {n} runs");
        Condition { when: when.into(), effect, pairs: String::new(), finding }
    }
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// `+1.23 ± 0.04`: as many digits as the error gives sense to.
pub fn with_error(value: f64, error: Option<f64>, signed: bool) -> String {
    let sign = if signed && value > 0.0 { "+" } else { "" };
    let error = match error {
        None => return format!("{sign}{}", rounded(value, 4)),
        Some(0.0) => return format!("{sign}{} ± 0", rounded(value, 4)),
        Some(error) => error,
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

/// One statement and what our runs say about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The paper's words, in short; of a control, what would have to be true for the claims to mean
    /// what they seem to mean.
    pub words: String,
    /// Whether it is ours and not the paper's.
    pub control: bool,
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
    /// Under none: its opposite, or another value, is shown under this many conditions, and nothing under the others.
    DoesNotHold {
        /// Conditions under which the opposite is shown.
        opposite: usize,
        /// Conditions under which a number has another value.
        differs: usize,
        /// Conditions under which nothing is shown.
        unclear: usize,
    },
    /// With so few runs nothing can be concluded.
    TooFew,
    /// Nothing was run.
    NotRun,
}

impl Claim {
    /// A claim of the paper, without a remark.
    pub fn new(words: &str, setting: impl Into<String>, conditions: Vec<Condition>) -> Self {
        let (words, setting, remark) = (words.into(), setting.into(), String::new());
        Claim { words, control: false, setting, conditions, remark }
    }

    /// A control of ours.
    pub fn control(words: &str, setting: impl Into<String>, conditions: Vec<Condition>) -> Self {
        Claim { control: true, ..Claim::new(words, setting, conditions) }
    }

    /// Adds a remark.
    pub fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remark = remark.into();
        self
    }

    /// How many conditions have one of these findings.
    pub fn count(&self, findings: &[Finding]) -> usize {
        self.conditions.iter().filter(|c| findings.contains(&c.finding)).count()
    }

    /// What the conditions say together.
    pub fn verdict(&self) -> Verdict {
        let all = self.conditions.len();
        match self.count(&[Finding::Holds]) {
            _ if all == 0 => Verdict::NotRun,
            _ if self.count(&[Finding::TooFew]) == all => Verdict::TooFew,
            n if n == all => Verdict::Holds,
            0 => Verdict::DoesNotHold {
                opposite: self.count(&[Finding::Opposite]),
                differs: self.count(&[Finding::Differs]),
                unclear: self.count(&[Finding::Unclear, Finding::TooFew]),
            },
            _ => {
                let holding = self.conditions.iter().filter(|c| c.finding == Finding::Holds);
                Verdict::HoldsOnlyWhen(holding.map(|c| c.when.clone()).collect())
            }
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::HoldsOnlyWhen(when) => write!(f, "holds only when: {}", when.join("; ")),
            Verdict::DoesNotHold { opposite: 0, differs: 0, .. } => f.write_str("nothing is shown"),
            Verdict::DoesNotHold { differs: 0, unclear: 0, .. } => {
                f.write_str("the opposite is shown")
            }
            Verdict::DoesNotHold { opposite: 0, unclear: 0, .. } => f.write_str("does not hold"),
            Verdict::DoesNotHold { opposite, differs, unclear } => {
                let n = opposite + differs + unclear;
                let what = if *opposite > 0 { "the opposite is shown" } else { "does not hold" };
                write!(f, "{what} under {} of {n} conditions", opposite + differs)?;
                if *unclear > 0 { f.write_str(", nothing under the others") } else { Ok(()) }
            }
            Verdict::TooFew => f.write_str("too few runs to tell"),
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
        assert_eq!(
            text(&[("a", UNCLEAR), ("b", DOWN)]),
            "the opposite is shown under 1 of 2 conditions, nothing under the others"
        );
        assert_eq!(text(&[("a", UNCLEAR)]), "nothing is shown");
        assert_eq!(text(&[("a", DOWN), ("b", DOWN)]), "the opposite is shown");
        assert_eq!(text(&[("a", &[1.0])]), "too few runs to tell");
        assert_eq!(text(&[]), "not run");
    }

    #[test]
    fn an_effect_needs_pairs_clear_of_chance_and_more_than_half_of_them() {
        let effect = Effect::of(UP);
        assert_eq!((effect.n, effect.mean, effect.wins, effect.losses), (4, 2.0, 4, 0));
        // Squares 1 + 0 + 1 + 0, over 3, over 4.
        assert!((effect.error.unwrap() - (2.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        let finding = |differences: &[f64]| Effect::of(differences).finding();
        assert_eq!((finding(UP), finding(DOWN)), (Finding::Holds, Finding::Opposite));
        assert_eq!(finding(&[3.0]), Finding::TooFew, "one run shows nothing");
        assert_eq!(finding(&[0.0, 0.0, 0.0]), Finding::Unclear, "equal runs show nothing");
        // Three errors are few of two pairs, and of three, but not of ten.
        assert_eq!(finding(&[2.0, 4.0]), Finding::Unclear);
        assert_eq!(finding(&[1.0, 2.0, 3.0]), Finding::Unclear);
        assert_eq!(finding(&[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 2.0]), Finding::Holds);
        // Most pairs are not enough if the others weigh as much.
        assert_eq!(finding(&[3.0, 3.0, 3.0, -8.0]), Finding::Unclear);
        assert_eq!(finding(&[-3.0, -3.0, -3.0, 8.0]), Finding::Unclear);
        // Nor is a clear mean if most pairs are ties.
        let mut few = vec![0.0; 30];
        few.extend([5.0; 9]);
        assert!(Effect::of(&few).mean > 2.1 * Effect::of(&few).error.unwrap());
        assert_eq!(finding(&few), Finding::Unclear);
        // A run without a number is a loss, and not forgotten.
        let effect = Effect::of(&[1.0, f64::NAN, 1.5]);
        assert_eq!((effect.n, effect.wins, effect.losses), (3, 2, 1));
        // Rounding is a tie.
        let effect = Effect::of(&[1e-12, 1.0, 2.0]);
        assert_eq!((effect.wins, effect.losses), (2, 0));
    }

    #[test]
    fn students_t_by_its_table() {
        for (n, t) in
            [(2, 12.706), (11, 2.228), (12, 2.201), (21, 2.086), (41, 2.021), (1001, 1.962)]
        {
            assert!((errors(n) - t).abs() < 2.5e-3, "{n}: {}", errors(n));
        }
        assert_eq!(errors(1), f64::INFINITY);
    }

    #[test]
    fn a_predicted_value_holds_within_what_is_allowed_if_it_is_known_so_well() {
        let at = |value, error| Condition::value("x", (value, error), -2.0, 0.1, "").finding;
        assert_eq!(at(-2.05, Some(0.02)), Finding::Holds);
        assert_eq!(at(-2.05, Some(0.2)), Finding::Unclear, "the error is too large");
        assert_eq!(at(-2.2, Some(0.15)), Finding::Unclear);
        assert_eq!(at(-1.0, Some(0.2)), Finding::Differs);
        assert_eq!(at(-2.0, None), Finding::TooFew);
        let shown = Condition::value("x", (-1.98, Some(0.03)), -2.0, 0.1, "").effect;
        assert_eq!(shown, "-1.980 ± 0.030 (predicted -2, give or take 0.1)");
    }

    #[test]
    fn what_is_always_so_may_fail_in_one_of_ten() {
        let of = |hits, n| Condition::always("x", hits, n, "5 clusters").finding;
        assert_eq!(
            [of(9, 10), of(8, 10), of(1, 1)],
            [Finding::Holds, Finding::Differs, Finding::TooFew]
        );
        let value = Condition::always("x", 0, 30, "5 clusters");
        assert_eq!(value.effect, "5 clusters in 0 of 30 runs");
        let claim = Claim::new("always 5", "made up", vec![value]);
        assert_eq!(claim.verdict().to_string(), "does not hold", "a value has no opposite");
    }

    #[test]
    fn numbers_have_the_digits_that_their_error_gives_sense_to() {
        assert_eq!(with_error(1234.567, Some(12.3), true), "+1235 ± 12");
        assert_eq!(with_error(-0.012345, Some(0.00067), true), "-0.01235 ± 0.00067");
        assert_eq!(with_error(1234567.0, Some(4321.0), true), "+1234600 ± 4300");
        assert_eq!(with_error(3.0, None, true), "+3");
        assert_eq!(with_error(2.0, Some(0.0), false), "2 ± 0");
    }
}
