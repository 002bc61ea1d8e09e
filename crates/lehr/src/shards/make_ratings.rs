//! Shards of ratings, each with all ratings of its users: of one file or of many, of which one is in memory at a time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Kind, Making, Names, ShardFolder};
use crate::data::{Id, Ids, Ratings, Refused, Side};
use crate::read::{self, RatingsOptions};
use crate::store::tensors::{Array, pack};
use crate::{Error, Result, write};

pub(super) const USERS: &str = "users.jsonl";
pub(super) const ITEMS: &str = "items.jsonl";
/// How many ratings each item has in all shards.
pub(super) const TOTALS: &str = "totals.safetensors";

/// Bytes of a rating that waits: user, item, value.
const WAITING: usize = 12;

/// Makes a folder of shards of the ratings in these files, each in any format that [`read::ratings`] reads and all with the
/// same options. Users and items are numbered as they come, and a shard has the ratings of neighbouring users, about as
/// many as any other.
///
/// Ratings wait on disk, in the new folder: the memory needed is that of the largest file, or of a shard, and of the names.
pub fn make_ratings(
    files: &[PathBuf],
    options: &RatingsOptions,
    n_shards: usize,
    folder: &Path,
) -> Result<ShardFolder> {
    if let Some(weight) = &options.weight {
        return Err(Error::config(
            "weight",
            weight,
            "shards have no room for weights; leave it out",
        ));
    }
    let mut making = Making::begin(folder)?;
    if files.is_empty() {
        return Err(Error::data("there are no files to make shards of"));
    }
    let waiting = Waiting { path: folder.join("waiting.bin") };
    let all = waiting.fill(files, options)?;
    let cuts = cuts(&all.counts, n_shards)?;
    let parts: Vec<Waiting> = (0..n_shards)
        .map(|s| Waiting { path: folder.join(format!("waiting-{s:05}.bin")) })
        .collect();
    waiting.deal(&cuts, &parts)?;
    waiting.remove()?;
    let n_items = all.items.len();
    let items: Arc<Ids> = Arc::new((0..n_items as i64).collect());
    let mut before = vec![0; n_items];
    for (part, users) in parts.iter().zip(cuts.windows(2)) {
        let (user, item, value) = part.take(users[0])?;
        part.remove()?;
        let own: Arc<Ids> = Arc::new((0..(users[1] - users[0]) as i64).collect());
        let built = Ratings::build(own, items.clone(), user, item, value, options.duplicates);
        let ratings = built.map_err(|refused| match refused {
            Refused::Other(error) => error,
            Refused::Twice { user, item, .. } => Error::data(format!(
                "user {} rated item {} in two files; leave one rating out, or average them (duplicates)",
                all.users.get(user as usize + users[0] as usize),
                all.items.get(item as usize)
            )),
        })?;
        let file = making.next("safetensors");
        write::whole(&file, &bytes_of(&ratings, &before)?)?;
        making.add(&file, ratings.n_ratings(), 0.0)?;
        let ends = ratings.side(Side::Item).starts().windows(2);
        before.iter_mut().zip(ends).for_each(|(n, ends)| *n += (ends[1] - ends[0]) as i32);
    }
    let totals = pack(&[("totals", Array::list(&before))], None)?;
    let mut sidecars = BTreeMap::new();
    for (name, bytes) in
        [(USERS, all.users.to_bytes()), (ITEMS, all.items.to_bytes()), (TOTALS, totals)]
    {
        write::whole(&folder.join(name), &bytes)?;
        sidecars.insert(name.to_string(), super::hash_of_bytes(&bytes));
    }
    making.finish(Kind::Ratings, n_items, Names::Sidecars(sidecars))
}

/// A shard's file: `starts` (i64), `items` (i32) and `ratings` (f32), user after user, and how many ratings each item has
/// in the shards before it, `before` (i32).
fn bytes_of(ratings: &Ratings, before: &[i32]) -> Result<Vec<u8>> {
    let grouped = ratings.side(Side::User);
    let starts: Vec<i64> = grouped.starts().iter().map(|&start| start as i64).collect();
    let items: &[i32] = bytemuck::cast_slice(grouped.others());
    let arrays = [
        ("starts", Array::list(&starts)),
        ("items", Array::list(items)),
        ("ratings", Array::list(grouped.values())),
        ("before", Array::list(before)),
    ];
    pack(&arrays, None)
}

/// The first user of each shard, and the end of the last.
fn cuts(counts: &[u64], n_shards: usize) -> Result<Vec<u32>> {
    let n_users = counts.len();
    if n_shards == 0 || n_shards > n_users {
        let allowed = format!("must be at least 1, and at most {n_users}, one for each user");
        return Err(Error::config("shards", n_shards, allowed));
    }
    let ends: Vec<u64> = counts
        .iter()
        .scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        })
        .collect();
    let all = u128::from(ends[n_users - 1]);
    let mut cuts = vec![0];
    for shard in 1..n_shards {
        let target = (shard as u128 * all / n_shards as u128) as u64;
        let at = ends.partition_point(|&end| end <= target);
        // Every shard has a user.
        let least = cuts[shard - 1] as usize + 1;
        cuts.push(at.clamp(least, n_users - (n_shards - shard)) as u32);
    }
    cuts.push(n_users as u32);
    Ok(cuts)
}

/// Names of all files, and how many ratings each user has.
#[derive(Default)]
struct All {
    users: Ids,
    items: Ids,
    counts: Vec<u64>,
}

/// Ratings on disk.
struct Waiting {
    path: PathBuf,
}

impl Waiting {
    /// Reads files, and leaves their ratings here.
    fn fill(&self, files: &[PathBuf], options: &RatingsOptions) -> Result<All> {
        let mut out = self.create()?;
        let mut all = All::default();
        for file in files {
            let ratings = read::ratings(file, options)?;
            let users = numbers(ratings.ids(Side::User), &mut all.users);
            let items = numbers(ratings.ids(Side::Item), &mut all.items);
            all.counts.resize(all.users.len(), 0);
            for (user, item, value) in ratings.triples() {
                let (user, item) = (users[user as usize], items[item as usize]);
                all.counts[user as usize] += 1;
                out.write_all(&rating(user, item, value)).map_err(|e| self.cannot_write(e))?;
            }
        }
        out.flush().map_err(|e| self.cannot_write(e))?;
        Ok(all)
    }

    /// Leaves each rating with the part that has its user.
    fn deal(&self, cuts: &[u32], parts: &[Waiting]) -> Result<()> {
        let mut outs = parts.iter().map(Waiting::create).collect::<Result<Vec<_>>>()?;
        self.each(|user, item, value| {
            let part = cuts.partition_point(|&first| first <= user) - 1;
            outs[part]
                .write_all(&rating(user, item, value))
                .map_err(|error| parts[part].cannot_write(error))
        })?;
        outs.iter_mut()
            .zip(parts)
            .try_for_each(|(out, part)| out.flush().map_err(|error| part.cannot_write(error)))
    }

    /// The ratings here, with users numbered from `first`.
    #[allow(clippy::type_complexity)]
    fn take(&self, first: u32) -> Result<(Vec<u32>, Vec<u32>, Vec<f32>)> {
        let (mut users, mut items, mut values) = (Vec::new(), Vec::new(), Vec::new());
        self.each(|user, item, value| {
            users.push(user - first);
            items.push(item);
            values.push(value);
            Ok(())
        })?;
        Ok((users, items, values))
    }

    fn each(&self, mut see: impl FnMut(u32, u32, f32) -> Result<()>) -> Result<()> {
        let cannot_read = |error| Error::io(&self.path, "cannot read", error);
        let file = File::open(&self.path).map_err(cannot_read)?;
        let left = file.metadata().map_err(cannot_read)?.len() / WAITING as u64;
        let mut file = BufReader::with_capacity(1 << 18, file);
        let mut bytes = [0; WAITING];
        for _ in 0..left {
            file.read_exact(&mut bytes).map_err(cannot_read)?;
            let [user, item, value]: [[u8; 4]; 3] = bytemuck::cast(bytes);
            see(u32::from_le_bytes(user), u32::from_le_bytes(item), f32::from_le_bytes(value))?;
        }
        Ok(())
    }

    fn create(&self) -> Result<BufWriter<File>> {
        let file = File::create(&self.path).map_err(|error| self.cannot_write(error))?;
        Ok(BufWriter::with_capacity(1 << 16, file))
    }

    fn remove(&self) -> Result<()> {
        fs::remove_file(&self.path).map_err(|error| Error::io(&self.path, "cannot remove", error))
    }

    fn cannot_write(&self, error: std::io::Error) -> Error {
        Error::io(&self.path, "cannot write", error)
    }
}

fn rating(user: u32, item: u32, value: f32) -> [u8; WAITING] {
    bytemuck::cast([user.to_le_bytes(), item.to_le_bytes(), value.to_le_bytes()])
}

/// The numbers of names among all.
fn numbers(names: &Ids, all: &mut Ids) -> Vec<u32> {
    names
        .iter()
        .map(|id| match id {
            Id::Integer(number) => all.insert_integer(number),
            Id::Text(name) => all.insert(name),
        })
        .collect()
}
