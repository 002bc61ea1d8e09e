//! Ratings that users gave to items: a sparse matrix, kept by rows and by columns.

use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::grouped::{Grouped, Repeated};
use super::{Count, Dataset, FromFile, Ids};
use crate::error::{Advice, advice, setting};
use crate::read::{self, RatingsOptions};
use crate::settings::choices;
use crate::shards::ShardFolder;
use crate::{Error, Result};

/// One of the two sides of a rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Who rates: the rows of the matrix.
    User,
    /// What is rated: the columns.
    Item,
}

impl Side {
    /// The opposite side.
    pub fn other(self) -> Self {
        match self {
            Side::User => Side::Item,
            Side::Item => Side::User,
        }
    }
}

choices! {
    /// What becomes of a pair of user and item that is rated more than once.
    #[derive(Default)]
    pub enum Duplicates {
        /// An error.
        #[default]
        Refuse = "refuse",
        /// One rating, their mean.
        Mean = "mean",
    }
}

/// Ratings in the order of their users' numbers, then of their items'. Copies are cheap.
///
/// ```
/// use lehr::data::{Duplicates, Ids, Ratings, Side};
///
/// let users: Ids = ["ann", "bob"].into_iter().collect();
/// let items: Ids = [10, 20, 30].into_iter().collect();
/// let (user, item) = (vec![1, 0, 1], vec![2, 0, 0]);
/// let ratings = Ratings::new(users, items, user, item, vec![4.0, 5.0, 3.0], Duplicates::Refuse)?;
///
/// assert_eq!(ratings.side(Side::User).row(1), (&[0, 2][..], &[3.0, 4.0][..]));
/// assert_eq!(ratings.side(Side::Item).row(0), (&[0, 1][..], &[5.0, 3.0][..]));
/// assert_eq!((ratings.n_ratings(), ratings.mean()), (3, 4.0));
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ratings {
    users: Arc<Ids>,
    items: Arc<Ids>,
    by_user: Arc<Grouped>,
    by_item: Arc<Grouped>,
    mean: f64,
    variance: f64,
    n_averaged: usize,
    /// The folder whose shards they are all of, and where the ratings of each start.
    shards: Option<Arc<(ShardFolder, Vec<usize>)>>,
}

/// Why ratings are refused. Ratings are numbered from 0 as they came, so that a reader can say where
/// in its file they stand.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Two ratings of one pair.
    Twice {
        user: u32,
        item: u32,
        first: usize,
        second: usize,
        values: (f32, f32),
    },
    Other(Error),
}

impl Refused {
    /// The message; `place` says where a rating stands, e.g. "line 3".
    pub(crate) fn message(
        &self,
        (users, items): (&Ids, &Ids),
        place: impl Fn(usize) -> String,
    ) -> Advice {
        match self {
            Refused::Other(error) => error.to_string().into(),
            Refused::Twice { user, item, first, second, values } => advice![
                format!(
                    "user {} rated item {} twice: {} ({}) and {} ({})",
                    users.get(*user as usize),
                    items.get(*item as usize),
                    values.0,
                    place(*first),
                    values.1,
                    place(*second),
                ),
                "; take one out, or average them with ",
                setting("duplicates").to(Duplicates::Mean),
            ],
        }
    }
}

impl Ratings {
    /// Ratings from their users' and items' numbers and values, in any order. Users and items
    /// without ratings are allowed; no ratings at all are refused, as is a value that is not finite.
    pub fn new(
        users: Ids,
        items: Ids,
        user: Vec<u32>,
        item: Vec<u32>,
        value: Vec<f32>,
        duplicates: Duplicates,
    ) -> Result<Self> {
        let (users, items) = (Arc::new(users), Arc::new(items));
        let built =
            Self::build(Arc::clone(&users), Arc::clone(&items), user, item, value, duplicates);
        built.map_err(|refused| match refused {
            Refused::Other(error) => error,
            twice => Error::data(
                twice.message((&users, &items), |index| format!("rating {}", index + 1)),
            ),
        })
    }

    /// The same with a weight for each rating: y ~ N(expected, sigma^2 / weight), so that one of weight 2 counts like
    /// two that agree. Weights are positive; pairs that are rated more than once are refused.
    ///
    /// ```
    /// use lehr::data::{Ids, Ratings, Side};
    ///
    /// let (users, items): (Ids, Ids) = ((0..2).collect(), (0..1).collect());
    /// let ratings =
    ///     Ratings::weighted(users, items, vec![1, 0], vec![0, 0], vec![4.0, 1.0], vec![0.5, 1.0])?;
    /// assert_eq!(ratings.side(Side::Item).weights_of(0), [1.0, 0.5]);
    /// assert_eq!(ratings.mean(), 2.0);
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn weighted(
        users: Ids,
        items: Ids,
        user: Vec<u32>,
        item: Vec<u32>,
        value: Vec<f32>,
        weight: Vec<f32>,
    ) -> Result<Self> {
        let (order, n) = ((user.clone(), item.clone()), value.len());
        let built = Self::new(users, items, user, item, value, Duplicates::Refuse)?;
        if weight.len() != n {
            let what = format!("{} weights are not those of {n} ratings", weight.len());
            return Err(Error::data(format!("{what}; give one for each")));
        }
        if let Some(i) = weight.iter().position(|weight| !is_weight(*weight)) {
            return Err(Error::data(format!(
                "rating {} (user {}, item {}) has weight {}; {WEIGHTS}",
                i + 1,
                built.users.get(order.0[i] as usize),
                built.items.get(order.1[i] as usize),
                weight[i]
            )));
        }
        Ok(built.weigh(order.0, order.1, weight))
    }

    /// The same with weights that stand in the order of these users and items, each pair of which is there once.
    pub(crate) fn weigh(self, user: Vec<u32>, item: Vec<u32>, weight: Vec<f32>) -> Self {
        let (users, items) = (Arc::clone(&self.users), Arc::clone(&self.items));
        let sorted =
            Self::build(users, items, user, item, weight, Duplicates::Refuse).map(|sorted| {
                let weights = sorted.by_user.values().to_vec();
                Arc::unwrap_or_clone(self.by_user).with_weights(weights)
            });
        let by_user = sorted.ok().flatten().expect("these are the pairs of the ratings");
        Self::of_users(self.users, self.items, by_user)
    }

    /// Whether ratings have weights.
    pub fn is_weighted(&self) -> bool {
        !self.by_user.weights().is_empty()
    }

    pub(crate) fn build(
        users: Arc<Ids>,
        items: Arc<Ids>,
        user: Vec<u32>,
        item: Vec<u32>,
        value: Vec<f32>,
        duplicates: Duplicates,
    ) -> Result<Self, Refused> {
        check(&users, &items, &user, &item, &value).map_err(Refused::Other)?;
        if user.is_sorted() {
            // As most files are: a row is sorted where it stands, in little more than half of the memory.
            let mut by_user = Grouped::in_place(users.len(), user, item, value);
            let n_averaged = match by_user.sort_rows() {
                None => 0,
                Some(twice) if duplicates == Duplicates::Refuse => {
                    let Repeated { row, other, places: [first, second], values: [a, b] } = twice;
                    let (user, item, values) = (row, other, (a, b));
                    return Err(Refused::Twice { user, item, first, second, values });
                }
                Some(_) => by_user.average_repeated(),
            };
            let by_item = by_user.transpose(items.len());
            return Ok(Self::join(users, items, by_user, by_item, n_averaged));
        }
        // Sorting by item, then stably by user, sorts by both. What a pass needs least is let go
        // first, since this is where a reader's memory is highest.
        let rough = Grouped::sort(items.len(), &item, &user, &value);
        let mut by_user = rough.transpose(users.len());
        let mut n_averaged = 0;
        if let Some((row, other)) = by_user.first_repeated() {
            if duplicates == Duplicates::Refuse {
                let mut same = (0..user.len()).filter(|&i| user[i] == row && item[i] == other);
                let (first, second) = (same.next().unwrap_or(0), same.next().unwrap_or(0));
                let values = (value[first], value[second]);
                return Err(Refused::Twice { user: row, item: other, first, second, values });
            }
            n_averaged = by_user.average_repeated();
        }
        drop((user, item, value));
        let by_item = by_user.transpose_into(rough, n_averaged > 0);
        Ok(Self::join(users, items, by_user, by_item, n_averaged))
    }

    fn join(
        users: Arc<Ids>,
        items: Arc<Ids>,
        by_user: Grouped,
        by_item: Grouped,
        n_averaged: usize,
    ) -> Self {
        let weights = by_user.weights();
        let n = match weights {
            [] => by_user.values().len().max(1) as f64,
            weights => weights.iter().map(|&weight| f64::from(weight)).sum(),
        };
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            let values = by_user.values().iter().map(|&value| of(f64::from(value)));
            match weights {
                [] => values.sum(),
                weights => values.zip(weights).map(|(x, &weight)| x * f64::from(weight)).sum(),
            }
        };
        let mean = sum(&|value| value) / n;
        let variance = sum(&|value| (value - mean).powi(2)) / n;
        let (by_user, by_item) = (Arc::new(by_user), Arc::new(by_item));
        let shards = None;
        Ratings { users, items, by_user, by_item, mean, variance, n_averaged, shards }
    }

    /// The ratings of some users, sorted already.
    pub(crate) fn of_users(users: Arc<Ids>, items: Arc<Ids>, by_user: Grouped) -> Self {
        let by_item = by_user.transpose(items.len());
        Self::join(users, items, by_user, by_item, 0)
    }

    /// The same, as all that the shards of a folder have.
    pub(crate) fn in_shards(self, folder: &ShardFolder) -> Self {
        let mut starts = vec![0];
        for shard in &folder.manifest().shards {
            starts.push(starts[starts.len() - 1] + shard.rows as usize);
        }
        Ratings { shards: Some(Arc::new((folder.clone(), starts))), ..self }
    }

    /// The folder whose shards they are all of, if they are.
    pub(crate) fn shards(&self) -> Option<&ShardFolder> {
        self.shards.as_ref().map(|shards| &shards.0)
    }

    /// How many ratings.
    pub fn n_ratings(&self) -> usize {
        self.by_user.values().len()
    }

    /// The names of the users or items.
    pub fn ids(&self, side: Side) -> &Arc<Ids> {
        match side {
            Side::User => &self.users,
            Side::Item => &self.items,
        }
    }

    /// The ratings in the order of users or of items.
    pub fn side(&self, side: Side) -> &Arc<Grouped> {
        match side {
            Side::User => &self.by_user,
            Side::Item => &self.by_item,
        }
    }

    /// The mean of all ratings, by their weights; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The mean squared distance of all ratings from their mean, by their weights; 0 if there are none.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// How many pairs of user and item were rated more than once and averaged.
    pub fn n_averaged(&self) -> usize {
        self.n_averaged
    }

    /// User, item and value of every rating, by users, then by items.
    pub fn triples(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..self.by_user.n_rows()).flat_map(|row| {
            let (others, values) = self.by_user.row(row);
            others.iter().zip(values).map(move |(&other, &value)| (row as u32, other, value))
        })
    }

    /// Some of the ratings, by their rising places in the order of [`triples`](Ratings::triples).
    /// All users and items stay, those without ratings too.
    ///
    /// # Panics
    ///
    /// If the places do not rise or one is not below [`n_ratings`](Ratings::n_ratings).
    pub fn subset(&self, ratings: &[u32]) -> Ratings {
        let by_user = self.by_user.subset(ratings);
        let by_item = by_user.transpose(self.items.len());
        let (users, items) = (Arc::clone(&self.users), Arc::clone(&self.items));
        Self::join(users, items, by_user, by_item, 0)
    }

    /// What identifies these ratings: a hash of all ids, numbers and values, whichever format they
    /// were read from.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        hash.update(b"ratings");
        self.users.add_to(&mut hash);
        self.items.add_to(&mut hash);
        self.by_user.starts().iter().for_each(|&start| hash.update(&(start as u64).to_le_bytes()));
        hash.update(bytemuck::cast_slice(self.by_user.others()));
        let mut block = [0.0; 1024];
        for values in self.by_user.values().chunks(block.len()) {
            // 0 and -0 are the same rating.
            values.iter().zip(&mut block).for_each(|(value, place)| *place = value + 0.0);
            hash.update(bytemuck::cast_slice(&block[..values.len()]));
        }
        hash.update(bytemuck::cast_slice(self.by_user.weights()));
        format!("{:032x}", hash.digest128())
    }
}

impl Dataset for Ratings {
    const ITEMS: &'static str = "ratings";

    fn n_items(&self) -> usize {
        self.n_ratings()
    }

    fn groups(&self, phase: usize) -> &[usize] {
        let side = if phase == 0 { Side::User } else { Side::Item };
        self.side(side).starts()
    }

    fn parts(&self) -> &[usize] {
        self.shards.as_ref().map_or(&[], |shards| &shards.1)
    }

    fn largest_block(&self) -> usize {
        let largest = |phase| self.groups(phase).windows(2).map(|pair| pair[1] - pair[0]).max();
        largest(0).max(largest(1)).unwrap_or(0)
    }
}

impl FromFile for Ratings {
    type Options = RatingsOptions;

    fn read(path: &Path, options: &RatingsOptions) -> Result<Self> {
        read::ratings(path, options)
    }

    fn subset(&self, items: &[u32]) -> Self {
        self.subset(items)
    }

    fn fingerprint(&self) -> String {
        self.fingerprint()
    }

    fn counts(&self) -> Vec<Count> {
        let mut counts = vec![
            Count::of(self.n_ratings(), "rating", "ratings"),
            Count::of(self.users.len(), "user", "users"),
            Count::of(self.items.len(), "item", "items"),
        ];
        if self.n_averaged > 0 {
            counts.push(Count::of(self.n_averaged, "average of several", "averages of several"));
        }
        counts
    }
}

/// What a weight may be.
pub(crate) const WEIGHTS: &str =
    "a weight must be positive and finite; leave out ratings that do not count";

/// Whether a number is a weight.
pub(crate) fn is_weight(x: f32) -> bool {
    x > 0.0 && x.is_finite()
}

fn check(users: &Ids, items: &Ids, user: &[u32], item: &[u32], value: &[f32]) -> Result<()> {
    let n = value.len();
    if user.len() != n || item.len() != n {
        return Err(Error::data(format!(
            "{} users, {} items and {n} values do not make ratings; give as many of each",
            user.len(),
            item.len()
        )));
    }
    if n == 0 {
        return Err(Error::data("there are no ratings; give at least one"));
    }
    if n >= u32::MAX as usize {
        return Err(Error::data(format!(
            "{n} ratings are too many; there may be at most {}",
            u32::MAX - 1
        )));
    }
    for (numbers, ids, what) in [(user, users, "user"), (item, items, "item")] {
        if let Some(i) = numbers.iter().position(|&number| number as usize >= ids.len()) {
            return Err(Error::data(format!(
                "rating {} is of {what} {}, numbered from 0, and there are {} ids",
                i + 1,
                numbers[i],
                ids.len()
            )));
        }
    }
    if let Some(i) = value.iter().position(|value| !value.is_finite()) {
        return Err(Error::data(format!(
            "rating {} (user {}, item {}) is {}; a rating must be finite",
            i + 1,
            users.get(user[i] as usize),
            items.get(item[i] as usize),
            value[i]
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Address, Purpose};

    fn ids(n: usize) -> Ids {
        (0..n as i64).collect()
    }

    fn fault(users: usize, user: &[u32], item: &[u32], value: &[f32]) -> String {
        let (user, item, value) = (user.to_vec(), item.to_vec(), value.to_vec());
        let made = Ratings::new(ids(users), ids(2), user, item, value, Duplicates::Refuse);
        made.unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_rating_is_refused() {
        assert_eq!(fault(1, &[], &[], &[]), "there are no ratings; give at least one");
        assert_eq!(
            fault(1, &[0], &[], &[1.0]),
            "1 users, 0 items and 1 values do not make ratings; give as many of each"
        );
        assert_eq!(
            fault(1, &[0, 1], &[0, 0], &[1.0, 1.0]),
            "rating 2 is of user 1, numbered from 0, and there are 1 ids"
        );
        assert_eq!(
            fault(1, &[0, 0], &[0, 1], &[1.0, f32::NAN]),
            "rating 2 (user 0, item 1) is NaN; a rating must be finite"
        );
        assert_eq!(
            fault(2, &[1, 0, 1], &[1, 0, 1], &[1.0, 2.0, 3.5]),
            "user 1 rated item 1 twice: 1 (rating 1) and 3.5 (rating 3); take one out, or average them with `duplicates = mean`"
        );
        assert_eq!(
            fault(2, &[0, 1, 1, 1, 1], &[1, 1, 0, 1, 0], &[5.0, 1.0, 2.0, 3.5, 4.0]),
            "user 1 rated item 0 twice: 2 (rating 3) and 4 (rating 5); take one out, or average them with `duplicates = mean`"
        );
    }

    /// Many random ratings with repeated pairs, and the same sorted by comparison and averaged. Users come in any order,
    /// or one after the other.
    fn random(
        n: usize,
        n_users: u64,
        n_items: u64,
        in_order: bool,
    ) -> (Ratings, std::collections::BTreeMap<(u32, u32), Vec<f32>>) {
        let mut rng = Address::new(3, Purpose::Data, 0, 0).rng(0);
        let mut expected = std::collections::BTreeMap::<_, Vec<f32>>::new();
        let (mut user, mut item, mut value) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..n {
            let any = rng.below(n_users);
            user.push(if in_order { i as u64 * n_users / n as u64 } else { any } as u32);
            item.push(rng.below(n_items) as u32);
            value.push(rng.below(50) as f32 / 10.0);
            expected.entry((user[i], item[i])).or_default().push(value[i]);
        }
        let (users, items) = (ids(n_users as usize + 1), ids(n_items as usize));
        let made = Ratings::new(users, items, user, item, value, Duplicates::Mean);
        (made.unwrap(), expected)
    }

    fn mean(values: &[f32]) -> f32 {
        (values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64) as f32
    }

    #[test]
    fn both_sides_are_sorted_and_repeated_pairs_averaged() {
        for in_order in [false, true] {
            check_sides(300_000, 900, 400, in_order);
        }
    }

    fn check_sides(n: usize, n_users: u64, n_items: u64, in_order: bool) {
        let (ratings, expected) = random(n, n_users, n_items, in_order);
        assert!(expected.values().any(|values| values.len() > 2));
        assert_eq!(ratings.n_averaged(), expected.values().filter(|all| all.len() > 1).count());
        let own = ratings.triples().map(|(user, item, value)| ((user, item), value));
        assert!(own.eq(expected.iter().map(|(&pair, values)| (pair, mean(values)))));
        let by_item = ratings.side(Side::Item);
        let mut turned: Vec<_> = expected.iter().map(|(&(u, i), all)| (i, u, mean(all))).collect();
        turned.sort_by_key(|&(item, user, _)| (item, user));
        let own = (0..by_item.n_rows()).flat_map(|row| {
            let (others, values) = by_item.row(row);
            others.iter().zip(values).map(move |(&other, &value)| (row as u32, other, value))
        });
        assert!(own.eq(turned));
        assert_eq!(ratings.side(Side::User).n_rows(), n_users as usize + 1);
    }

    #[test]
    fn a_subset_keeps_all_users_and_items() {
        let (ratings, _) = random(2000, 60, 50, false);
        let places: Vec<u32> = (0..ratings.n_ratings() as u32).filter(|i| i % 3 == 1).collect();
        let some = ratings.subset(&places);
        let all: Vec<_> = ratings.triples().collect();
        assert!(some.triples().eq(places.iter().map(|&i| all[i as usize])));
        assert_eq!((some.side(Side::User).n_rows(), some.side(Side::Item).n_rows()), (61, 50));
        assert_eq!(some.side(Side::Item).values().len(), places.len());
        assert!(Arc::ptr_eq(some.ids(Side::User), ratings.ids(Side::User)));
        let none = ratings.subset(&[]);
        assert_eq!((none.n_ratings(), none.mean(), none.variance()), (0, 0.0, 0.0));
    }

    #[test]
    #[should_panic(expected = "places must rise")]
    fn places_that_do_not_rise_are_a_mistake() {
        random(100, 6, 5, false).0.subset(&[3, 3]);
    }

    #[test]
    fn mean_and_variance_are_those_of_all_ratings() {
        let (user, item, value) = (vec![0, 0, 1], vec![0, 1, 1], vec![1.0, 2.0, 6.0]);
        let made = Ratings::new(ids(2), ids(2), user, item, value, Duplicates::Refuse).unwrap();
        assert_eq!((made.mean(), made.variance()), (3.0, 14.0 / 3.0));
    }

    #[test]
    fn a_fingerprint_tells_ids_places_and_values_apart() {
        let print = |user: [u32; 2], item: [u32; 2], value: [f32; 2], n_users: usize| {
            let (user, item, value) = (user.to_vec(), item.to_vec(), value.to_vec());
            let made =
                Ratings::new(ids(n_users), ids(2), user, item, value, Duplicates::Refuse).unwrap();
            made.fingerprint()
        };
        let one = print([0, 1], [1, 0], [0.0, 5.0], 2);
        assert_eq!(one.len(), 32);
        assert_eq!(one, print([1, 0], [0, 1], [5.0, -0.0], 2));
        assert_ne!(one, print([0, 1], [1, 0], [0.0, 4.0], 2));
        assert_ne!(one, print([0, 1], [0, 1], [0.0, 5.0], 2));
        assert_ne!(one, print([0, 1], [1, 0], [0.0, 5.0], 3));
    }
}
