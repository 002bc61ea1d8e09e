//! Fits whose local steps run on workers: every message becomes bytes, workers open shards of a folder, tasks are done
//! in a random order by any worker, some of them twice, and the fit is bit-identical to threads on one machine.

mod common;

use std::path::{Path, PathBuf};

use common::{Recorder, bits, clusters, made_ratings, rng, small_corpus};
use lehr::data::{Dataset, Docs, FromFile, Points, Ratings, Side};
use lehr::engine::Sizes;
use lehr::fit::Fitted;
use lehr::math::rng::Rng;
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams};
use lehr::read::{self, DocsOptions, PointsOptions, RatingsOptions};
use lehr::remote::{Hands, OnShards, OnWorkers, Take, Task, Works, worker};
use lehr::shards::{ShardFolder, Sharded, make_docs, make_points, make_ratings};
use lehr::{Error, FitConfig, Result};

/// Workers in this process. Each task goes to any of them, and now and then is done a second time by another, as if
/// the first had been lost after its work.
struct Crew {
    folder: PathBuf,
    workers: Vec<Box<dyn Works>>,
    n_workers: usize,
    pool: rayon::ThreadPool,
    rng: Rng,
    /// What was sent, and how often.
    bytes: usize,
    rounds: usize,
    /// Rounds until no worker is left.
    lost_after: Option<usize>,
}

impl Crew {
    fn new(folder: &Path, n_workers: usize) -> Self {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        Crew {
            folder: folder.to_path_buf(),
            workers: Vec::new(),
            n_workers,
            pool,
            rng: rng(n_workers as u64),
            bytes: 0,
            rounds: 0,
            lost_after: None,
        }
    }
}

impl Hands for Crew {
    fn model(&mut self, model: Vec<u8>) -> Result<()> {
        let workers = (0..self.n_workers).map(|_| worker(&model, &self.folder));
        self.workers = workers.collect::<Result<_>>()?;
        Ok(())
    }

    fn round(&mut self, common: Vec<u8>, tasks: Vec<Task>, take: Take<'_>) -> Result<()> {
        if self.lost_after == Some(self.rounds) {
            return Err(Error::data("all workers are gone"));
        }
        self.rounds += 1;
        self.bytes += common.len();
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.below(i as u64 + 1) as usize);
        }
        let mut replies = vec![Vec::new(); tasks.len()];
        for at in order {
            let (part, task) = &tasks[at];
            for _ in 0..1 + self.rng.below(5) / 4 {
                let who = self.rng.below(self.workers.len() as u64) as usize;
                let work = &mut self.workers[who];
                let done = self.pool.install(|| work.run(&common, &[(*part, &task[..])]))?;
                self.bytes += task.len() + done[0].len();
                replies[at] = done.into_iter().next().unwrap();
            }
        }
        take(&replies.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

fn toml_of(text: &str) -> FitConfig {
    toml::from_str(&text.replace("; ", "\n")).unwrap()
}

/// A folder of shards of documents.
fn docs_folder(folder: &Path, docs: &Docs, n_shards: usize) -> PathBuf {
    let (whole, shards) = (folder.join("whole.lehr"), folder.join(format!("{n_shards}.shards")));
    docs.save(&whole).unwrap();
    make_docs(&[whole], &DocsOptions::default(), n_shards, &shards).unwrap();
    shards
}

/// A folder of shards of points.
fn points_folder(folder: &Path, points: &Points, n_shards: usize) -> PathBuf {
    let (whole, shards) = (folder.join("whole.csv"), folder.join(format!("{n_shards}.shards")));
    let mut text = String::new();
    let mut row = vec![0.0; points.n_dims()];
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        text += &(cells.join(",") + "\n");
    }
    std::fs::write(&whole, text).unwrap();
    make_points(&[whole], &PointsOptions::default(), n_shards, &shards).unwrap();
    shards
}

/// A folder of shards of ratings, of two files.
fn ratings_folder(folder: &Path, ratings: &Ratings, n_shards: usize) -> PathBuf {
    let shards = folder.join(format!("{n_shards}.shards"));
    let [mut first, mut second] = [String::new(), String::new()];
    for (n, (user, item, value)) in ratings.triples().enumerate() {
        let [user, item] = [(Side::User, user), (Side::Item, item)]
            .map(|(side, number)| ratings.ids(side).get(number as usize).to_string());
        let text = if n < ratings.n_ratings() / 3 { &mut first } else { &mut second };
        *text += &format!("{user}::{item}::{value}::0\n");
    }
    let files = [folder.join("a.dat"), folder.join("b.dat")];
    std::fs::write(&files[0], first).unwrap();
    std::fs::write(&files[1], second).unwrap();
    make_ratings(&files, &RatingsOptions::default(), n_shards, &shards).unwrap();
    shards
}

/// What two fits are compared by.
fn told(fitted: &Fitted, seen: &Recorder) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let bounds: Vec<f64> = seen.0.iter().map(|o| o.bound).collect();
    let lambda = &fitted.state.lambda;
    (bits(lambda.table().values()), bits(&lambda.hyper), bits(&bounds))
}

/// Fits on threads and on workers, on the same shards.
fn same_bits<M>(what: &str, model: &M, shards: &Path, config: &str) -> Crew
where
    M: OnShards,
{
    let data = M::Data::read(shards, &Default::default()).unwrap();
    assert!(data.parts().len() > 2);
    let config = toml_of(config);
    let mut here = Recorder::default();
    let fit = lehr::fit(model, &data).config(config.clone()).threads(2).watch(&mut here);
    let expected = told(&fit.run().unwrap(), &here);
    assert!(!expected.2.is_empty());
    let mut last = None;
    for n_workers in [1, 2, 3, 7] {
        let mut crew = Crew::new(shards, n_workers);
        let mut there = Recorder::default();
        let driver = OnWorkers::new(&mut crew);
        let fit = lehr::fit(model, &data).config(config.clone()).driver(&driver).threads(1);
        let found = told(&fit.watch(&mut there).run().unwrap(), &there);
        assert_eq!(found, expected, "{what}: {config:?}, {n_workers} workers");
        last = Some(crew);
    }
    last.unwrap()
}

#[test]
fn mixtures_have_the_bits_of_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let points = clusters(2500, 3, 4, 2.0, 7);
    let shards = points_folder(folder.path(), &points, 4);
    for (name, params) in common::every_mixture(5) {
        let mixture = Mixture::new(params, &points).unwrap();
        for config in [
            "steps = 6; tol = 0.0; seed = 3",
            "steps = 8; tol = 0.0; seed = 3; effective = 300",
            "steps = 8; tol = 0.0; seed = 3; batch = 300; effective = 60; guard = \"reject\"; eval_every = 4",
        ] {
            same_bits(&name, &mixture, &shards, config);
        }
    }
    let mixture = Mixture::new(MixtureParams::gmm(4), &points).unwrap();
    for law in ["gamma", "subsample", "lagged", "exact"] {
        let config = format!("steps = 5; tol = 0.0; batch = 300; effective = 60; law = \"{law}\"");
        same_bits(law, &mixture, &shards, &config);
    }
    same_bits("restarts", &mixture, &shards, "steps = 5; n_init = 3");
    same_bits("search", &mixture, &shards, "steps = 9; search = 3.0; seed = 5");
}

#[test]
fn ratings_have_the_bits_of_the_threads_whoever_has_the_users() {
    let folder = tempfile::tempdir().unwrap();
    let made = made_ratings((60, 40, 2), 900, (1.0, 0.5, 0.5), 7);
    let shards = ratings_folder(folder.path(), &made.ratings, 5);
    let whole = Ratings::read(&shards, &RatingsOptions::default()).unwrap();
    assert_eq!((whole.n_ratings(), whole.parts().len()), (made.ratings.n_ratings(), 6));
    let plain = "steps = 14; tol = 0.0; seed = 3";
    let cases = [
        (PmfParams::new(3), plain.to_string()),
        (PmfParams { exact: true, ..PmfParams::new(9) }, plain.to_string()),
        (PmfParams { ard: false, biases: false, ..PmfParams::new(3) }, plain.to_string()),
        (PmfParams::new(3), format!("{plain}; effective = \"4t\"; eval_every = 3")),
        (
            PmfParams::paper(3),
            format!("{plain}; effective = 3; step_size = 0.85; guard = \"halve\""),
        ),
        (
            PmfParams::paper(3),
            format!("{plain}; effective = 2; law = \"gamma\"; guard = \"reject\""),
        ),
        (PmfParams::new(2), format!("{plain}; n_init = 2")),
    ];
    for (params, config) in cases {
        let pmf = Pmf::new(params, &whole).unwrap();
        same_bits("pmf", &pmf, &shards, &config);
    }
    let uses: Vec<(u32, u32, f32)> =
        made.ratings.triples().map(|(user, item, _)| (user, item, 1.0)).collect();
    let lines = uses.iter().map(|(user, item, times)| format!("{user},{item},{times}\n"));
    let (file, used) = (folder.path().join("uses.csv"), folder.path().join("uses.shards"));
    std::fs::write(&file, format!("user,item,rating\n{}", lines.collect::<String>())).unwrap();
    make_ratings(&[file], &RatingsOptions::default(), 4, &used).unwrap();
    let whole = Ratings::read(&used, &RatingsOptions::default()).unwrap();
    let implicit = Pmf::new(PmfParams { implicit: true, ..PmfParams::new(3) }, &whole).unwrap();
    same_bits("implicit", &implicit, &used, plain);
}

#[test]
fn sums_of_shards_of_ratings_are_those_of_the_whole_but_for_rounding() {
    let folder = tempfile::tempdir().unwrap();
    let made = made_ratings((60, 40, 2), 900, (1.0, 0.5, 0.5), 7);
    let shards = ratings_folder(folder.path(), &made.ratings, 5);
    let parts = Ratings::read(&shards, &RatingsOptions::default()).unwrap();
    let all: Vec<u32> = (0..parts.n_ratings() as u32).collect();
    let whole = parts.subset(&all);
    assert!(whole.parts().is_empty());
    let pmf = Pmf::new(PmfParams { exact: true, ..PmfParams::new(3) }, &whole).unwrap();
    for config in
        ["steps = 12; tol = 0.0; seed = 3", "steps = 9; tol = 0.0; seed = 3; effective = 20"]
    {
        let bounds = |data: &Ratings| {
            let mut seen = Recorder::default();
            let fit = lehr::fit(&pmf, data).config(toml_of(config)).threads(2);
            fit.watch(&mut seen).run().unwrap();
            seen.0.iter().map(|o| o.bound).collect::<Vec<f64>>()
        };
        let (found, expected) = (bounds(&parts), bounds(&whole));
        assert!(found.len() > 1 && found.len() == expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6 * expected.abs(), "{found} {expected}");
        }
    }
}

#[test]
fn users_stay_where_they_are_until_they_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    // Many users of few items: what travels is of the items.
    let made = made_ratings((900, 12, 2), 5000, (1.0, 0.5, 0.5), 7);
    let shards = ratings_folder(folder.path(), &made.ratings, 3);
    let whole = Ratings::read(&shards, &RatingsOptions::default()).unwrap();
    let pmf = Pmf::new(PmfParams::new(4), &whole).unwrap();
    let bytes = |steps: usize| {
        // Each shard stays with its worker.
        let mut crew = Crew::new(&shards, 1);
        let config = toml_of(&format!("steps = {steps}; tol = 0.0; eval_every = 0"));
        let driver = OnWorkers::new(&mut crew);
        let fit = lehr::fit(&pmf, &whole).config(config).driver(&driver).threads(1);
        let fitted = fit.run().unwrap();
        (crew.bytes, 8 * fitted.state.lambda.table().values().len())
    };
    let (few, table) = bytes(5);
    let (many, _) = bytes(15);
    assert!(many - few < table, "{} bytes in ten steps, lambda has {table}", many - few);
}

#[test]
fn a_fit_of_ratings_on_workers_is_resumed_by_others_and_refuses_batches() {
    use lehr::store::{self, Begin, Disk, Extension, Items, RunDirectory};
    let folder = tempfile::tempdir().unwrap();
    let made = made_ratings((60, 40, 2), 900, (1.0, 0.5, 0.5), 7);
    let shards = ratings_folder(folder.path(), &made.ratings, 4);
    let data = Ratings::read(&shards, &RatingsOptions::default()).unwrap();
    let options = RatingsOptions::default();
    let begin = |run: &Path, crew: &mut Crew, config: &str| {
        let items: Items<'_, Pmf> = Items::of_file(&data, &shards, &options);
        let mut disk = Disk::new(run).unwrap();
        let (driver, params) = (OnWorkers::new(crew), PmfParams::new(3));
        store::fit_with(&driver, items, params, &toml_of(config), Begin::Random, &mut disk, &mut ())
    };
    let config = "steps = 20; tol = 0.0; seed = 1; effective = 8; checkpoint_every = 7";
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    begin(&whole, &mut Crew::new(&shards, 2), config).unwrap();
    let mut crew = Crew::new(&shards, 2);
    crew.lost_after = Some(30);
    assert!(begin(&cut, &mut crew, config).is_err());
    let directory = RunDirectory::open(&cut).unwrap();
    let mut crew = Crew::new(&shards, 3);
    let driver = OnWorkers::new(&mut crew);
    store::resume_with::<Pmf>(&driver, &directory, Extension::default(), None, &mut ()).unwrap();
    assert!(crew.rounds > 10);
    let lambda = |run: &Path| {
        let run = lehr::Run::<Pmf>::load(run).unwrap();
        bits(run.lambda().table().values())
    };
    assert_eq!(lambda(&cut), lambda(&whole));
    let batches = folder.path().join("batches");
    let refused = begin(&batches, &mut Crew::new(&shards, 1), "steps = 3; batch = 50");
    let error = refused.map(drop).unwrap_err();
    assert!(error.to_string().contains("not for ratings in shards"), "{error}");
}

#[test]
fn topics_have_the_bits_of_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let docs = small_corpus(300, 7);
    let shards = docs_folder(folder.path(), &docs, 5);
    let batches = "steps = 10; tol = 0.0; seed = 3; batch = 70; eval_every = 5";
    let mut cases = vec![
        (LdaParams::fixed(4), "steps = 4; tol = 0.0; seed = 3".to_string()),
        (LdaParams { exact: true, ..LdaParams::fixed(4) }, format!("{batches}; effective = 9")),
        (LdaParams::fixed(20), format!("{batches}; warm = true; warm_after = 1; effective = 9")),
    ];
    for sampling in ["epochs", "without-replacement", "with-replacement", "in-order"] {
        cases.push((LdaParams::fixed(4), format!("{batches}; sampling = \"{sampling}\"")));
    }
    for law in ["gamma", "subsample", "lagged", "exact"] {
        cases.push((LdaParams::fixed(4), format!("{batches}; effective = 9; law = \"{law}\"")));
    }
    for guard in ["shrink", "clamp", "reject", "clip", "halve", "reject-below-prior"] {
        cases.push((LdaParams::fixed(4), format!("{batches}; effective = 4; guard = \"{guard}\"")));
    }
    let learns = LdaParams {
        learn_alpha: Some(lehr::models::lda::LearnAlpha::Asymmetric),
        learn_eta: Some(true),
        ..LdaParams::fixed(4)
    };
    cases.push((learns, batches.to_string()));
    for (params, config) in cases {
        let lda = Lda::new(params, &docs).unwrap();
        same_bits("lda", &lda, &shards, &config);
    }
}

#[test]
fn a_step_is_one_round_that_carries_the_rows_of_its_batch() {
    // 2000 words, of which a document has ten: whole tables would be a hundred times as large.
    let doc = |n: u32| (0..10).map(|w| ((n * 13 + w * 7) % 2000, 1.0)).collect();
    let docs = Docs::from_rows((0..40).map(doc), 2000).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let shards = docs_folder(folder.path(), &docs, 4);
    let lda = Lda::new(LdaParams::fixed(4), &docs).unwrap();
    let data = Docs::read(&shards, &DocsOptions::default()).unwrap();
    let mut crew = Crew::new(&shards, 2);
    let config = toml_of("steps = 5; tol = 0.0; batch = 4; eval_every = 0");
    let driver = OnWorkers::new(&mut crew);
    let fitted = lehr::fit(&lda, &data).config(config).driver(&driver).threads(1).run().unwrap();
    let table = 8 * fitted.state.lambda.table().values().len();
    // The first step asks for its rows before it.
    assert_eq!(crew.rounds, 6);
    // Five steps of four documents, at most 40 rows each; all rows are 64 kB.
    assert!(crew.bytes < table / 2, "{} bytes, lambda has {table}", crew.bytes);
}

#[test]
fn noise_does_not_travel() {
    let folder = tempfile::tempdir().unwrap();
    let points = clusters(4000, 2, 3, 2.0, 7);
    let shards = points_folder(folder.path(), &points, 4);
    let mixture = Mixture::new(MixtureParams::gmm(3), &points).unwrap();
    let crew = same_bits("noise", &mixture, &shards, "steps = 10; tol = 0.0; effective = 500");
    // Weights alone would be 32 kB in each of 11 rounds.
    assert!(crew.bytes < 11 * 8000, "{} bytes", crew.bytes);
}

#[test]
fn a_lost_crew_is_an_error_and_so_are_data_without_shards() {
    let folder = tempfile::tempdir().unwrap();
    let points = clusters(2000, 3, 4, 2.0, 7);
    let shards = points_folder(folder.path(), &points, 4);
    let mixture = Mixture::new(MixtureParams::gmm(4), &points).unwrap();
    let data = Points::read(&shards, &PointsOptions::default()).unwrap();
    let run = |crew: &mut Crew, data: &Points| {
        let config = toml_of("steps = 9; tol = 0.0");
        let driver = OnWorkers::new(crew);
        lehr::fit(&mixture, data).config(config).driver(&driver).run().unwrap_err().to_string()
    };
    let mut crew = Crew::new(&shards, 3);
    crew.lost_after = Some(4);
    assert_eq!(run(&mut crew, &data), "all workers are gone");
    let text = run(&mut Crew::new(&shards, 1), &points);
    assert!(text.contains("make a folder of shards"), "{text}");
}

#[test]
fn the_bound_of_all_items_is_that_of_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let docs = small_corpus(200, 7);
    let shards = docs_folder(folder.path(), &docs, 3);
    let data = Docs::read(&shards, &DocsOptions::default()).unwrap();
    let items = lehr::store::Items::in_memory(&data);
    let config = toml_of("steps = 3; batch = 50; seed = 1");
    let begin = lehr::store::Begin::Random;
    let run = lehr::Run::<Lda>::fit(items, LdaParams::fixed(3), &config, begin, &mut ()).unwrap();
    let mut threads = lehr::engine::Threads::new(&run.model, &data);
    let expected = lehr::fit::bound(&run.model, run.lambda(), &mut threads).unwrap();
    let mut crew = Crew::new(&shards, 2);
    let found = OnWorkers::new(&mut crew).bound(&run, Sizes::of(&data, 1)).unwrap();
    assert_eq!(found.to_bits(), expected.to_bits());
}

#[test]
fn a_run_on_workers_is_resumed_by_other_workers_or_by_threads() {
    use lehr::store::{self, Begin, Disk, Extension, Items, RunDirectory};
    let folder = tempfile::tempdir().unwrap();
    let docs = small_corpus(200, 7);
    let shards = docs_folder(folder.path(), &docs, 3);
    let data = Docs::read(&shards, &DocsOptions::default()).unwrap();
    let config = toml_of("steps = 30; batch = 40; seed = 1; effective = 9; checkpoint_every = 7");
    let options = DocsOptions::default();
    let lambda = |run: &Path| {
        let run = lehr::Run::<Lda>::load(run).unwrap();
        bits(run.lambda().table().values())
    };
    let begin = |run: &Path, crew: &mut Crew| {
        let items: Items<'_, Lda> = Items::of_file(&data, &shards, &options);
        let mut disk = Disk::new(run).unwrap();
        let (driver, params) = (OnWorkers::new(crew), LdaParams::fixed(3));
        store::fit_with(&driver, items, params, &config, Begin::Random, &mut disk, &mut ())
    };
    let whole = folder.path().join("whole");
    begin(&whole, &mut Crew::new(&shards, 2)).unwrap();
    for by_threads in [false, true] {
        let run = folder.path().join(format!("cut-{by_threads}"));
        let mut crew = Crew::new(&shards, 2);
        crew.lost_after = Some(17);
        assert!(begin(&run, &mut crew).is_err());
        let directory = RunDirectory::open(&run).unwrap();
        let more = Extension::default();
        if by_threads {
            store::resume::<Lda>(&directory, more, Some(2), &mut ()).unwrap();
        } else {
            let mut crew = Crew::new(&shards, 3);
            let driver = OnWorkers::new(&mut crew);
            store::resume_with::<Lda>(&driver, &directory, more, None, &mut ()).unwrap();
            assert!(crew.rounds > 10);
        }
        assert_eq!(lambda(&run), lambda(&whole), "{by_threads}");
    }
}

#[test]
fn a_shard_that_changed_is_refused_by_whoever_opens_it() {
    let folder = tempfile::tempdir().unwrap();
    let docs = small_corpus(90, 7);
    let shards = docs_folder(folder.path(), &docs, 3);
    let data = Docs::read(&shards, &DocsOptions::default()).unwrap();
    let file = shards.join("00001.lehr");
    let mut bytes = std::fs::read(&file).unwrap();
    // A count of a document: the file is still one that could be read.
    bytes[4096 + 6] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let lda = Lda::new(LdaParams::fixed(3), &docs).unwrap();
    let mut crew = Crew::new(&shards, 2);
    let driver = OnWorkers::new(&mut crew);
    let error = lehr::fit(&lda, &data).driver(&driver).run().unwrap_err().to_string();
    assert!(error.contains("00001.lehr: is not the shard any more"), "{error}");
    let error = read::docs(&shards, &DocsOptions::default()).unwrap_err().to_string();
    assert!(error.contains("00001.lehr: is not the shard any more"), "{error}");
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(5000).unwrap();
    let folder = ShardFolder::open(&shards).unwrap();
    let error = Docs::open_all(&folder).unwrap_err().to_string();
    assert!(error.contains("00001.lehr") && error.contains("5000 bytes, not"), "{error}");
}
