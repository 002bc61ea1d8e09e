//! A driver whose fits run on workers: what it drives, and where that is kept, are those of one machine.

use std::sync::{Mutex, PoisonError};

use super::{Hands, Remote, pack};
use crate::Result;
use crate::engine::Sizes;
use crate::fit::drive::Restarts;
use crate::fit::{self, Driver, Fitted, Resume, Session, Watcher};
use crate::model::SharedModel;
use crate::models::Stored;
use crate::store::Run;

/// Runs fits as [`Restarts`] does, with the local steps on workers. For [`fit_with`](crate::store::fit_with) and
/// [`resume_with`](crate::store::resume_with), on data that are the shards of a folder.
pub struct OnWorkers<'a>(Mutex<&'a mut dyn Hands>);

impl<'a> OnWorkers<'a> {
    /// Workers that these hands reach.
    pub fn new(hands: &'a mut dyn Hands) -> Self {
        OnWorkers(Mutex::new(hands))
    }

    /// The exact bound of a fitted model on all items of the data that it was fitted to, which have these `sizes`.
    pub fn bound<M: SharedModel + Stored>(&self, run: &Run<M>, sizes: Sizes) -> Result<f64> {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hands.model(pack(&run.model)?)?;
        let mut remote = Remote::new(&run.model, sizes, &mut **hands)?;
        fit::bound(&run.model, run.lambda(), &mut remote)
    }
}

impl<M: SharedModel + Stored> Driver<M> for OnWorkers<'_> {
    fn drive(
        &self,
        session: &mut Session<'_, M>,
        resume: Option<Resume>,
        watcher: &mut dyn Watcher,
    ) -> Result<Fitted> {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Session { model, data, heldout, plan, engine, start, meter, stop } = session;
        hands.model(pack(*model)?)?;
        let mut remote = Remote::new(*model, engine.sizes().clone(), &mut **hands)?;
        let mut elsewhere = Session {
            model: *model,
            data: *data,
            heldout: *heldout,
            plan,
            engine: &mut remote,
            start: *start,
            meter: std::mem::take(meter),
            stop: stop.clone(),
        };
        let fitted = Restarts.drive(&mut elsewhere, resume, watcher);
        *meter = elsewhere.meter;
        fitted
    }
}
