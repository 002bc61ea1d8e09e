//! A small neural network: one hidden layer of tanh units, softmax, cross-entropy, back-propagation.

use lehr::math::rng::Rng;

use super::data::{Digit, N_CLASSES, N_PIXELS};

/// Hidden units.
pub const N_HIDDEN: usize = 32;

/// Weights of the network, or a gradient by them.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// From each pixel to every hidden unit; the last row is from a pixel that is always 1.
    first: Vec<[f64; N_HIDDEN]>,
    /// From each hidden unit to every class; the last row as above.
    second: Vec<[f64; N_CLASSES]>,
}

/// What an image makes of the network.
struct Activity {
    hidden: [f64; N_HIDDEN],
    /// Probabilities of the classes.
    classes: [f64; N_CLASSES],
    /// -ln of the probability of the right one.
    loss: f64,
}

/// How a network does on some images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean cross-entropy in nats.
    pub loss: f64,
    /// Share of images whose most probable class is the right one.
    pub accuracy: f64,
}

impl Network {
    /// All weights 0.
    pub fn zero() -> Self {
        Network {
            first: vec![[0.0; N_HIDDEN]; N_PIXELS + 1],
            second: vec![[0.0; N_CLASSES]; N_HIDDEN + 1],
        }
    }

    /// Normal weights with variance 1 over the number of inputs; no biases.
    pub fn random(rng: &mut Rng) -> Self {
        let mut network = Self::zero();
        let deviation = |inputs: usize| (1.0 / inputs as f64).sqrt();
        for row in &mut network.first[..N_PIXELS] {
            row.iter_mut().for_each(|w| *w = deviation(N_PIXELS) * rng.normal());
        }
        for row in &mut network.second[..N_HIDDEN] {
            row.iter_mut().for_each(|w| *w = deviation(N_HIDDEN) * rng.normal());
        }
        network
    }

    fn look(&self, digit: &Digit) -> Activity {
        let mut hidden = self.first[N_PIXELS];
        for (&x, row) in digit.pixels.iter().zip(&self.first) {
            // Half of all pixels are black.
            if x != 0.0 {
                hidden.iter_mut().zip(row).for_each(|(h, w)| *h += x * w);
            }
        }
        hidden.iter_mut().for_each(|h| *h = h.tanh());
        let mut classes = self.second[N_HIDDEN];
        for (&h, row) in hidden.iter().zip(&self.second) {
            classes.iter_mut().zip(row).for_each(|(c, w)| *c += h * w);
        }
        let largest = classes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let right = classes[digit.class] - largest;
        classes.iter_mut().for_each(|c| *c = (*c - largest).exp());
        let sum: f64 = classes.iter().sum();
        classes.iter_mut().for_each(|c| *c /= sum);
        Activity { hidden, classes, loss: sum.ln() - right }
    }

    /// Adds `weight` times the gradient of one image's loss to `gradient`.
    pub fn add_gradient(&self, digit: &Digit, weight: f64, gradient: &mut Network) {
        let Activity { hidden, mut classes, .. } = self.look(digit);
        classes[digit.class] -= 1.0;
        classes.iter_mut().for_each(|c| *c *= weight);
        let mut back = [0.0; N_HIDDEN];
        for (h, back) in back.iter_mut().enumerate() {
            let rows = self.second[h].iter().zip(&mut gradient.second[h]);
            for ((w, sum), c) in rows.zip(&classes) {
                *back += w * c;
                *sum += hidden[h] * c;
            }
            *back *= 1.0 - hidden[h] * hidden[h];
        }
        gradient.second[N_HIDDEN].iter_mut().zip(&classes).for_each(|(sum, c)| *sum += c);
        for (&x, row) in digit.pixels.iter().chain([&1.0]).zip(&mut gradient.first) {
            if x != 0.0 {
                row.iter_mut().zip(&back).for_each(|(sum, b)| *sum += x * b);
            }
        }
    }

    /// Goes `length` times the gradient down, and leaves a gradient of 0 for the next step.
    pub fn descend(&mut self, length: f64, gradient: &mut Network) {
        for (w, g) in self.numbers_mut().zip(gradient.numbers_mut()) {
            *w -= length * *g;
            *g = 0.0;
        }
    }

    /// How it does on these images.
    pub fn score(&self, digits: &[Digit]) -> Score {
        let (mut loss, mut right) = (0.0, 0_usize);
        for digit in digits {
            let activity = self.look(digit);
            loss += activity.loss;
            let chance = activity.classes[digit.class];
            // No other is as probable; numbers that are none win nothing.
            let others = activity.classes.iter().enumerate().filter(|(c, _)| *c != digit.class);
            right += usize::from(others.into_iter().all(|(_, &other)| other < chance));
        }
        let n = digits.len() as f64;
        Score { loss: loss / n, accuracy: right as f64 / n }
    }

    fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.first.iter_mut().flatten().chain(self.second.iter_mut().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sgd::data;
    use lehr::math::rng::{Address, Purpose};

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let digits = &data::read().unwrap()[..3];
        let mut rng = Address::new(1, Purpose::Init, 0, 0).rng(0);
        let mut network = Network::random(&mut rng);
        let mut gradient = Network::zero();
        let weights = [1.0, -0.5, 2.5];
        for (digit, weight) in digits.iter().zip(weights) {
            network.add_gradient(digit, weight, &mut gradient);
        }
        let loss = |network: &Network| -> f64 {
            digits.iter().zip(weights).map(|(d, w)| w * network.look(d).loss).sum()
        };
        let gradient: Vec<f64> = gradient.numbers_mut().map(|g| *g).collect();
        assert_eq!(gradient.len(), 65 * 32 + 33 * 10);
        let (mut moved, step) = (0, 1e-5);
        for (i, &g) in gradient.iter().enumerate() {
            let mut at = |change: f64| {
                *network.numbers_mut().nth(i).unwrap() += change;
                let loss = loss(&network);
                *network.numbers_mut().nth(i).unwrap() -= change;
                loss
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            assert!((slope - g).abs() < 1e-8, "weight {i}: {slope} for {g}");
            moved += usize::from(g != 0.0);
        }
        assert!(moved > 1500, "only {moved} weights matter");
    }

    #[test]
    fn a_network_learns_what_it_is_shown() {
        let digits = &data::read().unwrap()[..20];
        let mut network = Network::random(&mut Address::new(1, Purpose::Init, 0, 0).rng(0));
        let before = network.score(digits);
        let mut gradient = Network::zero();
        for _ in 0..300 {
            digits.iter().for_each(|d| network.add_gradient(d, 1.0 / 20.0, &mut gradient));
            network.descend(0.5, &mut gradient);
        }
        let after = network.score(digits);
        assert!(before.loss > 2.0 && after.loss < 0.1, "{before:?}, then {after:?}");
        assert_eq!(after.accuracy, 1.0);
    }
}
