//! The files of a run directory, each in the place of the one that a fit has left there, and the
//! configuration from which a fit starts.

use std::fs;
use std::path::{Path, PathBuf};

use lehr::FitConfig;
use lehr::data::Ids;
use lehr::models::{
    Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams, ReadOptions, Stored, TABLES,
};
use lehr::read::{DocsOptions, PointsOptions, RatingsOptions};
use lehr::settings::{FIT, Tables};
use lehr::store::{self, Loaded, RunDirectory, Saved, checkpoint};

use super::config::ConfigFile;
use super::{Folder, Read, repair, told};

/// The names of the runs' folders, which are those of their models.
pub const NAMES: [&str; 3] = ["gmm", "lda", "pmf"];

/// A small finished run of each model, and those models.
pub struct Runs {
    folder: PathBuf,
    mixture: Mixture,
    lda: Lda,
    pmf: Pmf,
}

impl Runs {
    pub fn new(folder: &Path) -> Self {
        let data = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).expect("the folder takes files");
            path
        };
        let points = data("points.csv", "x,y\n1,2\n2,1\n3,5\n8,9\n7,8\n9,7\n");
        let docs = data("docs.txt", "bank rates fell\nbank goal\ngoal goal match\nrates rates\n");
        let ratings = data("ratings.csv", "1,10,5\n1,11,3\n2,10,4\n2,12,1\n3,11,2\n3,12,4\n");
        fit::<Mixture>(folder, "gmm", &points, MixtureParams::gmm(2));
        fit::<Lda>(folder, "lda", &docs, LdaParams::fixed(2));
        fit::<Pmf>(folder, "pmf", &ratings, PmfParams::new(2));
        Runs {
            folder: folder.to_path_buf(),
            mixture: model(folder, "gmm"),
            lda: model(folder, "lda"),
            pmf: model(folder, "pmf"),
        }
    }

    /// A file of one of the runs.
    pub fn file(&self, run: &str, name: &str) -> PathBuf {
        self.folder.join(run).join(name)
    }

    /// What opening a run comes to if one of its files has these bytes; the file is put back.
    fn opened<M: Stored>(&self, run: &str, name: &str, bytes: &[u8]) -> Read {
        let path = self.file(run, name);
        let kept = fs::read(&path).expect("the fit has left it");
        super::put(&path, bytes);
        let read = told(open::<M>(&self.folder.join(run)));
        super::put(&path, &kept);
        read
    }
}

fn fit<M: Stored>(folder: &Path, run: &str, data: &Path, params: M::Params) {
    let config = FitConfig { steps: Some(3), threads: 1, ..FitConfig::default() };
    let options = ReadOptions::<M>::default();
    store::fit_file::<M>(&folder.join(run), data, &options, params, &config, &mut ())
        .expect("synthetic data can be fitted");
}

fn model<M: Stored>(folder: &Path, run: &str) -> M {
    open::<M>(&folder.join(run)).expect("a run that has just been made")
}

/// What every command does with a run directory before anything else.
fn open<M: Stored>(path: &Path) -> lehr::Result<M> {
    let directory = RunDirectory::open(path)?;
    directory.model_name()?;
    directory.config::<M>()?;
    let Loaded { model, saved, .. } = directory.load::<M>()?;
    directory.trace()?;
    readable(&model, &saved);
    Ok(model)
}

fn readable<M: Stored>(model: &M, saved: &Saved) {
    let state = saved.model_state();
    if state.lambda.is_current() {
        model.readable(&state.lambda);
    }
}

/// A checkpoint as it is and with a checksum that fits, for a model of each kind.
pub fn checkpoint(folder: &Folder, bytes: &[u8]) -> Read {
    fn load<M: Stored>(path: &Path, model: &M) -> lehr::Result<()> {
        readable(model, &checkpoint::load(path, model)?);
        Ok(())
    }
    let runs = folder.runs();
    let mut as_it_is = Err(String::new());
    let repaired = repair::checkpoint(bytes);
    for bytes in [Some(bytes), repaired.as_deref()].into_iter().flatten() {
        let path = folder.file("checkpoint.safetensors", bytes);
        let reads =
            [load(&path, &runs.mixture), load(&path, &runs.lda), load(&path, &runs.pmf)].map(told);
        for read in reads {
            as_it_is = as_it_is.or(read);
        }
    }
    as_it_is
}

/// `config.json`, for every model.
pub fn run_config(folder: &Folder, bytes: &[u8]) -> Read {
    let runs = folder.runs();
    let reads = [
        runs.opened::<Mixture>("gmm", "config.json", bytes),
        runs.opened::<Lda>("lda", "config.json", bytes),
        runs.opened::<Pmf>("pmf", "config.json", bytes),
    ];
    reads.into_iter().reduce(Result::or).expect("three models")
}

pub fn trace(folder: &Folder, bytes: &[u8]) -> Read {
    folder.runs().opened::<Mixture>("gmm", "trace.jsonl", bytes)
}

pub fn vocabulary(folder: &Folder, bytes: &[u8]) -> Read {
    folder.runs().opened::<Lda>("lda", "vocabulary.tsv", bytes)
}

pub fn seen(folder: &Folder, bytes: &[u8]) -> Read {
    folder.runs().opened::<Pmf>("pmf", "seen.safetensors", bytes)
}

pub fn ids(folder: &Folder, bytes: &[u8]) -> Read {
    let _ = folder.runs().opened::<Pmf>("pmf", "users.jsonl", bytes);
    told(Ids::load(&folder.file("ids.jsonl", bytes)))
}

/// A configuration in TOML, for every model. Files that it names are not opened: they are targets of
/// their own.
pub fn config_file(folder: &Folder, bytes: &[u8]) -> Read {
    const ITEMS: usize = 100;
    let path = folder.file("run.toml", bytes);
    let path = Some(path.as_path());
    let settings = |model: &str| -> anyhow::Result<(ConfigFile, &Tables)> {
        let file = ConfigFile::read(path)?;
        let config: FitConfig = file.settings("fit", FIT, file.table("fit"))?;
        config.check(ITEMS)?;
        let tables = TABLES.iter().find(|tables| tables.model == model).expect("a known model");
        Ok((file, tables))
    };
    let mixture = || -> anyhow::Result<()> {
        let (file, tables) = settings("gmm")?;
        file.settings::<PointsOptions>("data", tables.data, file.table("data"))?;
        let points = lehr::data::Points::new((0..2 * ITEMS).map(|x| x as f64).collect(), 2)?;
        Mixture::new(file.settings("model", tables.own, file.table("model"))?, &points)?;
        Ok(())
    };
    let lda = || -> anyhow::Result<()> {
        let (file, tables) = settings("lda")?;
        file.settings::<DocsOptions>("data", tables.data, file.table("data"))?;
        let params: LdaParams = file.settings("model", tables.own, file.table("model"))?;
        Ok(params.check()?)
    };
    let pmf = || -> anyhow::Result<()> {
        let (file, tables) = settings("pmf")?;
        file.settings::<RatingsOptions>("data", tables.data, file.table("data"))?;
        let params: PmfParams = file.settings("model", tables.own, file.table("model"))?;
        Ok(params.check()?)
    };
    told(mixture()).or(told(lda())).or(told(pmf()))
}
