//! Data in shards: a folder of files that any machine can open by itself, and a manifest that says what is in each.
//!
//! `manifest.json` is written last, so that a folder without it is not complete. A shard of documents is a converted
//! corpus ([`Docs::save`](crate::data::Docs::save)) without names, which are in `vocabulary.json`, a list; a shard of
//! points is a NumPy matrix; both are memory-mapped. A shard of ratings has all ratings of its users as arrays. A fit to a folder has the same bits wherever its shards are worked
//! on, and however many machines share them; those bits depend on how many shards there are.
//!
//! ```
//! use lehr::shards::{ShardFolder, make_points};
//!
//! let place = tempfile::tempdir()?;
//! let (file, shards) = (place.path().join("points.csv"), place.path().join("points.shards"));
//! std::fs::write(&file, "x,y\n0,1\n2,3\n4,5\n")?;
//! make_points(&[file], &Default::default(), 2, &shards)?;
//!
//! let folder = ShardFolder::open(&shards)?;
//! assert_eq!((folder.n_shards(), folder.manifest().rows), (2, 3));
//! folder.check(1)?; // reads it, and compares its hash
//!
//! // A fit reads the folder as it would read a file.
//! let points = lehr::read::points(&shards, &Default::default())?;
//! assert_eq!(points.n_items(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod make_docs;
mod make_points;
mod make_ratings;
mod open;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use make_docs::make_docs;
pub use make_points::make_points;
pub use make_ratings::make_ratings;
pub use open::Sharded;
pub(crate) use open::{RatingsShard, rating_totals, ratings_shard};

use crate::settings::choices;
use crate::{Error, Result, write};

const MANIFEST: &str = "manifest.json";
const VOCABULARY: &str = "vocabulary.json";
const FORMAT: u32 = 1;

choices! {
    /// What the rows of shards are.
    #[derive(Default)]
    pub enum Kind {
        /// Bags of words.
        #[default]
        Documents = "documents",
        /// Rows of numbers.
        Points = "points",
        /// Ratings, all of a user in one shard.
        Ratings = "ratings",
    }
}

/// What a folder of shards holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: u32,
    /// What the rows are.
    pub kind: Kind,
    /// All rows: documents, points or ratings.
    pub rows: u64,
    /// The words of all documents, each as often as it occurs; else 0.
    pub tokens: f64,
    /// V, the columns of points, or how many are rated.
    pub columns: usize,
    /// The columns' names, if points have any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The hash of the words' names, if documents have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<String>,
    /// The hashes of other files that belong to them: of ratings the names of users and items, and how many ratings each
    /// item has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sidecars: BTreeMap<String, String>,
    /// The shards, in order.
    pub shards: Vec<Entry>,
}

/// What is known of a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The file, in the folder.
    pub file: String,
    /// Its rows.
    pub rows: u64,
    /// The words of its documents, each as often as it occurs; 0 for points.
    pub tokens: f64,
    /// Its length.
    pub bytes: u64,
    /// XXH3 of all of it, 32 hexadecimal digits.
    pub hash: String,
}

/// A folder of shards.
#[derive(Debug, Clone)]
pub struct ShardFolder {
    path: PathBuf,
    manifest: Manifest,
}

impl ShardFolder {
    /// Whether a path is a folder of shards, complete or not.
    pub fn is(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    /// Opens a folder. What its shards hold is not looked at.
    pub fn open(path: &Path) -> Result<Self> {
        let file = path.join(MANIFEST);
        let text = fs::read(&file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if path.is_dir() => Error::parse(
                path,
                format!("is no folder of shards: it has no {MANIFEST}, which is written last; make the shards again"),
            ),
            _ => Error::io(&file, "cannot read", error),
        })?;
        let wrong = |what: String| Error::parse(&file, format!("{what}; make the shards again"));
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if manifest.format != FORMAT {
            let found = manifest.format;
            return Err(wrong(format!(
                "is version {found} of the format, and this lehr reads version {FORMAT}"
            )));
        }
        let rows: u64 = manifest.shards.iter().map(|shard| shard.rows).sum();
        let within = |name: &str| Path::new(name).file_name().is_some_and(|file| file == name);
        let sound = rows == manifest.rows
            && manifest.shards.iter().all(|shard| shard.rows > 0 && within(&shard.file));
        if rows == 0 || rows > u64::from(u32::MAX) || !sound {
            return Err(wrong(format!(
                "promises {} rows, and its shards have {rows}, each at least 1 and all at most {}",
                manifest.rows,
                u32::MAX
            )));
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Ok(ShardFolder { path, manifest })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// How many shards.
    pub fn n_shards(&self) -> usize {
        self.manifest.shards.len()
    }

    /// The file of a shard.
    pub fn file(&self, shard: usize) -> PathBuf {
        self.path.join(&self.manifest.shards[shard].file)
    }

    /// What identifies the data: all that the manifest knows of the shards.
    pub fn fingerprint(&self) -> u128 {
        let mut hash = Xxh3::new();
        hash.update(self.manifest.kind.name().as_bytes());
        hash.update(&(self.manifest.columns as u64).to_le_bytes());
        for Entry { rows, hash: own, .. } in &self.manifest.shards {
            hash.update(&rows.to_le_bytes());
            hash.update(own.as_bytes());
        }
        for own in self.manifest.sidecars.values() {
            hash.update(own.as_bytes());
        }
        hash.digest128()
    }

    /// Refuses a folder of something else.
    pub fn check_kind(&self, kind: Kind) -> Result<()> {
        let found = self.manifest.kind;
        if found == kind {
            return Ok(());
        }
        Err(Error::parse(&self.path, format!("has shards of {found}, and {kind} are needed")))
    }

    /// Refuses a shard whose length is another than that of the file that was written.
    pub fn check_length(&self, shard: usize) -> Result<()> {
        let (file, entry) = (self.file(shard), &self.manifest.shards[shard]);
        let found = fs::metadata(&file).map_err(|error| Error::io(&file, "cannot read", error))?;
        if found.len() == entry.bytes {
            return Ok(());
        }
        Err(self.changed(shard, format!("{} bytes, not {}", found.len(), entry.bytes)))
    }

    /// Refuses a shard that is not the file that was written, by its length and by its hash: all of it is read.
    pub fn check(&self, shard: usize) -> Result<()> {
        self.check_length(shard)?;
        let (file, entry) = (self.file(shard), &self.manifest.shards[shard]);
        let found = hash_of(&file)?;
        if found == entry.hash {
            return Ok(());
        }
        Err(self.changed(shard, format!("hash {found}, not {}", entry.hash)))
    }

    fn changed(&self, shard: usize, what: String) -> Error {
        let manifest = self.path.join(MANIFEST);
        let message = format!(
            "is not the shard any more that {} tells of ({what}); put the old file back, or make the shards again",
            manifest.display()
        );
        Error::parse(&self.file(shard), message)
    }

    /// A file that belongs to the shards, as it was written.
    fn sidecar(&self, name: &str) -> Result<(PathBuf, Vec<u8>)> {
        let file = self.path.join(name);
        let bytes = fs::read(&file).map_err(|error| Error::io(&file, "cannot read", error))?;
        if self.manifest.sidecars.get(name) != Some(&hash_of_bytes(&bytes)) {
            let message =
                "is not the file any more that was made with these shards; make the shards again";
            return Err(Error::parse(&file, message));
        }
        Ok((file, bytes))
    }

    /// The words' names, if documents have any.
    fn vocabulary(&self) -> Result<Option<Vec<String>>> {
        let Some(expected) = &self.manifest.vocabulary else { return Ok(None) };
        let file = self.path.join(VOCABULARY);
        let bytes = fs::read(&file).map_err(|error| Error::io(&file, "cannot read", error))?;
        if hash_of_bytes(&bytes) != *expected {
            let message = "is not the vocabulary of these shards any more; make the shards again";
            return Err(Error::parse(&file, message));
        }
        let wrong = |error| Error::parse(&file, format!("{error}; make the shards again"));
        serde_json::from_slice(&bytes).map(Some).map_err(wrong)
    }
}

fn hash_of_bytes(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

/// The hash of a file, of which little is in memory at a time.
fn hash_of(path: &Path) -> Result<String> {
    let cannot_read = |error| Error::io(path, "cannot read", error);
    let mut file = File::open(path).map_err(cannot_read)?;
    let (mut hash, mut block) = (Xxh3::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(format!("{:032x}", hash.digest128())),
            Ok(n) => hash.update(&block[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(cannot_read(error)),
        }
    }
}

/// A folder in the making.
struct Making {
    path: PathBuf,
    shards: Vec<Entry>,
}

impl Making {
    /// Starts a folder; refuses one that holds anything already.
    fn begin(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| Error::io(path, "cannot create", error))?;
        let mut found = fs::read_dir(path).map_err(|e| Error::io(path, "cannot read", e))?;
        if let Some(Ok(entry)) = found.next() {
            let name = entry.file_name();
            let message = format!(
                "holds {} already; give a folder that is empty or not there yet",
                name.to_string_lossy()
            );
            return Err(Error::run(path, message));
        }
        Ok(Making { path: path.to_path_buf(), shards: Vec::new() })
    }

    /// The rows of each shard: as many in each as can be. Refuses more shards than rows.
    fn split(rows: usize, n_shards: usize) -> Result<Vec<std::ops::Range<usize>>> {
        if n_shards == 0 || n_shards > rows {
            let allowed = format!("must be at least 1, and at most {rows}, one for each row");
            return Err(Error::config("shards", n_shards, allowed));
        }
        let start = |shard: usize| (shard as u128 * rows as u128 / n_shards as u128) as usize;
        Ok((0..n_shards).map(|shard| start(shard)..start(shard + 1)).collect())
    }

    /// Where the next shard is to be written.
    fn next(&self, ending: &str) -> PathBuf {
        self.path.join(format!("{:05}.{ending}", self.shards.len()))
    }

    /// The next shard is written.
    fn add(&mut self, file: &Path, rows: usize, tokens: f64) -> Result<()> {
        let bytes = fs::metadata(file).map_err(|e| Error::io(file, "cannot read", e))?.len();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hash = hash_of(file)?;
        self.shards.push(Entry { file: name, rows: rows as u64, tokens, bytes, hash });
        Ok(())
    }

    /// Writes the manifest, with which the folder is complete.
    fn finish(self, kind: Kind, columns: usize, names: Names) -> Result<ShardFolder> {
        let mut sidecars = BTreeMap::new();
        let (names, vocabulary) = match names {
            Names::None => (Vec::new(), None),
            Names::Columns(names) => (names, None),
            Names::Sidecars(written) => {
                sidecars = written;
                (Vec::new(), None)
            }
            Names::Words(words) => {
                let text = serde_json::to_vec(&words).expect("plain values become JSON");
                write::whole(&self.path.join(VOCABULARY), &text)?;
                (Vec::new(), Some(hash_of_bytes(&text)))
            }
        };
        let Making { path, shards } = self;
        let (rows, tokens) = (
            shards.iter().map(|shard| shard.rows).sum(),
            shards.iter().map(|shard| shard.tokens).sum(),
        );
        let format = FORMAT;
        let manifest =
            Manifest { format, kind, rows, tokens, columns, names, vocabulary, sidecars, shards };
        let mut text = serde_json::to_vec_pretty(&manifest).expect("plain values become JSON");
        text.push(b'\n');
        write::whole(&path.join(MANIFEST), &text)?;
        ShardFolder::open(&path)
    }
}

/// What the columns of data are called.
enum Names {
    None,
    Columns(Vec<String>),
    Words(Vec<String>),
    /// In files of their own, which are written already: their hashes.
    Sidecars(BTreeMap<String, String>),
}
