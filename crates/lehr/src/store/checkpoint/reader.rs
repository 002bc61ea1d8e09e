//! Reads a checkpoint from bytes; everything in it is checked before it is used.

use std::path::Path;

use super::super::saved::Saved;
use super::super::tensors::Tensors;
use super::checksum;
use super::meta::{Counters, Driver, FORMAT, Meta};
use crate::fit::{DriverPart, Progress, State};
use crate::lambda::{Lambda, Lazy};
use crate::math::table::Table;
use crate::model::{Layout, check_rows, hyper_of};
use crate::models::Stored;
use crate::step::warm::Warm;
use crate::{Error, Result};

/// Reads what [`to_bytes`](super::to_bytes) has written, and the observations that go with it, if that
/// is known. `path` is what messages call the bytes.
pub fn from_bytes<M: Stored>(bytes: &[u8], path: &Path, model: &M) -> Result<(Saved, Option<u64>)> {
    let tensors = Tensors::open(bytes, path)?;
    let reader = Reader { tensors, path, model, layout: model.layout() };
    reader.check_sum()?;
    reader.check_version()?;
    reader.check_model()?;
    let observations = reader.tensors.metadata.get("observations");
    let observations = observations.and_then(|n| n.parse().ok());
    Ok((reader.saved(reader.meta()?)?, observations))
}

struct Reader<'a, M> {
    tensors: Tensors<'a>,
    path: &'a Path,
    model: &'a M,
    layout: Layout,
}

impl<M: Stored> Reader<'_, M> {
    fn damaged(&self, what: &str) -> Error {
        self.tensors.damaged(what)
    }

    fn text(&self, name: &str) -> Result<&str> {
        let text = self.tensors.metadata.get(name);
        text.map(String::as_str).ok_or_else(|| self.damaged(&format!("no {name} in it")))
    }

    fn check_sum(&self) -> Result<()> {
        self.text("progress")?;
        let views = self.tensors.views();
        let parts = views.iter().map(|(name, v)| (&**name, (v.dtype(), v.shape(), v.data())));
        match checksum(&self.tensors.metadata, parts) == self.text("checksum")? {
            true => Ok(()),
            false => Err(self.damaged("its checksum does not match its content")),
        }
    }

    /// Before all else, which another version may lay out differently.
    fn check_version(&self) -> Result<()> {
        let format = serde_json::from_str::<serde_json::Value>(self.text("progress")?)
            .ok()
            .and_then(|meta| meta.get("format")?.as_u64());
        if format == Some(u64::from(FORMAT)) {
            return Ok(());
        }
        let found = format.map_or("no version".to_string(), |f| format!("version {f}"));
        Err(Error::run(
            self.path,
            format!(
                "holds {found} of the format, and this lehr reads version {FORMAT}; update lehr"
            ),
        ))
    }

    fn check_model(&self) -> Result<()> {
        let name = self.tensors.metadata.get("model").map_or("?", String::as_str);
        let expected = self.model.name();
        if name == expected {
            return Ok(());
        }
        Err(Error::run(
            self.path,
            format!("holds a {name} where config.json has a {expected}; do not mix runs"),
        ))
    }

    fn meta(&self) -> Result<Meta> {
        let meta: Meta = serde_json::from_str(self.text("progress")?)
            .map_err(|error| self.damaged(&error.to_string()))?;
        let is_there = match meta.best {
            Some(at) => at < meta.done.len(),
            None => !meta.complete,
        };
        if is_there { Ok(meta) } else { Err(self.damaged("its best restart does not exist")) }
    }

    fn saved(&self, meta: Meta) -> Result<Saved> {
        let lambda = self.model_lambda()?;
        if let (true, Some(best)) = (meta.complete, meta.best) {
            return Ok(Saved::Complete(meta.climb.with(lambda, Warm::off()), best, meta.done));
        }
        let holds_states = meta.driver.as_ref().is_some_and(|driver| !driver.states.is_empty());
        let needs_climb = meta.best.is_some() || holds_states;
        let (state, best) = match (self.tensors.has("climb.lambda"), meta.best, meta.best_counters)
        {
            (false, ..) if needs_climb => return Err(self.damaged("its run under way is missing")),
            (_, Some(_), None) => return Err(self.damaged("its best restart has no counters")),
            (true, Some(at), Some(counters)) => {
                let best = counters.with(lambda, Warm::off());
                (self.state("climb", meta.climb)?, Some((at, best)))
            }
            (true, None, _) => (self.state("climb", meta.climb)?, None),
            (false, ..) => (meta.climb.with(lambda, Warm::off()), None),
        };
        let driver = meta.driver.map(|driver| self.driver(driver)).transpose()?;
        let (restart, done) = (meta.restart, meta.done);
        Ok(Saved::Pending(Progress { restart, state, done, best, driver }))
    }

    /// The model to use, every row up to date.
    fn model_lambda(&self) -> Result<Lambda> {
        let hyper = self.list("hyper")?.unwrap_or_default();
        Ok(Lambda::new(self.table("lambda", &hyper)?, self.layout.lazy, hyper))
    }

    fn driver(&self, driver: Driver) -> Result<DriverPart> {
        let Driver { name, run, notes, states } = driver;
        let state = |(at, counters)| self.state(&format!("driver.{at}"), counters);
        let states = states.into_iter().enumerate().map(state).collect::<Result<_>>()?;
        Ok(DriverPart { name, run, notes, states })
    }

    /// A state with all its bits.
    fn state(&self, prefix: &str, counters: Counters) -> Result<State> {
        let part = |name: &str| format!("{prefix}.{name}");
        let hyper = self.list(&part("hyper"))?.unwrap_or_default();
        let stored = self.table(&part("lambda"), &hyper)?;
        let (since, totals) = (self.list(&part("since"))?, self.list(&part("totals"))?);
        let lazy = match (self.layout.lazy, since, totals) {
            (false, None, None) => None,
            (true, Some(since), Some(totals)) => {
                Some(Lazy { since, now: counters.now.unwrap_or(0.0), totals })
            }
            _ => return Err(self.damaged("its lambda lacks a part, or has one too many")),
        };
        let lambda = Lambda::from_parts(stored, lazy, hyper)
            .ok_or_else(|| self.damaged("the parts of its lambda do not fit together"))?;
        Ok(counters.with(lambda, self.warm(&part("warm"))?))
    }

    fn warm(&self, name: &str) -> Result<Warm> {
        let Some((_, values)) = self.tensors.find::<f32>(name)? else { return Ok(Warm::off()) };
        let width = self.model.warm_width();
        Warm::from_values(values.len().checked_div(width).unwrap_or(0), width, values)
            .ok_or_else(|| self.damaged("its local state does not fit the model"))
    }

    fn list(&self, name: &str) -> Result<Option<Vec<f64>>> {
        Ok(self.tensors.find(name)?.map(|(_, values)| values))
    }

    /// A table of natural parameters, every row of which is valid.
    fn table(&self, name: &str, hyper: &[f64]) -> Result<Table> {
        let (shape, values) = self
            .tensors
            .find(name)?
            .ok_or_else(|| self.damaged(&format!("there is no {name} in it")))?;
        let Layout { n_rows, width, .. } = self.layout;
        if shape != [n_rows, width] {
            return Err(self.damaged("lambda has another shape than the model"));
        }
        let table = Table::from_values(n_rows, width, values)
            .ok_or_else(|| self.damaged("lambda has another size than its shape"))?;
        let fits = hyper.len() == hyper_of(self.model).len() && hyper.iter().all(|x| x.is_finite());
        if fits && are_valid(self.model, hyper, &table) {
            Ok(table)
        } else {
            Err(self.damaged("lambda is not a valid parameter"))
        }
    }
}

/// Whether every row is a valid parameter.
fn are_valid<M: Stored>(model: &M, hyper: &[f64], table: &Table) -> bool {
    const TESTED: usize = 32;
    let rows: Vec<usize> = (0..table.n_rows()).collect();
    rows.chunks(TESTED).all(|rows| {
        let width = table.width();
        let values = &table.values()[rows[0] * width..][..rows.len() * width];
        let mut valid = [false; TESTED];
        check_rows(model, hyper, rows, values, false, &mut valid[..rows.len()]);
        values.iter().all(|x| x.is_finite()) && valid[..rows.len()].iter().all(|&valid| valid)
    })
}
