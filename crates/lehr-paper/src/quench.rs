//! The end of a noisy run: batch VI goes on from where it stands until the bound stops changing.

use lehr::fit::{FitBuilder, State};
use lehr::model::Model;

use crate::curve::Follower;
use crate::{Record, Stop};

/// Runs `fit`, which should be batch VI, on from `state`. The record's curve goes on, and its bound becomes
/// the last. `None` if it was stopped.
pub fn quench<M: Model>(
    fit: FitBuilder<'_, M>,
    state: State,
    stop: Stop<'_>,
    record: &mut Record,
) -> anyhow::Result<Option<State>> {
    let mut follower = Follower::new(stop);
    let found = fit.threads(1).onwards(state).watch(&mut follower).run()?;
    if !found.is_complete() {
        return Ok(None);
    }
    // The first point is the last of the curve so far.
    record.curve.extend(follower.points.into_iter().skip(1));
    record.note("bound", found.outcome.bound);
    Ok(Some(found.state))
}

/// Keeps what a figure needs of a finished run's curve: the bound, often at first, later at every third
/// point. What its end says of the bound has names of its own by now.
pub fn thin(record: &mut Record) {
    record.end.retain(|name, _| name != "bound" && name != "guard_hits");
    const ALL: usize = 40;
    let last = record.curve.len().saturating_sub(1);
    let mut at = 0;
    record.curve.retain(|_| {
        at += 1;
        at <= ALL || at % 3 == 0 || at == last + 1
    });
    record.curve.iter_mut().for_each(|p| p.values.retain(|name, _| name == "bound"));
}

#[cfg(test)]
mod tests {
    use lehr::FitConfig;
    use lehr::models::mixture::{Defaults, Start};
    use lehr::models::{Mixture, MixtureParams};

    use super::*;
    use crate::fig3::data::overlapping;
    use crate::{Job, observe};

    #[test]
    fn a_quench_goes_on_where_the_run_ended_and_only_rises() {
        let points = overlapping(1, 120, 4).unwrap();
        let params = MixtureParams {
            start: Start::KmeansPlusPlus,
            defaults: Defaults::Volume,
            ..MixtureParams::gmm(5)
        };
        let mixture = Mixture::new(params, &points).unwrap();
        let fit = |config: &FitConfig| lehr::fit(&mixture, &points).config(config.clone());
        let job = Job { setting: "s".into(), method: "m".into(), start: 0, cost: 1.0 };
        let mut record = Record::of(&job);
        let noisy = FitConfig {
            batch: Some(20),
            effective: "5".parse().unwrap(),
            noise_end: 1.0,
            steps: Some(60),
            tol: 0.0,
            seed: 3,
            ..FitConfig::default()
        };
        let found = observe(fit(&noisy), &|| false, &mut record).unwrap().unwrap();
        let (before, points_before) = (record.end["bound"], record.curve.len());
        let batch = FitConfig { steps: Some(200), seed: 3, ..FitConfig::default() };
        let state = quench(fit(&batch), found.state, &|| false, &mut record).unwrap().unwrap();
        assert!(record.end["bound"] > before);
        assert!(state.step > 60 && state.items == 1200 + 120 * (state.step - 60));
        let rises: Vec<f64> =
            record.curve[points_before - 1..].iter().map(|p| p.values["bound"]).collect();
        assert!(rises.len() > 3 && rises.is_sorted(), "{rises:?}");
        assert_eq!(rises[0], before);
        let last = record.curve.last().unwrap().clone();
        thin(&mut record);
        assert_eq!(record.curve.last().unwrap().step, last.step);
        assert!(record.curve.iter().all(|p| p.values.len() == 1));
        // Asked to stop, it leaves no record.
        let start = State::start(&mixture, &points, 3, 0).unwrap();
        assert!(quench(fit(&batch), start, &|| true, &mut record).unwrap().is_none());
    }
}
