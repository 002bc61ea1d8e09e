//! Looking at a fit: the bound with every constant, scores and measures, in the form of the trace.

use std::collections::BTreeMap;

use super::Fit;
use crate::Result;
use crate::fit::Observation;
use crate::fit::stop::Change;
use crate::lambda::Lambda;
use crate::model::{Ask, Model, Stats, score};
use crate::step::engine::{Engine, Sums, Work};
use crate::step::pass::Pass;
use crate::step::sample::Sampling;
use crate::step::warm::Warm;

impl<M: Model> Fit<'_, M> {
    /// The state in the form of the trace; an error if the bound is not a number. `sums` are of a pass over
    /// it; `closing`: outside of the plan's rhythm.
    pub(super) fn observe(&mut self, sums: &Sums, closing: bool) -> Result<Observation> {
        let (bound, counted) = self.bound(sums)?;
        let n_items = self.engine.sizes().n_items;
        self.state.seconds = self.seconds();
        if !bound.is_finite() {
            return Err(self.diverged(bound));
        }
        if self.heldout.is_some() {
            self.gather()?;
        }
        let (measures, heldout) = self.judge()?;
        let (plan, state) = (self.plan, &self.state);
        let batch = plan.batch.unwrap_or(n_items);
        // Where every row has its own batch, M and the temperature are those of the largest.
        let (size, population) = plan.block.map_or((batch, plan.population), |size| (size, size));
        let last = state.step.max(1);
        let own = plan.own_step(last).max(1);
        let effective = plan.anneal(self.id.stream()).effective_at(own, size);
        let rho = plan.step_size.at(last, effective.is_some());
        // All items, once each and without annealing: nothing is random.
        let is_random = effective.is_some()
            || batch < n_items
            || plan.batch.is_some() && plan.sampling == Sampling::WithReplacement;
        let effective = effective.unwrap_or(size as f64);
        Ok(Observation {
            restart: self.id.restart,
            run: self.id.run,
            step: state.step,
            seconds: state.seconds,
            items: state.items,
            rho,
            effective,
            batch,
            temperature: if is_random { rho * population as f64 / (2.0 * effective) } else { 0.0 },
            bound,
            bound_sample: (counted < n_items).then_some(counted),
            heldout,
            guard_hits: state.guard_hits,
            measures,
            closing,
            event: None,
        })
    }

    /// The bound of the state before the next update, and how many items it is evaluated on.
    pub(super) fn bound(&mut self, sums: &Sums) -> Result<(f64, usize)> {
        let (model, lambda) = (self.model, &self.state.lambda);
        if self.plan.batch.is_none() {
            let n_items = self.engine.sizes().n_items;
            let global = model.global_bound(lambda, &self.expect);
            return Ok((self.plan.share(n_items) * sums.bound + global, n_items));
        }
        // The fit's own expectations may be of before the last update.
        let (local, counted, expect) =
            evaluate(model, lambda, &mut *self.engine, &self.bound_items)?;
        Ok((self.plan.share(counted) * local + model.global_bound(lambda, &expect), counted))
    }

    /// What the model has to tell of this state, and the score of the held-out items.
    fn judge(&self) -> Result<(BTreeMap<String, f64>, Option<f64>)> {
        let Fit { model, plan, state, heldout, .. } = self;
        let mut measures: BTreeMap<String, f64> = BTreeMap::new();
        let mut note = |numbers: Vec<(&'static str, f64)>| {
            measures.extend(numbers.into_iter().map(|(name, x)| (name.to_string(), x)));
        };
        if let Some(judge) = model.judge() {
            note(judge.measures(&state.lambda, plan.population));
        }
        if plan.guard_for(*model)?.works_on_entries() {
            note(vec![("clamped_share", state.guard_share())]);
        }
        let heldout = heldout.map(|data| {
            let scores = score(*model, &state.lambda, data, plan.population);
            note(scores.named);
            scores.main
        });
        Ok((measures, heldout))
    }

    /// The words that a perplexity is per, if the plan stops by one.
    pub(super) fn words(&self) -> Option<f64> {
        let judge = self.model.judge().filter(|_| self.plan.tol_of == Change::Perplexity)?;
        judge.words(self.plan.population)
    }
}

/// The exact bound on all items of an engine: the items' parts plus the global part.
pub fn bound<M: Model>(model: &M, lambda: &Lambda, engine: &mut dyn Engine<M>) -> Result<f64> {
    let everything: Vec<u32> = (0..engine.sizes().n_items as u32).collect();
    let (local, _, expect) = evaluate(model, lambda, engine, &everything)?;
    Ok(local + model.global_bound(lambda, &expect))
}

/// The sum of some items' parts of the bound, each as exactly as can be, how many items that are, and the
/// expectations of the rows that they touch.
fn evaluate<M: Model>(
    model: &M,
    lambda: &Lambda,
    engine: &mut dyn Engine<M>,
    items: &[u32],
) -> Result<(f64, usize, M::Expect)> {
    let layout = model.layout();
    let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
    let mut expect = M::Expect::default();
    let (batch, rows) = M::Pass::for_bound(model, engine, lambda, items, &mut expect)?;
    stats.rows = rows;
    let work = Work { model, expect: &expect, batch: &batch, ask: Ask::EVALUATE, defers: false };
    let sums = engine.sum(work, &mut Warm::off(), &mut stats)?;
    Ok((sums.bound, M::Pass::counted(&batch), expect))
}
