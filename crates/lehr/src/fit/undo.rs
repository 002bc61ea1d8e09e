//! A step that a stop cuts short was never made: work that may be left in the middle, and what then puts the state
//! back.

use std::time::Instant;

use super::{Fit, State};
use crate::lambda::Lambda;
use crate::memory;
use crate::model::Model;
use crate::step::pass::Pass;
use crate::step::warm::Warm;
use crate::{ErrorKind, Result};

/// What the state was before the step under way.
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// Its local states, if items keep any and the step is long.
    warm: Option<Warm>,
    /// Its natural parameters, if the update is long.
    lambda: Option<Lambda>,
    items: u64,
    guard_hits: u64,
    guard_checks: u64,
    /// When the step started.
    began: Option<Instant>,
}

impl Undo {
    /// Before a step. Items' local states are overwritten by its first pass: a full batch has time for a copy of
    /// them, and what is smaller is soon done.
    pub(super) fn before(state: &State, full: bool) -> Self {
        let State { items, guard_hits, guard_checks, warm, .. } = state;
        Undo {
            warm: (warm.is_on() && full).then(|| warm.clone()),
            lambda: None,
            items: *items,
            guard_hits: *guard_hits,
            guard_checks: *guard_checks,
            began: Some(Instant::now()),
        }
    }

    fn put_back(&mut self, state: &mut State) {
        if let Some(warm) = self.warm.take() {
            state.warm = warm;
        }
        if let Some(lambda) = self.lambda.take() {
            state.lambda = lambda;
        }
        state.items = self.items;
        state.guard_hits = self.guard_hits;
        state.guard_checks = self.guard_checks;
    }
}

impl<M: Model> Fit<'_, M> {
    /// Does a part of a step that leaves lambda alone, unless a stop is asked for in the middle of it: then the state
    /// is that before the step, and the error says why.
    pub(super) fn unless_stopped<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        // Without a copy the local states would be newer than lambda.
        let undoable = !self.state.warm.is_on() || self.undo.warm.is_some();
        self.heeding(undoable, work)
    }

    /// The same for the update. Where that is long a copy of lambda is kept meanwhile, if there is room for it. Lazy
    /// rows are as quickly updated as copied.
    pub(super) fn update_unless_stopped<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let begun =
            self.undo.began.map_or(self.beginning, |began| began.elapsed() + self.beginning);
        let is_long = begun >= <M::Pass as Pass<M>>::LONG;
        let bytes = size_of_val(self.state.lambda.parts().0.values()) as u64;
        let copies = is_long && !self.model.layout().lazy && bytes <= memory::available() / 2;
        self.undo.lambda = copies.then(|| self.state.lambda.clone());
        let undoable = copies && (!self.state.warm.is_on() || self.undo.warm.is_some());
        let mark = self.engine.holder().map(|holder| holder.mark());
        let done = self.heeding(undoable, work);
        let is_undone =
            done.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Stopped(_)));
        if let (true, Some(mark), Some(holder)) = (is_undone, mark, self.engine.holder()) {
            holder.back(mark, &self.expect);
        }
        self.undo = Undo::default();
        done
    }

    fn heeding<T>(
        &mut self,
        undoable: bool,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if !undoable {
            return work(self);
        }
        let stop = self.stop.clone();
        match stop.heed(|| work(self)) {
            Ok(done) => done,
            Err(why) => {
                self.undo.put_back(&mut self.state);
                Err(ErrorKind::Stopped(why.into()).into())
            }
        }
    }
}
