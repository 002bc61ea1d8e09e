//! Where the data of the experiments come from: what is bundled, what is made, what the user has.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::Options;

/// A data set that is not ours to ship.
#[derive(Debug, Clone, Copy)]
pub struct Public {
    /// Its name in the figures.
    pub name: &'static str,
    /// Where it may be below the folder of `--data`, with or without `.gz`.
    pub paths: &'static [&'static str],
    /// How many ratings or documents it has.
    pub rows: usize,
    /// Where it is to be had.
    pub origin: &'static str,
}

/// MovieLens 1M.
pub const MOVIELENS_1M: Public = Public {
    name: "MovieLens 1M",
    paths: &["ml-1m/ratings.dat"],
    rows: 1_000_209,
    origin: "GroupLens, \"MovieLens 1M Dataset\" (ml-1m.zip)",
};

/// MovieLens 10M.
pub const MOVIELENS_10M: Public = Public {
    name: "MovieLens 10M",
    paths: &["ml-10m/ratings.dat", "ml-10M100K/ratings.dat"],
    rows: 10_000_054,
    origin: "GroupLens, \"MovieLens 10M Dataset\" (ml-10m.zip)",
};

/// Ten million of the Netflix Prize's ratings, which stand in for MovieLens 10M.
pub const NETFLIX_10M: Public = Public {
    name: "Netflix 10M",
    paths: &["netflix-10m/ratings.dat"],
    rows: 9_980_226,
    origin: "the Netflix Prize data set: the customers whose id ends in 6 and who rated at least 20 movies",
};

/// The New York Times articles of the UCI repository.
pub const NEW_YORK_TIMES: Public = Public {
    name: "New York Times",
    paths: &["docword.nytimes.txt"],
    rows: 300_000,
    origin: "UCI Machine Learning Repository, \"Bag of Words\" (docword.nytimes.txt.gz)",
};

/// Reuters news, which stand in for the New York Times.
pub const REUTERS: Public = Public {
    name: "Reuters news",
    paths: &["docword.reuters-news.txt"],
    rows: 100_950,
    origin: "the Reuters articles of Ding, Zhang, Liu and Duan (EMNLP 2014), as a UCI bag of words",
};

impl Public {
    /// The file, if the user has it.
    pub fn find(&self, options: &Options) -> Option<PathBuf> {
        let folder = options.data.as_deref()?;
        let names = self.paths.iter().flat_map(|path| [path.to_string(), format!("{path}.gz")]);
        names.map(|name| folder.join(name)).find(|path| path.is_file())
    }

    /// Fails if a file has another number of rows than the original.
    pub fn check_rows(&self, path: &Path, found: usize) -> anyhow::Result<()> {
        if found != self.rows {
            bail!(
                "{}: {found} rows, but {} has {}; download it again: {}",
                path.display(),
                self.name,
                self.rows,
                self.origin,
            );
        }
        Ok(())
    }
}

/// Fails early if the folder that the user gave is none.
pub fn check_folder(options: &Options) -> anyhow::Result<()> {
    match &options.data {
        Some(folder) if !folder.is_dir() => {
            bail!("--data {}: there is no such folder", folder.display())
        }
        _ => Ok(()),
    }
}

/// The first of some data sets that the user has; an error that says where to get them if there is none.
pub fn first_of(options: &Options, sets: &[Public]) -> anyhow::Result<(Public, PathBuf)> {
    let found = sets.iter().find_map(|set| Some((*set, set.find(options)?)));
    found.with_context(|| {
        let wanted: Vec<String> =
            sets.iter().map(|set| format!("{} ({})", set.paths[0], set.origin)).collect();
        let wanted = wanted.join(" or ");
        match &options.data {
            Some(folder) => format!("--data {}: there is no {wanted}", folder.display()),
            None => {
                format!("this needs --data DIR with {wanted}; or try --quick, which needs none")
            }
        }
    })
}
