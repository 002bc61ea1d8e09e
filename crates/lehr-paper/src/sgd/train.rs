//! Trains the network with one of the methods and follows it.

use std::collections::BTreeMap;

use lehr::math::rng::{Address, Purpose};
use lehr::step::anneal::weights;

use super::data::Split;
use super::network::Network;
use super::settings::{BATCH, Method};
use crate::{Point, Record, Stop};

/// One training.
#[derive(Debug, Clone, Copy)]
pub struct Training {
    pub method: Method,
    /// The learning rate.
    pub rate: f64,
    /// Steps of all methods; SGD with batches of M goes on until it has seen as many images as the others.
    pub steps: u64,
    pub seed: u64,
    pub start: u32,
}

/// What is followed.
pub const MEASURES: [&str; 4] = ["train_loss", "validation_loss", "test_loss", "test_accuracy"];

impl Training {
    /// Trains, and fills the record with the curve, and with what every measure is after as many steps
    /// and after as many images as all methods have. False if `stop` said so.
    pub fn run(&self, split: &Split, stop: Stop<'_>, record: &mut Record) -> bool {
        let Training { method, rate, steps, seed, start } = *self;
        let batch = method.batch();
        let last = steps * (BATCH / batch) as u64;
        let (law, effective) = method.noise(steps);
        // The same start and the same images, where there are as many of them, for every method.
        let mut network = Network::random(&mut Address::new(seed, Purpose::Init, start, 0).rng(0));
        let mut gradient = Network::zero();
        let mut w = vec![1.0; batch];
        record.curve.push(point(0, 0, &network, split));
        for t in 1..=last {
            let mut images = Address::new(seed, Purpose::Sample, start, t).rng(0);
            w.fill(1.0);
            if let Some(m) = effective.at(t, batch) {
                weights(law, m, true, Address::new(seed, Purpose::Noise, start, t), &mut w);
            }
            for w in &w {
                let image = &split.train[images.below(split.train.len() as u64) as usize];
                network.add_gradient(image, w / batch as f64, &mut gradient);
            }
            network.descend(rate, &mut gradient);
            if is_followed(t) || t == steps || t == last {
                if stop() {
                    return false;
                }
                record.curve.push(point(t, t * batch as u64, &network, split));
            }
        }
        for (name, step) in [("steps", steps), ("examples", last)] {
            let Some(point) = record.curve.iter().find(|p| p.step == step) else { continue };
            let ends: Vec<(String, f64)> =
                point.values.iter().map(|(measure, &x)| (at(measure, name), x)).collect();
            record.end.extend(ends);
        }
        true
    }
}

/// The name of a final number: a measure after this many `steps` or `examples`.
pub fn at(measure: &str, budget: &str) -> String {
    format!("{measure}_at_{budget}")
}

/// About twelve steps of every power of ten.
fn is_followed(t: u64) -> bool {
    let place = |t: u64| (12.0 * (t as f64).log10()).floor();
    t == 1 || place(t) > place(t - 1)
}

fn point(step: u64, items: u64, network: &Network, split: &Split) -> Point {
    let [train, validation, test] =
        [&split.train, &split.validation, &split.test].map(|digits| network.score(digits));
    let numbers = [train.loss, validation.loss, test.loss, test.accuracy];
    let values: BTreeMap<String, f64> = MEASURES
        .iter()
        .map(|name| name.to_string())
        .zip(numbers)
        .filter(|v| v.1.is_finite())
        .collect();
    Point { step, items, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use crate::sgd::data;

    fn trained(method: Method, start: u32) -> Record {
        let split = Split::new(&data::read().unwrap(), 1, start);
        let job = Job { setting: "s".into(), method: method.name().into(), start, cost: 1.0 };
        let mut record = Record::of(&job);
        let training = Training { method, rate: 0.5, steps: 40, seed: 1, start };
        assert!(training.run(&split, &|| false, &mut record));
        record
    }

    #[test]
    fn methods_begin_at_the_same_network_and_go_their_ways() {
        let [small, large, plus, gamma, cooled] = Method::ALL.map(|method| trained(method, 0));
        for other in [&small, &plus, &gamma, &cooled] {
            assert_eq!(other.curve[0].values, large.curve[0].values);
            assert_ne!(other.end, large.end);
        }
        assert_ne!(trained(Method::Large, 1).curve[0].values, large.curve[0].values);
        assert_eq!(trained(Method::Plus, 0), plus, "the same bits again");
        let end = |record: &Record| record.curve.last().map(|p| (p.step, p.items)).unwrap();
        assert_eq!((end(&small), end(&large)), ((400, 4000), (40, 4000)));
        let loss = |record: &Record, budget: &str| record.end[&at("train_loss", budget)];
        assert_eq!(loss(&large, "steps"), loss(&large, "examples"));
        assert!(loss(&small, "examples") < loss(&small, "steps"), "ten times as many steps");
        assert!(loss(&plus, "steps") < 2.0, "it learns");
    }
}
