//! Turns a fit's progress into the bytes of a checkpoint.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::saved::Saved;
use super::super::tensors::{Array, pieces};
use super::checksum;
use super::meta::{Counters, Driver, FORMAT, Meta};
use crate::Result;
use crate::fit::{Progress, State};
use crate::lambda::Lambda;
use crate::math::table::Table;
use crate::models::{NamedArray, Stored};

/// The bytes of a checkpoint; `observations` lines of the trace belong to it, if that is known.
pub fn to_bytes<M: Stored>(model: &M, saved: &Saved, observations: Option<u64>) -> Result<Vec<u8>> {
    with_pieces(model, saved, observations, |pieces| Ok(pieces.concat()))
}

/// The same as pieces that follow each other: a table is as large as all the rest, and is written from where it lies.
pub(crate) fn with_pieces<M: Stored, T>(
    model: &M,
    saved: &Saved,
    observations: Option<u64>,
    then: impl FnOnce(&[&[u8]]) -> Result<T>,
) -> Result<T> {
    let lambda = &saved.model_state().lambda;
    let current = up_to_date(model, lambda);
    let readable = model.readable(&current);
    let mut arrays = vec![("lambda".to_string(), table(current.table()))];
    if !lambda.hyper.is_empty() {
        arrays.push(("hyper".to_string(), Array::list(&lambda.hyper)));
    }
    for NamedArray { name, shape, values } in &readable {
        arrays.push((name.to_string(), Array::new(shape.clone(), values)));
    }
    if let Saved::Pending(progress) = saved {
        progress_arrays(progress, &mut arrays);
    }
    let progress = serde_json::to_string(&meta(saved)).expect("plain numbers become JSON");
    let mut metadata = HashMap::from([
        ("progress".to_string(), progress),
        ("lehr".to_string(), env!("CARGO_PKG_VERSION").to_string()),
        ("model".to_string(), model.name().to_string()),
    ]);
    metadata.extend(observations.map(|n| ("observations".to_string(), n.to_string())));
    let parts = arrays.iter().map(|(name, array)| (name.as_str(), array.parts()));
    metadata.insert("checksum".to_string(), checksum(&metadata, parts));
    pieces(&arrays, Some(metadata), then)
}

fn meta(saved: &Saved) -> Meta {
    match saved {
        Saved::Complete(state, best, outcomes) => Meta {
            format: FORMAT,
            complete: true,
            restart: outcomes[*best].restart,
            climb: Counters::of(state),
            done: outcomes.clone(),
            best: Some(*best),
            best_counters: None,
            driver: None,
        },
        Saved::Pending(Progress { restart, state, done, best, driver }) => Meta {
            format: FORMAT,
            complete: false,
            restart: *restart,
            climb: Counters::of(state),
            done: done.clone(),
            best: best.as_ref().map(|(at, _)| *at),
            best_counters: best.as_ref().map(|(_, state)| Counters::of(state)),
            driver: driver.as_ref().map(Driver::of),
        },
    }
}

/// The run under way, if `lambda` does not say all about it, and the states of the driver.
fn progress_arrays<'a>(progress: &'a Progress, arrays: &mut Vec<(String, Array<'a>)>) {
    let Progress { state, best, driver, .. } = progress;
    let held = driver.as_ref().map_or(&[][..], |driver| &driver.states);
    // A lazy lambda's totals are kept along; summed again they would differ in their last bits.
    let lazy = state.lambda.parts().1.is_some();
    if best.is_some() || !held.is_empty() || lazy || state.warm.is_on() {
        state_arrays("climb", state, arrays);
    }
    for (at, state) in held.iter().enumerate() {
        state_arrays(&format!("driver.{at}"), state, arrays);
    }
}

/// The arrays of a state, from which it can go on to the last bit.
fn state_arrays<'a>(prefix: &str, state: &'a State, arrays: &mut Vec<(String, Array<'a>)>) {
    let mut push = |name: &str, array| arrays.push((format!("{prefix}.{name}"), array));
    let (stored, lazy) = state.lambda.parts();
    push("lambda", table(stored));
    if !state.lambda.hyper.is_empty() {
        push("hyper", Array::list(&state.lambda.hyper));
    }
    if let Some(lazy) = lazy {
        push("since", Array::list(&lazy.since));
        push("totals", Array::list(&lazy.totals));
    }
    if state.warm.is_on() {
        push("warm", Array::list(state.warm.values()));
    }
}

fn table(table: &Table) -> Array<'_> {
    Array::new(vec![table.n_rows(), table.width()], table.values())
}

/// The natural parameters with every row up to date.
pub(crate) fn up_to_date<'a, M: Stored>(model: &M, lambda: &'a Lambda) -> Cow<'a, Lambda> {
    if lambda.is_current() {
        return Cow::Borrowed(lambda);
    }
    let hyper = lambda.hyper.clone();
    let table = lambda.current(|row, eta| model.prior(&hyper, row, eta));
    Cow::Owned(Lambda::new(table, model.layout().lazy, hyper))
}
