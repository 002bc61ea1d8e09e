//! Follows a fit: its observations become the curve of a record.

use lehr::fit::Observation;
use lehr::fit::{FitBuilder, Fitted, Watcher};
use lehr::model::Model;

use crate::Stop;
use crate::records::{Point, Record};

/// Notes what a fit shows, until it is asked to stop.
pub struct Follower<'a> {
    stop: Stop<'a>,
    /// The observations so far.
    pub points: Vec<Point>,
}

impl<'a> Follower<'a> {
    /// Nothing seen yet.
    pub fn new(stop: Stop<'a>) -> Self {
        Follower { stop, points: Vec::new() }
    }
}

impl Watcher for Follower<'_> {
    fn observe(&mut self, o: &Observation) -> lehr::Result<()> {
        let heldout = o.heldout.map(|score| ("heldout".to_string(), score));
        let own = [("bound".to_string(), o.bound), ("guard_hits".to_string(), o.guard_hits as f64)];
        let measures = o.measures.iter().map(|(name, &x)| (name.clone(), x));
        let values = own.into_iter().chain(heldout).chain(measures);
        let values = values.filter(|(_, x)| x.is_finite()).collect();
        self.points.push(Point { step: o.step, items: o.items, values });
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        (self.stop)()
    }
}

/// Fits in this thread; the record gets the curve and, as final numbers, the values of its last point
/// and the number of `steps`. `None` if it was stopped.
///
/// A start is a seed: the same seed gives every method the same start, and the same batches to those
/// that draw batches of the same size.
pub fn observe<M: Model>(
    fit: FitBuilder<'_, M>,
    stop: Stop<'_>,
    record: &mut Record,
) -> anyhow::Result<Option<Fitted>> {
    let mut follower = Follower::new(stop);
    let found = fit.threads(1).watch(&mut follower).run()?;
    if !found.is_complete() {
        return Ok(None);
    }
    record.curve = follower.points;
    if let Some(last) = record.curve.last() {
        record.end.extend(last.values.clone());
        record.end.insert("steps".into(), last.step as f64);
    }
    Ok(Some(found))
}
