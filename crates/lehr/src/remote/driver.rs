//! A driver whose fits run on workers: what it drives, and where that is kept, are those of one machine.

use std::sync::{Mutex, PoisonError};

use super::model::Packed;
use super::users::Users;
use super::wire::encode;
use super::{Hands, Remote, pack};
use crate::Result;
use crate::engine::{Engine, Sizes};
use crate::fit::drive::Restarts;
use crate::fit::{self, Driver, Fitted, Resume, Session, Watcher};
use crate::models::{Lda, Mixture, Pmf, Stored};
use crate::shards::Sharded;
use crate::store::Run;

/// A model that workers fit to the shards of a folder.
pub trait OnShards: Stored<Data: Sharded> {
    /// The model as it is sent to workers.
    fn packed(&self) -> Result<Vec<u8>>;

    /// An engine for items of these sizes whose tasks `hands` have done.
    fn remote<'a>(
        &'a self,
        sizes: Sizes,
        hands: &'a mut dyn Hands,
    ) -> Result<Box<dyn Engine<Self> + 'a>>;
}

macro_rules! shares_a_batch {
    ($($Model:ty),*) => {$(
        impl OnShards for $Model {
            fn packed(&self) -> Result<Vec<u8>> {
                pack(self)
            }

            fn remote<'a>(
                &'a self,
                sizes: Sizes,
                hands: &'a mut dyn Hands,
            ) -> Result<Box<dyn Engine<Self> + 'a>> {
                Ok(Box::new(Remote::new(self, sizes, hands)?))
            }
        }
    )*};
}
shares_a_batch!(Lda, Mixture);

impl OnShards for Pmf {
    fn packed(&self) -> Result<Vec<u8>> {
        Ok(encode(&Packed::settings_of(self)))
    }

    fn remote<'a>(
        &'a self,
        sizes: Sizes,
        hands: &'a mut dyn Hands,
    ) -> Result<Box<dyn Engine<Self> + 'a>> {
        Ok(Box::new(Users::new(self, sizes, Box::new(hands))?))
    }
}

/// Runs fits as [`Restarts`] does, with the local steps on workers. For [`fit_with`](crate::store::fit_with) and
/// [`resume_with`](crate::store::resume_with), on data that are the shards of a folder.
pub struct OnWorkers<'a>(Mutex<&'a mut dyn Hands>);

impl<'a> OnWorkers<'a> {
    /// Workers that these hands reach.
    pub fn new(hands: &'a mut dyn Hands) -> Self {
        OnWorkers(Mutex::new(hands))
    }

    /// The exact bound of a fitted model on all items of the data that it was fitted to, which have these `sizes`.
    pub fn bound<M: OnShards>(&self, run: &Run<M>, sizes: Sizes) -> Result<f64> {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hands.model(run.model.packed()?)?;
        let mut remote = run.model.remote(sizes, &mut **hands)?;
        fit::bound(&run.model, run.lambda(), &mut *remote)
    }
}

impl<M: OnShards> Driver<M> for OnWorkers<'_> {
    fn drive(
        &self,
        session: &mut Session<'_, M>,
        resume: Option<Resume>,
        watcher: &mut dyn Watcher,
    ) -> Result<Fitted> {
        let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Session { model, data, heldout, plan, engine, start, meter, stop } = session;
        hands.model(model.packed()?)?;
        let mut remote = model.remote(engine.sizes().clone(), &mut **hands)?;
        let mut elsewhere = Session {
            model: *model,
            data: *data,
            heldout: *heldout,
            plan,
            engine: &mut *remote,
            start: *start,
            meter: std::mem::take(meter),
            stop: stop.clone(),
        };
        let fitted = Restarts.drive(&mut elsewhere, resume, watcher);
        *meter = elsewhere.meter;
        fitted
    }
}
