//! What the measured gradients say about the theorem and the sentences around it.

use lehr_plot::caption::rounded;

use super::data::Population;
use super::gradient::Method;
use super::measures::{Measure, Spot, along_size, along_tau, floor, slope};
use super::predict;
use super::settings::{
    BY_SIZE, BY_TAU, EFFECTIVE, FEWER, NOISY_SIZES, OF_FEWER, PLAIN_SIZES, SIZES, TAU, setting,
};
use crate::claims::{Effect, Finding, with_error};
use crate::{Claim, Condition, Records};

/// How far an exponent may be from the predicted one: what terms of higher order do to it at these
/// sizes.
const ALLOWED: f64 = 0.15;
/// The same for the variance, relative to that of a batch of M.
const ALLOWED_VARIANCE: f64 = 0.003;

/// The claims, in the order of the paper.
pub fn all(populations: &[Population], records: &Records) -> Vec<Claim> {
    let mut claims = vec![moments(populations, records)];
    for whose in Whose::ALL {
        claims.push(distance_by_tau(populations, records, whose));
        claims.push(skewness_by_tau(populations, records, whose));
    }
    claims.push(plain_by_size(populations, records));
    for whose in Whose::ALL {
        claims.push(noisy_by_size(populations, records, whose));
        claims.push(nearer(populations, records, whose));
    }
    claims
}

/// Whose noise a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The theorem's.
    Theorem,
    /// That of the algorithm that is run.
    Algorithm,
    /// Other laws, which the paper does not speak of.
    Controls,
}

impl Whose {
    const ALL: [Whose; 3] = [Whose::Theorem, Whose::Algorithm, Whose::Controls];

    /// Those of some methods that are its own.
    fn of(self, methods: &[Method]) -> impl Iterator<Item = Method> {
        let is_own = move |method: &Method| match self {
            Whose::Theorem => *method == Method::Exact,
            Whose::Algorithm => *method == Method::Algorithm1,
            Whose::Controls => !matches!(method, Method::Exact | Method::Algorithm1),
        };
        methods.iter().copied().filter(is_own).collect::<Vec<_>>().into_iter()
    }

    /// A claim with its name.
    fn claim(self, words: &str, setting: String, conditions: Vec<Condition>) -> Claim {
        match self {
            Whose::Theorem => {
                Claim::new(&format!("{words}: the theorem's noise"), setting, conditions)
            }
            Whose::Algorithm => Claim::new(&format!("{words}: Algorithm 1"), setting, conditions),
            Whose::Controls => {
                Claim::control(&format!("{words}: other noise"), setting, conditions)
            }
        }
    }
}

/// Fitted exponents as conditions, and what theory gives for the same points.
struct Exponents<'a> {
    records: &'a Records,
    predicted: f64,
    axis: &'static str,
    conditions: Vec<Condition>,
    theory: Vec<String>,
}

impl<'a> Exponents<'a> {
    fn new(records: &'a Records, predicted: f64, axis: &'static str) -> Self {
        let (conditions, theory) = (Vec::new(), Vec::new());
        Exponents { records, predicted, axis, conditions, theory }
    }

    fn add(&mut self, when: String, measure: Measure, population: &Population, spots: &[Spot]) {
        let Some(floor) = floor(population, self.records) else { return };
        let Some((value, error, spots)) = measure.exponent(self.records, spots, floor) else {
            let effect = "no exponent: too few starts, or too near the floor".into();
            let (pairs, finding) = (String::new(), Finding::TooFew);
            self.conditions.push(Condition { when, effect, pairs, finding });
            return;
        };
        let range = format!("for {} = {} to {}", self.axis, spots[0].x, spots[spots.len() - 1].x);
        let point = |s: &Spot| (s.x.ln(), predicted(measure, population, s).ln());
        if let Some(theory) = slope(&spots.iter().map(point).collect::<Vec<_>>()) {
            // A slope of nothing but rounding is none.
            let theory = if theory.abs() < 1e-9 { 0.0 } else { theory };
            self.theory.push(format!("{when} {}", rounded(theory, 3)));
        }
        let found = (value, Some(error));
        let mut condition = Condition::value(when, found, self.predicted, ALLOWED, &range);
        // The theorem is a bound: what falls faster obeys it.
        if value < self.predicted && condition.finding == Finding::Differs {
            condition.finding = Finding::Holds;
        }
        self.conditions.push(condition);
    }

    fn claim(self, whose: Whose, words: &str, setting: String, remark: &str) -> Claim {
        let mut remark = remark.to_string();
        if !self.theory.is_empty() {
            remark += &format!(
                " What exact cumulants (with Edgeworth's series to the second order for the distance) give \
                 for the same points: {}.",
                self.theory.join("; "),
            );
        }
        whose.claim(words, setting, self.conditions).remark(remark.trim_start())
    }
}

/// What theory gives at a spot: the largest distance of the directions, the factor of the items' skewness,
/// or the mean kurtosis of the directions.
pub fn predicted(measure: Measure, population: &Population, spot: &Spot) -> f64 {
    let shape = |items| predict::gradient(spot.method, items, spot.size, spot.effective);
    match measure {
        Measure::Distance => {
            let all = population.shapes.iter().map(|&items| predict::distance(shape(items)));
            all.fold(0.0, f64::max)
        }
        Measure::Skewness => {
            let unit = predict::Cumulants { skewness: 1.0, kurtosis: 0.0 };
            shape(unit).skewness
        }
        Measure::Kurtosis => {
            let all = population.shapes.iter().map(|&items| shape(items).kurtosis);
            all.sum::<f64>() / population.shapes.len() as f64
        }
    }
}

/// How exponents are fitted, for the setting of a claim.
fn fitted(axis: &str) -> String {
    format!(
        "exponent of a power law in {axis}, where it can be seen; steeper also counts as holding"
    )
}

fn by_tau() -> String {
    let taus = SIZES.map(|size| rounded(size as f64 / EFFECTIVE as f64, 3)).join(", ");
    format!("M = {EFFECTIVE}, tau = {taus}; {}", fitted("tau"))
}

/// The exponents of one measure in tau, by method and population; the theorem says -2.
fn exponents_in_tau<'a>(
    populations: &[Population],
    records: &'a Records,
    measure: Measure,
    whose: Whose,
) -> Exponents<'a> {
    let mut found = Exponents::new(records, -2.0, "tau");
    for population in populations {
        for method in whose.of(&BY_TAU) {
            let spots = along_tau(population, method, &SIZES);
            let when = format!("{}, {}", method.name(), population.name);
            found.add(when, measure, population, &spots);
        }
    }
    found
}

fn distance_by_tau(populations: &[Population], records: &Records, whose: Whose) -> Claim {
    exponents_in_tau(populations, records, Measure::Distance, whose).claim(
        whose,
        "For a fixed M the distance is O(1/tau^2) in tau",
        by_tau(),
        match whose {
            Whose::Theorem => {
                "The theorem is proved for noise with the exact covariance. A batch of tau = 1 is discrete, \
                 so its total variation distance from any Gaussian is 1; what Berry and Esseen bound, and what \
                 is measured here, is the distance over half-spaces."
            }
            Whose::Algorithm => {
                "Algorithm 1 takes the covariance from its own batch: the batch's mean and its variance are \
                 correlated if items are skewed, and the variance fluctuates; both leave terms of order 1/tau, \
                 (3 tau - 2)/tau^2 in the skewness and about 3 (h + 2)/(tau M) in the excess kurtosis (h: that \
                 of the items)."
            }
            Whose::Controls => "`lagged` removes the first of Algorithm 1's terms, not the second.",
        },
    )
}

fn skewness_by_tau(populations: &[Population], records: &Records, whose: Whose) -> Claim {
    exponents_in_tau(populations, records, Measure::Skewness, whose).claim(
        whose,
        "For a fixed M the skewness is O(1/tau^2) in tau",
        by_tau(),
        match whose {
            Whose::Theorem => {
                "The skewness is the leading term of the distance: 1/(tau^2 sqrt M) per skewness of the items."
            }
            Whose::Algorithm => "It is (3 tau - 2)/(tau^2 sqrt M) per skewness of the items.",
            Whose::Controls => {
                "Per skewness of the items it is 1/(tau^2 sqrt M) for `lagged`, 1/sqrt M for `subsample`, and \
                 goes to 2 sqrt M/(M + 1) for `gamma`."
            }
        },
    )
}

fn plain_by_size(populations: &[Population], records: &Records) -> Claim {
    let mut found = Exponents::new(records, -0.5, "|S|");
    for population in populations {
        let spots = along_size(population, Method::Svi, &PLAIN_SIZES, 1);
        for (measure, name) in [(Measure::Distance, "distance"), (Measure::Skewness, "skewness")] {
            found.add(format!("the {name}, {}", population.name), measure, population, &spots);
        }
    }
    let sizes = PLAIN_SIZES.map(|size| size.to_string()).join(", ");
    let words = "For tau = 1 the rate is O(1/sqrt|S|), as expected by the CLT";
    let setting = format!("SVI, |S| = M = {sizes}; {}", fitted("|S|"));
    Claim { words: words.into(), ..found.claim(Whose::Theorem, words, setting, "") }
}

fn noisy_by_size(populations: &[Population], records: &Records, whose: Whose) -> Claim {
    let mut found = Exponents::new(records, -0.5, "|S|");
    for population in populations {
        for method in whose.of(&BY_SIZE) {
            let spots = along_size(population, method, &NOISY_SIZES, TAU);
            let when = format!("{}, {}", method.name(), population.name);
            found.add(when, Measure::Distance, population, &spots);
        }
    }
    let sizes = NOISY_SIZES.map(|size| size.to_string()).join(", ");
    found.claim(
        whose,
        "The distance is O(1/(tau^1.5 sqrt|S|)), -1/2 in |S| for a fixed tau",
        format!("tau = {TAU}, |S| = {sizes}; {}", fitted("|S|")),
        "It is steeper where the kurtosis, which falls as 1/|S|, is a large part of the distance.",
    )
}

fn moments(populations: &[Population], records: &Records) -> Claim {
    let size = TAU * EFFECTIVE;
    let mut conditions = Vec::new();
    let mut means = Vec::new();
    for population in populations {
        let setting = setting(population, size, EFFECTIVE);
        for method in Method::NOISY {
            let effect = |name: &str| Effect::of(&records.ends(&setting, method.name(), name));
            let (variance, mean) = (effect("variance"), effect("mean"));
            if variance.n == 0 {
                continue;
            }
            let name = match method {
                Method::Algorithm1 => "Algorithm 1 with the factor |S|/(|S|-1)",
                _ => method.name(),
            };
            let found = (variance.mean, variance.error);
            let when = format!("{name}, {}", population.name);
            conditions.push(Condition::value(when, found, 1.0, ALLOWED_VARIANCE, ""));
            let shown = with_error(mean.mean, mean.error, true);
            means.push(format!("{}, {} {shown}", method.name(), population.name));
        }
    }
    let lacks = (TAU as f64 - 1.0) / (TAU * size) as f64;
    Claim::new(
        "SVI+ has the same mean and covariance as a batch of M",
        format!("M = {EFFECTIVE}, |S| = {size}; variance over that of a batch of M, mean of all directions"),
        conditions,
    )
    .remark(format!(
        "Means less mu, in standard deviations: {}. As printed, Algorithm 1 lacks the share (tau - 1)/(tau \
         |S|) = {} of the variance. Without replacement from N items, Algorithm 1 with the \
         factor has (N - M)/(N - 1) of it, which is exactly what a batch of M drawn so has.",
        means.join("; "),
        rounded(lacks, 3),
    ))
}

fn nearer(populations: &[Population], records: &Records, whose: Whose) -> Claim {
    let regimes: [(&str, &[usize]); 3] =
        [("1 < tau < 2", &SIZES[1..3]), ("tau = 2", &SIZES[3..4]), ("tau > 2", &SIZES[4..])];
    let mut conditions = Vec::new();
    for method in whose.of(&BY_TAU) {
        for population in populations {
            for (name, sizes) in regimes {
                let plain = setting(population, EFFECTIVE, EFFECTIVE);
                let at = |&size: &usize| {
                    let noisy = setting(population, size, EFFECTIVE);
                    let noisy = (noisy.as_str(), method.name());
                    let name = if FEWER.contains(&method) { OF_FEWER } else { "distance" };
                    records.paired((&plain, Method::Svi.name()), noisy, name)
                };
                let all: Vec<Vec<f64>> = sizes.iter().map(at).collect();
                // One number a start: the mean over the taus of the regime.
                let starts = all.iter().map(Vec::len).min().unwrap_or(0);
                let mean = |i: usize| all.iter().map(|d| d[i]).sum::<f64>() / all.len() as f64;
                let differences: Vec<f64> = (0..starts).map(mean).collect();
                if !differences.is_empty() {
                    let when = format!("{}, {name}, {}", method.name(), population.name);
                    conditions.push(Condition::paired(when, &differences, "distance"));
                }
            }
        }
    }
    let claim = whose.claim(
        "The covariance is that of a batch of M, but the gradient is closer to Gaussian",
        format!("M = {EFFECTIVE}; distance of SVI with a batch of M minus that of SVI+"),
        conditions,
    );
    match whose {
        Whose::Theorem => claim,
        Whose::Algorithm => claim.remark(
            "Algorithm 1 is more skewed than SVI with a batch of M for 1 < tau < 2, and exactly as skewed at \
             tau = 2.",
        ),
        Whose::Controls => claim.remark(
            "`subsample` is equivalent to SVI with a batch of M; `gamma` shows that two equal moments alone \
             bring nothing nearer to a Gaussian.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Verdict;
    use crate::theorem::tests::{made_up, quick};

    fn verdicts(rate: &dyn Fn(Method, usize, usize) -> f64) -> Vec<Claim> {
        let theorem = quick(3);
        all(&theorem.populations, &made_up(&theorem, rate))
    }

    fn of<'a>(claims: &'a [Claim], words: &str) -> &'a Claim {
        claims.iter().find(|claim| claim.words.contains(words)).unwrap()
    }

    #[test]
    fn the_theorems_rate_in_all_methods_holds() {
        let found = verdicts(&|_, s, m| 0.1 / (s as f64 / m as f64).powi(2) / (m as f64).sqrt());
        assert_eq!(found.len(), 1 + 6 + 1 + 6);
        for claim in found.iter().filter(|claim| !claim.words.starts_with("The covariance")) {
            assert!(!claim.conditions.is_empty());
            assert_eq!(claim.verdict(), Verdict::Holds, "{claim:?}");
        }
        assert_eq!(found.iter().filter(|claim| claim.control).count(), 4);
    }

    #[test]
    fn a_slower_rate_does_not_and_only_its_method_is_to_blame() {
        let found = verdicts(&|method, s, m| {
            let power = if method == Method::Algorithm1 { 1 } else { 2 };
            0.1 / (s as f64 / m as f64).powi(power) / (m as f64).sqrt()
        });
        for measure in ["distance", "skewness"] {
            let rate = format!("For a fixed M the {measure} is O(1/tau^2)");
            for (whose, holds) in [("theorem's", true), ("Algorithm 1", false), ("other", true)] {
                let claim = found
                    .iter()
                    .find(|c| c.words.starts_with(&rate) && c.words.contains(whose))
                    .unwrap();
                assert_eq!(claim.verdict() == Verdict::Holds, holds, "{claim:?}");
                let differ = claim.count(&[Finding::Differs]);
                assert_eq!(differ, if holds { 0 } else { 2 }, "one for each population");
            }
        }
        let never = verdicts(&|_, _, _| 0.1);
        let slow = of(&never, "the distance is O(1/tau^2) in tau: the theorem's");
        assert_eq!(slow.verdict().to_string(), "does not hold");
        let nearer = of(&never, "closer to Gaussian: Algorithm 1");
        assert!(matches!(nearer.verdict(), Verdict::DoesNotHold { .. }), "nor nearer than SVI");
    }
}
