//! How good lists of items are: what users turned to later against what they would have been shown.

use rayon::prelude::*;
use serde::Serialize;

use super::Pmf;
use super::lists::ListOptions;
use crate::data::{Ratings, Side};
use crate::lambda::Lambda;
use crate::math::stop;

/// Users whose lists one worker makes at a time; part of the definition of the sums.
const CHUNK: usize = 64;

/// What lists are scored by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingOptions {
    /// The length of a list.
    pub k: usize,
    /// The least rating of an item that a user likes; all that a user has rated, if there is none.
    pub relevant: Option<f64>,
}

/// How good lists of k items are, on average over users. Of a user with R items to find, of which the list has those
/// on ranks r_1 < r_2 < ...
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ListScores {
    /// sum_i 1 / log2(1 + r_i), divided by what it is for the best list.
    pub ndcg: f64,
    /// How many of the R are found.
    pub recall: f64,
    /// How many of the k are found.
    pub precision: f64,
    /// sum_i i / r_i, divided by the smaller of R and k.
    pub map: f64,
    /// The share of users with at least one that is found.
    pub hit_rate: f64,
    /// The share of all items that are on any list.
    pub coverage: f64,
}

/// The lists of a model, and those of a most-popular baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankingScores {
    /// The length of a list.
    pub k: usize,
    /// Users with anything to find.
    pub users: usize,
    /// What there was to find.
    pub relevant: usize,
    /// Users that the model does not know, whom nothing was recommended to.
    pub unknown_users: usize,
    /// What cannot be found, since the model does not know the item.
    pub unknown_items: usize,
    /// The model's lists.
    pub model: ListScores,
    /// Lists of the items with most training ratings that the user has not rated.
    pub popularity: ListScores,
}

/// The sums over some users.
#[derive(Default)]
struct Sums {
    users: usize,
    relevant: usize,
    unknown_users: usize,
    unknown_items: usize,
    lists: [ListScores; 2],
    /// The items that were listed.
    listed: [Vec<u32>; 2],
}

impl Pmf {
    /// Scores the lists of this state for users of these ratings, which the model was not fitted to. Items that a user
    /// has rated in training are not listed, and not looked for.
    pub fn rank(
        &self,
        lambda: &Lambda,
        ratings: &Ratings,
        options: RankingOptions,
    ) -> RankingScores {
        let RankingOptions { k, relevant } = options;
        let (n_users, n_items) = (self.n_rows_of(Side::User), self.n_rows_of(Side::Item));
        let lists = self.lists(lambda, ListOptions { top: k, ..ListOptions::default() });
        let popular = self.by_popularity();
        let grouped = ratings.side(Side::User);
        let likes = |y: f32| relevant.is_none_or(|x| f64::from(y) >= x);
        let users: Vec<usize> = (0..grouped.n_rows()).collect();
        let parts: Vec<Sums> = users
            .par_chunks(CHUNK)
            .map(|users| {
                let mut sums = Sums::default();
                let (mut known, mut wanted) = (Vec::new(), Vec::new());
                for &user in users {
                    stop::check();
                    let (items, values) = grouped.row(user);
                    let number = (user < n_users).then_some(user as u32);
                    let seen = number.map_or(&[][..], |user| self.seen(user));
                    let liked = items.iter().zip(values).filter(|&(_, &y)| likes(y));
                    let new: Vec<u32> = liked
                        .map(|(&item, _)| item)
                        .filter(|item| seen.binary_search(item).is_err())
                        .collect();
                    match number {
                        _ if new.is_empty() => {}
                        None => sums.unknown_users += 1,
                        Some(_) => {
                            known.push(number);
                            wanted.push(new);
                        }
                    }
                }
                sums.users = known.len();
                for ((user, wanted), list) in known.iter().zip(&wanted).zip(lists.of(&known)) {
                    sums.relevant += wanted.len();
                    sums.unknown_items +=
                        wanted.iter().filter(|&&item| item as usize >= n_items).count();
                    let list: Vec<u32> = list.iter().map(|listed| listed.item).collect();
                    sums.add(0, &list, wanted, k);
                    let seen = user.map_or(&[][..], |user| self.seen(user));
                    let unseen = |item: &&u32| seen.binary_search(item).is_err();
                    let list: Vec<u32> = popular.iter().filter(unseen).take(k).copied().collect();
                    sums.add(1, &list, wanted, k);
                }
                sums
            })
            .collect();
        total(parts, k, n_items)
    }

    /// All items, those that most users have rated in training first.
    pub fn by_popularity(&self) -> Vec<u32> {
        let mut counts = vec![0u32; self.n_rows_of(Side::Item)];
        self.seen.others().iter().for_each(|&item| counts[item as usize] += 1);
        let mut items: Vec<u32> = (0..counts.len() as u32).collect();
        items.sort_by_key(|&item| (std::cmp::Reverse(counts[item as usize]), item));
        items
    }
}

impl Sums {
    /// Adds a list, of which the items that are `wanted`, which rise, are found.
    fn add(&mut self, which: usize, list: &[u32], wanted: &[u32], k: usize) {
        let (mut gain, mut precisions, mut hits) = (0.0, 0.0, 0.0);
        for (rank, item) in list.iter().enumerate() {
            if wanted.binary_search(item).is_ok() {
                hits += 1.0;
                gain += discount(rank);
                precisions += hits / (rank + 1) as f64;
            }
        }
        let most = wanted.len().min(k);
        let scores = &mut self.lists[which];
        scores.ndcg += gain / (0..most).map(discount).sum::<f64>();
        scores.recall += hits / wanted.len() as f64;
        scores.precision += hits / k as f64;
        scores.map += precisions / most as f64;
        scores.hit_rate += f64::from(hits > 0.0);
        self.listed[which].extend_from_slice(list);
    }
}

/// What an item on a rank from 0 is worth.
fn discount(rank: usize) -> f64 {
    1.0 / ((rank + 2) as f64).log2()
}

fn total(parts: Vec<Sums>, k: usize, n_items: usize) -> RankingScores {
    let mut all = Sums::default();
    let mut listed = [vec![false; n_items], vec![false; n_items]];
    for part in parts {
        all.users += part.users;
        all.relevant += part.relevant;
        all.unknown_users += part.unknown_users;
        all.unknown_items += part.unknown_items;
        for (((sum, add), listed), found) in
            all.lists.iter_mut().zip(&part.lists).zip(&mut listed).zip(&part.listed)
        {
            sum.ndcg += add.ndcg;
            sum.recall += add.recall;
            sum.precision += add.precision;
            sum.map += add.map;
            sum.hit_rate += add.hit_rate;
            found.iter().for_each(|&item| listed[item as usize] = true);
        }
    }
    let n = all.users as f64;
    let mean = |which: usize| {
        let (sum, listed) = (all.lists[which], listed[which].iter().filter(|&&is| is).count());
        ListScores {
            ndcg: sum.ndcg / n,
            recall: sum.recall / n,
            precision: sum.precision / n,
            map: sum.map / n,
            hit_rate: sum.hit_rate / n,
            coverage: listed as f64 / n_items as f64,
        }
    };
    RankingScores {
        k,
        users: all.users,
        relevant: all.relevant,
        unknown_users: all.unknown_users,
        unknown_items: all.unknown_items,
        model: mean(0),
        popularity: mean(1),
    }
}
