//! Who looks on while a fit runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Result;
use crate::data::Count;
use crate::error::Advice;
use crate::fit::Observation;
use crate::fit::state::{Progress, State};
use crate::settings::Plan;

/// Looks on while a fit runs. The loop knows nothing of files, terminals or signals.
pub trait Watcher: Send {
    /// The fit is about to go on from `progress`.
    fn begins(&mut self, _plan: &Plan, _progress: &Progress) {}

    /// The bound was evaluated, or the driver has something to tell.
    fn observe(&mut self, _observation: &Observation) -> Result<()> {
        Ok(())
    }

    /// Whether [`Watcher::after_step`] may ask for what is to be saved of this step: what lies elsewhere is brought here
    /// only then.
    fn saves(&mut self, _step: u64) -> bool {
        true
    }

    /// An update was made, or a run ended: the moment to save. `progress` makes what to save.
    fn after_step(&mut self, _state: &State, _progress: &dyn Fn() -> Progress) -> Result<()> {
        Ok(())
    }

    /// Where the driver stands, in a few words: `start 2/5`.
    fn stage(&mut self, _line: &str) {}

    /// Items of a file were read, of which this is worth counting.
    fn reads(&mut self, _counts: &[Count]) {}

    /// Something is not as it should be, and the fit goes on all the same.
    fn warn(&mut self, _message: &str) {}

    /// Something about the data or the model that a user should know.
    fn note(&mut self, _note: &Advice) {}

    /// A flag that is raised when the fit is to stop at once: a step under way is then not made. It is never
    /// lowered again while the fit goes on.
    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// Should the fit stop after the current step?
    fn wants_stop(&self) -> bool {
        self.stop_flag().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Watches nothing.
impl Watcher for () {
    fn saves(&mut self, _step: u64) -> bool {
        false
    }
}
