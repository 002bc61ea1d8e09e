//! A fit's progress as a safetensors file: numpy reads lambda without us, and we notice any change.
//!
//! Tensors, f64 unless stated: `lambda`, the model to use (the best finished restart, or
//! the only run); `hyper`, its learned hyperparameters, if any; what the model adds in the user's
//! units (a mixture: `weights`, `means`, `covariances`; LDA: `alpha`, `eta`). If the run under way is
//! another one, or has rows that are not up to date, or local state: `climb.lambda`, `climb.hyper`,
//! `climb.since`, `climb.totals` and (f32) `climb.warm`; the same for every state that a driver holds,
//! from `driver.0.lambda` on. The metadata hold the rest of the progress as JSON under `progress`, under
//! `observations` how many lines of the trace belong to it, and a checksum of everything under `checksum`.

mod meta;
mod reader;
mod writer;

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::Dtype;
use xxhash_rust::xxh3::Xxh3;

use crate::models::Stored;
use crate::{Error, Result, write};

use super::saved::Saved;

pub use meta::FORMAT;
pub use reader::from_bytes;
pub use writer::to_bytes;
pub(crate) use writer::{up_to_date, with_pieces};

/// Writes a checkpoint in one step: whatever happens, `path` holds the old one or the new one.
pub fn save<M: Stored>(path: &Path, model: &M, saved: &Saved) -> Result<()> {
    write::whole(path, &to_bytes(model, saved, None)?)
}

/// Reads a checkpoint of this model, refusing one that is cut, changed or of another model.
pub fn load<M: Stored>(path: &Path, model: &M) -> Result<Saved> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, "cannot read", error))?;
    Ok(from_bytes(&bytes, path, model)?.0)
}

/// Covers all metadata but the checksum itself, and every tensor's name, type, shape and bytes, in
/// order of names.
fn checksum<'a>(
    metadata: &HashMap<String, String>,
    tensors: impl Iterator<Item = (&'a str, (Dtype, &'a [usize], &'a [u8]))>,
) -> String {
    let mut hash = Xxh3::new();
    let mut texts: Vec<_> = metadata.iter().filter(|(key, _)| *key != "checksum").collect();
    texts.sort();
    for (key, text) in texts {
        hash.update(format!("{key:?} {text:?}\n").as_bytes());
    }
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_by_key(|tensor| tensor.0);
    for (name, (dtype, shape, bytes)) in tensors {
        hash.update(format!("{name:?} {dtype:?} {shape:?}\n").as_bytes());
        hash.update(bytes);
    }
    format!("{:032x}", hash.digest128())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{Docs, Points};
    use crate::fit::stop::StopReason;
    use crate::fit::{DriverPart, Outcome, Progress, State, fit};
    use crate::models::{Lda, LdaParams, Mixture, MixtureParams};
    use crate::settings::FitConfig;

    /// A state after this many steps, as it is in the middle of a fit.
    fn state<M: Stored>(model: &M, data: &M::Data, config: FitConfig) -> State {
        struct Last(Option<State>);
        impl crate::fit::Watcher for Last {
            fn after_step(&mut self, state: &State, _: &dyn Fn() -> Progress) -> Result<()> {
                self.0 = Some(state.clone());
                Ok(())
            }
        }
        let mut last = Last(None);
        fit(model, data).config(config).threads(1).watch(&mut last).run().unwrap();
        last.0.expect("it makes a step")
    }

    fn steps(steps: u64, seed: u64) -> FitConfig {
        FitConfig { steps: Some(steps), tol: 0.0, seed, ..FitConfig::default() }
    }

    fn again<M: Stored>(model: &M, saved: &Saved) -> Saved {
        let bytes = to_bytes(model, saved, Some(7)).unwrap();
        let (again, observations) = from_bytes(&bytes, Path::new("x"), model).unwrap();
        assert_eq!(observations, Some(7));
        again
    }

    /// Every mixture of what a fit under way can have.
    fn survives<M: Stored>(model: &M, states: [State; 3], best: State) {
        let [climb, first, second] = states;
        let outcome =
            Outcome { restart: 0, bound: -3.5, steps: 9, stop: StopReason::Steps, search: None };
        let part = |states| DriverPart {
            name: "hops".to_string(),
            run: 4,
            notes: json!({"phase": "down", "bound": -1.0 / 3.0, "tried": [1, 2]}),
            states,
        };
        let drivers = [None, Some(part(vec![])), Some(part(vec![first.clone(), second]))];
        for driver in drivers {
            for best in [None, Some((0, best.clone()))] {
                let done = best.iter().map(|_| outcome.clone()).collect();
                let restart = u32::from(best.is_some());
                let state = climb.clone();
                let held = driver.as_ref().and_then(|driver| driver.states.first().cloned());
                let model_state =
                    best.as_ref().map(|(_, state)| state.clone()).or(held).unwrap_or(state.clone());
                let driver = driver.clone();
                let saved = Saved::Pending(Progress { restart, state, done, best, driver });
                assert_eq!(saved.model_state(), &model_state);
                assert_eq!(again(model, &saved), saved);
            }
        }
    }

    #[test]
    fn a_drivers_part_survives_with_all_its_bits() {
        let points = (0..200).map(|n| f64::from(n % 2 * 9 + n % 7)).collect();
        let points = Points::new(points, 1).unwrap();
        let mixture = Mixture::new(MixtureParams::gmm(2), &points).unwrap();
        let of = |n, seed| state(&mixture, &points, steps(n, seed));
        survives(&mixture, [of(5, 1), of(3, 2), of(2, 3)], of(4, 4));
    }

    #[test]
    fn lazy_rows_and_local_state_of_a_driver_survive() {
        let doc = |n: u32| vec![(n % 40, 2.0), ((7 * n + 3) % 40, 1.0)];
        let docs = Docs::from_rows((0..60).map(doc), 40).unwrap();
        let lda = Lda::new(LdaParams::fixed(3), &docs).unwrap();
        let of = |n, seed, warm| {
            state(&lda, &docs, FitConfig { batch: Some(5), warm, ..steps(n, seed) })
        };
        let states = [of(5, 1, true), of(3, 2, false), of(2, 3, true)];
        assert!(states.iter().all(|state| !state.lambda.is_current()));
        // What has ended is up_to_date, and its items' state is let go.
        let mut best = of(4, 4, false);
        best.lambda = up_to_date(&lda, &best.lambda).into_owned();
        survives(&lda, states, best);
    }

    #[test]
    fn a_plain_fit_is_laid_out_as_ever() {
        let points = Points::new((0..20).map(f64::from).collect(), 1).unwrap();
        let mixture = Mixture::new(MixtureParams::gmm(2), &points).unwrap();
        let state = state(&mixture, &points, steps(2, 1));
        let saved = Saved::Pending(Progress {
            restart: 0,
            state,
            done: Vec::new(),
            best: None,
            driver: None,
        });
        let bytes = to_bytes(&mixture, &saved, None).unwrap();
        let tensors = super::super::tensors::Tensors::open(&bytes, Path::new("x")).unwrap();
        let mut names: Vec<String> = tensors.views().into_iter().map(|(name, _)| name).collect();
        names.sort();
        assert_eq!(names, ["covariances", "lambda", "means", "weights"]);
        let progress: serde_json::Value =
            serde_json::from_str(&tensors.metadata["progress"]).unwrap();
        let keys: Vec<&String> = progress.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            ["best", "best_counters", "climb", "complete", "done", "format", "restart"]
        );
    }
}
