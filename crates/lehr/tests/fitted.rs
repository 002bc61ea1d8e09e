//! Fits without a directory: the same bits as a run directory's, saved to one, loaded, continued, packed.

mod common;

use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};

use lehr::FitConfig;
use lehr::data::{Docs, Points};
use lehr::fit::Observation;
use lehr::fit::stop::{Change, StopReason};
use lehr::fit::{Progress, State, Watcher};
use lehr::models::mixture::{Covariance, Defaults};
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams, Stored};
use lehr::store::{self, Begin, Extension, Items, Run, RunConfig, RunDirectory, Saved, Sink};

fn points(n: usize) -> Points {
    let around = |n: usize| ((n % 3) * 10) as f64 + ((n * 7919) % 100) as f64 / 50.0;
    Points::new((0..n).flat_map(|i| [around(i), around(i * i + 1)]).collect(), 2).unwrap()
}

fn docs() -> Docs {
    let doc = |n: u32| (0..4).map(|w| (5 * (n % 2) + (w + n) % 5, 1.0 + f64::from(w))).collect();
    Docs::from_rows((0..40).map(doc), 10).unwrap()
}

fn fitted(points: &Points, params: MixtureParams, config: &FitConfig) -> Run<Mixture> {
    let items = Items::in_memory(points);
    Run::fit(items, params, config, Begin::Random, &mut ()).unwrap()
}

fn bits(fitted: &Run<Mixture>) -> Vec<u64> {
    common::bits(fitted.lambda().table().values())
}

#[test]
fn a_fit_in_memory_has_the_bits_of_a_run_directory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("points.csv");
    let data = points(300);
    let mut text = String::from("a,b\n");
    let mut row = [0.0; 2];
    for n in 0..300 {
        data.copy_row(n, &mut row);
        text += &format!("{},{}\n", row[0], row[1]);
    }
    std::fs::write(&path, text).unwrap();
    let config = FitConfig {
        steps: Some(30),
        batch: Some(50),
        effective: "10".parse().unwrap(),
        holdout: "0.1".parse().unwrap(),
        n_init: 2,
        seed: 4,
        ..FitConfig::default()
    };
    let params = MixtureParams::dpgmm(4);
    let run = folder.path().join("run");
    let options = Default::default();
    let result =
        store::fit_file::<Mixture>(&run, &path, &options, params.clone(), &config, &mut ())
            .unwrap();
    let loaded = Run::<Mixture>::load(&run).unwrap();
    assert_eq!(loaded.result.as_ref(), Some(&result), "what comes back is what was written");
    let own = fitted(&data, params, &config);
    assert_eq!(bits(&own), bits(&loaded));
    let numbers = |f: &Run<Mixture>| f.trace.iter().map(|o| (o.step, o.bound)).collect::<Vec<_>>();
    assert_eq!(numbers(&own), numbers(&loaded));

    // Saved, it is a run like any other, but for its data.
    let saved = folder.path().join("saved");
    own.save(&saved).unwrap();
    assert!(own.save(&saved).unwrap_err().to_string().contains("already holds a run"));
    let directory = RunDirectory::open(&saved).unwrap();
    assert_eq!(directory.result().unwrap().best, own.result.clone().unwrap().best);
    let more = Extension { steps: Some(1), ..Extension::default() };
    let error = store::resume::<Mixture>(&directory, more, None, &mut ()).unwrap_err();
    assert!(error.to_string().contains("in no file"), "{error}");
}

#[test]
fn bytes_hold_everything_and_damaged_ones_are_refused() {
    let config = FitConfig { steps: Some(5), ..FitConfig::default() };
    let data = docs();
    let items = Items::in_memory(&data);
    let fitted =
        Run::<Lda>::fit(items, LdaParams::fixed(2), &config, Begin::Random, &mut ()).unwrap();
    let bytes = fitted.to_bytes().unwrap();
    let again = Run::<Lda>::from_bytes(&bytes).unwrap();
    assert_eq!(again.lambda(), fitted.lambda());
    assert_eq!(again.trace, fitted.trace);
    assert_eq!(again.model.word_counts(), fitted.model.word_counts());
    assert!(Run::<Lda>::from_bytes(&bytes[..bytes.len() / 2]).is_err());
    assert!(Run::<Lda>::from_bytes(b"").is_err());
}

/// A small fit of each model as bytes, and whether those bytes are the same fit.
fn pack_all() {
    fn pack<M: Stored>(data: &M::Data, params: M::Params) {
        let config = FitConfig { steps: Some(3), threads: 1, ..FitConfig::default() };
        let items = Items::in_memory(data);
        let run = Run::<M>::fit(items, params, &config, Begin::Random, &mut ()).unwrap();
        let again = Run::<M>::from_bytes(&run.to_bytes().unwrap()).unwrap();
        assert_eq!(again.saved, run.saved);
        assert_eq!((again.trace, again.result), (run.trace, run.result));
    }
    pack::<Mixture>(&points(60), MixtureParams::gmm(2));
    pack::<Lda>(&docs(), LdaParams::fixed(2));
    pack::<Pmf>(
        &common::made_ratings((8, 6, 2), 40, (1.0, 0.5, 0.5), 7).ratings,
        PmfParams::new(2),
    );
}

#[test]
#[ignore = "run by the test below, in a process that cannot write"]
fn packing_in_a_process_that_cannot_write() {
    assert!(std::fs::write(std::env::temp_dir().join("x"), "x").is_err());
    pack_all();
}

/// No temporary folder, and no file may have a byte.
#[cfg(unix)]
#[test]
fn packing_touches_no_disk() {
    let program = std::env::current_exe().unwrap();
    let test = "packing_in_a_process_that_cannot_write";
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -f 0; exec \"$0\" --ignored --exact \"$1\""])
        .arg(program)
        .arg(test)
        .env("TMPDIR", "/no/such/folder")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Bytes of earlier versions hold the files of a run directory as they were then.
#[test]
fn bytes_of_every_format_version_open() {
    fn open<M: Stored>(folder: &Path) {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_string();
            files.push((name, std::fs::read(path).unwrap()));
        }
        let view = |bytes| TensorView::new(Dtype::U8, vec![<[u8]>::len(bytes)], bytes).unwrap();
        let views = files.iter().map(|(name, bytes)| (name, view(bytes)));
        let run = Run::<M>::from_bytes(&safetensors::serialize(views, None).unwrap()).unwrap();
        let loaded = Run::<M>::load(folder).unwrap();
        assert_eq!((&run.saved, &run.trace), (&loaded.saved, &loaded.trace));
        assert_eq!(run.lambda(), loaded.lambda());
    }
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lehr-cli/tests/fixtures/runs");
    for version in ["1", "2"] {
        for end in ["killed", "ended"] {
            let folder = |model: &str| runs.join(version).join(format!("{model}-{end}"));
            open::<Mixture>(&folder("gmm"));
            open::<Lda>(&folder("lda"));
            open::<Pmf>(&folder("pmf"));
        }
    }
}

/// Notes what a sink gets.
#[derive(Default)]
struct Notes(Vec<&'static str>);

impl Sink<Mixture> for Notes {
    fn create(
        &mut self,
        _: &Mixture,
        _: &mut RunConfig<Mixture>,
        first: Option<&Progress>,
    ) -> lehr::Result<()> {
        assert!(first.is_none(), "it begins at random");
        self.0.push("create");
        Ok(())
    }

    fn open(&mut self, kept: &[Observation]) -> lehr::Result<()> {
        assert!(kept.is_empty());
        self.0.push("open");
        Ok(())
    }

    fn observe(&mut self, _: &Observation) -> lehr::Result<()> {
        self.0.push("observe");
        Ok(())
    }

    fn checkpoint(
        &mut self,
        _: &Mixture,
        progress: &dyn Fn() -> Progress,
        observations: u64,
    ) -> lehr::Result<()> {
        assert_eq!((progress().state.step, observations), (2, 2));
        self.0.push("checkpoint");
        Ok(())
    }

    fn end(&mut self, run: &mut Run<Mixture>) -> lehr::Result<()> {
        assert_eq!(run.trace.len(), 4);
        self.0.push("end");
        Ok(())
    }
}

#[test]
fn a_sink_gets_everything_in_order() {
    let config =
        FitConfig { steps: Some(3), tol: 0.0, checkpoint_every: Some(2), ..FitConfig::default() };
    let (data, mut notes) = (points(40), Notes::default());
    let items = Items::in_memory(&data);
    store::fit(items, MixtureParams::gmm(2), &config, Begin::Random, &mut notes, &mut ()).unwrap();
    let expected =
        ["create", "open", "observe", "observe", "checkpoint", "observe", "observe", "end"];
    assert_eq!(notes.0, expected);
}

#[test]
fn going_on_counts_steps_and_items_from_where_it_stands() {
    let config = FitConfig { steps: Some(3), batch: Some(20), ..FitConfig::default() };
    let first = fitted(&points(100), MixtureParams::gmm(3), &config);
    let more = FitConfig { steps: None, ..config };
    let new = points(45);
    let second = first.update(Items::in_memory(&new), &more, &mut ()).unwrap();
    assert_eq!(second.saved.model_state().step, 6); // one pass: 20, 20 and the 5 that are left
    assert_eq!(second.config.population, Some(145));
    let third = second.update(Items::in_memory(&new), &more, &mut ()).unwrap();
    assert_eq!(third.config.population, Some(190));
    assert_eq!(third.trace.len(), first.trace.len() + 2 * (second.trace.len() - first.trace.len()));
    let wide = Points::new(vec![0.0; 30], 3).unwrap();
    let error = first.update(Items::in_memory(&wide), &more, &mut ()).err().unwrap();
    assert!(error.to_string().contains("3 columns"), "{error}");
}

struct StopAt(u64, u64);

impl Watcher for StopAt {
    fn after_step(&mut self, state: &State, _: &dyn Fn() -> Progress) -> lehr::Result<()> {
        self.1 = state.step;
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        self.1 >= self.0
    }
}

#[test]
fn a_stopped_fit_is_usable_and_another_can_begin_where_it_stands() {
    let data = points(120);
    let (params, config) = (MixtureParams::gmm(3), FitConfig { tol: 0.0, ..FitConfig::default() });
    let items = || Items::in_memory(&data);
    let stopped =
        Run::fit(items(), params.clone(), &config, Begin::Random, &mut StopAt(4, 0)).unwrap();
    assert!(matches!(stopped.saved, Saved::Pending(_)));
    assert_eq!(stopped.result.as_ref().unwrap().best.stop, StopReason::Interrupted);
    assert!(stopped.to_bytes().is_ok());
    let rest = FitConfig { steps: Some(6), ..config.clone() };
    let whole = FitConfig { steps: Some(10), ..config };
    let on = Run::fit(items(), params.clone(), &rest, Begin::With(&stopped), &mut ()).unwrap();
    assert_eq!(bits(&on), bits(&fitted(&data, params, &whole)));
}

#[test]
fn a_given_start_is_where_it_begins_and_needs_one_restart() {
    let data = points(60);
    let resp: Vec<f64> =
        (0..60).flat_map(|n| if n < 20 { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
    let begin = |model: &Mixture, data: &Points| {
        Ok(State::at(model, model.lambda_from_responsibilities(data, &resp)))
    };
    let config = FitConfig { steps: Some(1), n_init: 2, ..FitConfig::default() };
    let params = MixtureParams::gmm(2);
    let items = || Items::in_memory(&data);
    let error = Run::fit(items(), params.clone(), &config, Begin::At(&begin), &mut ());
    assert!(error.err().unwrap().to_string().starts_with("n_init = 2: must be 1"));
    let config = FitConfig { n_init: 1, ..config };
    let one = Run::fit(items(), params, &config, Begin::At(&begin), &mut ()).unwrap();
    assert_eq!(one.trace[0].step, 0);
    assert_eq!(one.saved.model_state().step, 1);
}

#[test]
fn the_defaults_of_scikit_learn_are_the_datas_own_moments() {
    let data = points(90);
    for covariance in [Covariance::Full, Covariance::Tied, Covariance::Diagonal] {
        let times = if covariance == Covariance::Tied { 3.0 } else { 1.0 };
        let defaults = Defaults::ScikitLearn;
        let params = MixtureParams { defaults, covariance, ..MixtureParams::dpgmm(3) };
        let mixture = Mixture::new(params, &data).unwrap();
        let lambda = mixture.lambda_from_responsibilities(&data, &vec![1.0 / 3.0; 270]);
        let posterior = mixture.posterior(&lambda);
        assert_eq!(posterior.prior_concentration, 1.0 / 3.0);
        assert_eq!(
            (posterior.prior_mean_precision, posterior.prior_degrees_of_freedom),
            (1.0, 2.0 * times)
        );
        let mut row = [0.0; 2];
        let mut moment = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
            (0..90)
                .map(|n| {
                    data.copy_row(n, &mut row);
                    of(&row)
                })
                .sum()
        };
        let mean = moment(&|x| x[0]) / 90.0;
        let variance = moment(&|x| (x[0] - mean).powi(2)) / 89.0;
        assert!((posterior.prior_scatter[0] / times - variance).abs() < 1e-9 * variance);
    }
}

#[test]
fn a_ridge_widens_every_component_by_itself() {
    let data = points(60);
    let resp = vec![1.0; 60];
    let covariance = |ridge: f64| {
        let params = MixtureParams { ridge, ..MixtureParams::gmm(1) };
        let mixture = Mixture::new(params, &data).unwrap();
        let lambda = mixture.lambda_from_responsibilities(&data, &resp);
        mixture.components(&lambda)[0].covariance.clone()
    };
    let (plain, wide) = (covariance(0.0), covariance(0.5));
    let expected = 0.5 * 60.0 / 66.0; // nu = 6 + 60
    for (at, widened) in [expected, 0.0, 0.0, expected].into_iter().enumerate() {
        assert!((wide[at] - plain[at] - widened).abs() < 1e-9, "{at}: {wide:?} {plain:?}");
    }
}

#[test]
fn a_perplexity_that_stands_still_ends_a_fit_and_needs_words() {
    let data = docs();
    let config = FitConfig { tol: 0.5, tol_of: Change::Perplexity, ..FitConfig::default() };
    let items = Items::in_memory(&data);
    let fitted =
        Run::<Lda>::fit(items, LdaParams::fixed(2), &config, Begin::Random, &mut ()).unwrap();
    assert_eq!(fitted.result.as_ref().unwrap().best.stop, StopReason::Converged);
    let perplexity = |bound: f64| (-bound / data.tokens()).exp();
    let [.., before, last] = &fitted.trace[..] else { panic!("two observations") };
    assert!((perplexity(before.bound) - perplexity(last.bound)).abs() <= 0.5);
    let points = points(30);
    let items = Items::in_memory(&points);
    let error = Run::<Mixture>::fit(items, MixtureParams::gmm(1), &config, Begin::Random, &mut ());
    let error = error.err().unwrap().to_string();
    assert!(error.starts_with("tol_of = perplexity: a gmm has no words"), "{error}");
}
