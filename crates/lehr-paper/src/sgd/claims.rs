//! Which learning rate a method takes, and whether it does better than others.

use super::settings::{Method, RATES, setting};
use super::train::at;
use crate::{Claim, Condition, Records};

/// What is held equal between methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Steps.
    Steps,
    /// Images.
    Examples,
}

impl Budget {
    fn name(self) -> &'static str {
        match self {
            Budget::Steps => "steps",
            Budget::Examples => "examples",
        }
    }

    /// The name of a final number.
    pub fn of(self, measure: &str) -> String {
        at(measure, self.name())
    }
}

/// The learning rate whose mean validation loss is the least; one at which a run has failed is not taken.
pub fn chosen(records: &Records, method: Method, budget: Budget) -> Option<f64> {
    let name = budget.of("validation_loss");
    let loss = |&rate: &f64| {
        let setting = setting(rate);
        let ends = records.ends(&setting, method.name(), &name);
        let whole = ends.len() == records.of(&setting, method.name()).len() && !ends.is_empty();
        whole.then(|| (rate, ends.iter().sum::<f64>() / ends.len() as f64))
    };
    let best = RATES.iter().filter_map(loss).min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(rate, _)| rate)
}

/// The measures that are compared: name, words, unit, and by how much a positive difference counts.
const COMPARED: [(&str, &str, &str, f64); 3] = [
    ("train_loss", "training loss", "nats", -1.0),
    ("test_loss", "test loss", "nats", -1.0),
    ("test_accuracy", "test accuracy", "points", 100.0),
];

/// By how much `this` is better than `other` in every measure, each at the rate it has chosen.
fn better(
    records: &Records,
    this: Method,
    other: Method,
    budget: Budget,
    when: &str,
) -> Vec<Condition> {
    let rates = (chosen(records, this, budget), chosen(records, other, budget));
    let (Some(rate), Some(others)) = rates else { return Vec::new() };
    let condition = |&(measure, words, unit, sign): &(&str, &str, &str, f64)| {
        let (this, other) = ((setting(rate), this), (setting(others), other));
        let differences = records.paired(
            (&this.0, this.1.name()),
            (&other.0, other.1.name()),
            &budget.of(measure),
        );
        let differences: Vec<f64> = differences.iter().map(|d| sign * d).collect();
        Condition::paired(format!("{words}{when}"), &differences, unit)
    };
    COMPARED.iter().map(condition).collect()
}

/// The claims.
pub fn all(steps: u64, records: &Records) -> Vec<Claim> {
    let plus = Method::Plus;
    let both = |other: Method| {
        let mut conditions = better(records, plus, other, Budget::Steps, ", equal steps");
        conditions.extend(better(records, plus, other, Budget::Examples, ", equal examples"));
        conditions
    };
    let own = |more: &str| format!("each method at its own best learning rate{more}");
    let large = better(records, plus, Method::Large, Budget::Examples, "");
    let gaussian = better(records, plus, Method::Gamma, Budget::Examples, "");
    // At their own rates methods are compared by what was not trained on: a higher rate alone gives a lower
    // training loss.
    let own_rates = |other, when| {
        let all = better(records, Method::Cooled, other, Budget::Examples, when);
        all.into_iter().filter(|c| !c.when.starts_with("training"))
    };
    let mut cooled: Vec<Condition> =
        own_rates(Method::Large, ", than batch 100, own rates").collect();
    cooled.extend(own_rates(Method::Small, ", than batch 10, own rates"));
    for (measure, words) in [("train_loss", "training loss"), ("test_loss", "test loss")] {
        let at = |&rate: &f64| at_rate(records, Method::Cooled, measure, words, rate);
        cooled.extend(RATES.iter().filter_map(at));
    }
    vec![
        Claim::new(
            "SVI+ may be useful in back-propagation: SGD+ is better than SGD with a batch of |S|",
            own(&format!("; equal steps and equal examples are the same here ({steps} steps)")),
            large,
        )
        .remark(rates(records)),
        Claim::control("At one learning rate for both, too, SGD+ is better than SGD", "batch |S|", {
            let at = |&rate: &f64| at_rate(records, plus, "test_loss", "test loss", rate);
            RATES.iter().filter_map(at).collect()
        })
        .remark("A method that takes another rate than the other one could owe its lead to the rate."),
        Claim::new("SGD+ is better than SGD with a batch of M", own(""), both(Method::Small)).remark(
            "An SGD+ step has the variance of a batch of M and costs |S| gradients: at equal examples SGD with \
             batches of M makes ten times as many steps.",
        ),
        Claim::new("Between two gradients of the same covariance, the Gaussian one is preferred", {
            own("; SGD+ against the same with Dirichlet weights")
        }, gaussian),
        Claim::control(
            "Noise that ends helps: SGD+ cooled is better than SGD",
            "equal examples; at the same learning rate than batch |S|",
            cooled,
        ),
    ]
}

/// By how much less a method loses than SGD with batches of |S| at the same learning rate.
fn at_rate(
    records: &Records,
    method: Method,
    measure: &str,
    words: &str,
    rate: f64,
) -> Option<Condition> {
    let (setting, name) = (setting(rate), Budget::Examples.of(measure));
    let more = records.differences(&setting, method.name(), Method::Large.name(), &name);
    let less: Vec<f64> = more.iter().map(|x| -x).collect();
    (!less.is_empty()).then(|| Condition::paired(format!("{words}, {setting}"), &less, "nats"))
}

/// Which rates were chosen, and whether the choice was at an end of the grid.
fn rates(records: &Records) -> String {
    let mut text = Vec::new();
    let mut at_end = Vec::new();
    for method in Method::ALL {
        let Some(rate) = chosen(records, method, Budget::Examples) else {
            text.push(format!("{} none", method.name()));
            continue;
        };
        text.push(format!("{} {rate}", method.name()));
        if rate == RATES[0] || rate == RATES[RATES.len() - 1] {
            at_end.push(method.name());
        }
    }
    if let Some(rate) = chosen(records, Method::Small, Budget::Steps) {
        text.push(format!("{} at equal steps {rate}", Method::Small.name()));
    }
    let mut remark = format!(
        "Learning rates chosen: {}. They are the best for images that were not seen, so that a lower training \
         loss may be due to a higher rate alone.",
        text.join("; "),
    );
    if !at_end.is_empty() {
        remark += &format!(" At an end of the grid: {}.", at_end.join("; "));
    }
    remark
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Verdict;
    use crate::sgd::tests::{made_up, quick};

    fn found(loss: &dyn Fn(Method, f64, bool) -> f64) -> Vec<Claim> {
        all(100, &made_up(&quick(4), loss))
    }

    #[test]
    fn noise_that_helps_is_seen_and_noise_that_hurts_is_too() {
        let of = |plus: f64| {
            found(&|method, rate, _| {
                let noisy = matches!(method, Method::Plus | Method::Cooled);
                (if noisy { plus } else { 0.2 }) * (1.0 + (rate.ln() - 0.1).abs())
            })
        };
        let helps = of(0.1);
        assert_eq!(helps.len(), 5);
        for claim in &helps {
            assert_eq!(claim.verdict(), Verdict::Holds, "{claim:?}");
        }
        assert_eq!(helps[2].conditions.len(), 6);
        for claim in of(0.3) {
            assert_eq!(claim.verdict().to_string(), "the opposite is shown", "{claim:?}");
        }
    }

    #[test]
    fn each_method_takes_its_own_rate_and_budget() {
        let sgd = quick(2);
        let records = made_up(&sgd, &|method, rate, examples| {
            let best: f64 = match (method, examples) {
                (Method::Small, true) => 0.05,
                (Method::Small, false) => 0.2,
                _ => 1.0,
            };
            0.1 + 0.1 * (rate.ln() - best.ln()).abs()
        });
        assert_eq!(chosen(&records, Method::Small, Budget::Examples), Some(0.05));
        assert_eq!(chosen(&records, Method::Small, Budget::Steps), Some(0.2));
        assert_eq!(chosen(&records, Method::Plus, Budget::Steps), Some(1.0));
        assert!(rates(&records).contains("At an end of the grid: SGD, batch 10."));
        // Where a run has failed, its loss is missing: the rate is not taken.
        let mut broken: Vec<_> = records.iter().cloned().collect();
        for record in &mut broken {
            if record.setting == setting(1.0) && record.start == 1 {
                record.end.clear();
            }
        }
        let records = Records::new(broken);
        assert_ne!(chosen(&records, Method::Plus, Budget::Steps), Some(1.0));
    }
}
