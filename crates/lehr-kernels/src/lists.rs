//! Inner products of a few users with many items, of which only those that reach a threshold are reported.

use crate::dispatch;
use crate::lanes32::{Lanes32, Narrow};

/// Users whose products are summed side by side: twelve sums and what they are made of fit into sixteen registers.
pub const LIST_USERS: usize = 6;

/// Items that lie side by side.
pub const LIST_ITEMS: usize = 32;

dispatch! {
    /// Adds to each user's `hits` the products that are at least the user's floor, and the items' numbers, which rise
    /// from `first`.
    ///
    /// `users` has a row of [`LIST_USERS`] numbers for each dimension, `items` a panel for every [`LIST_ITEMS`] items,
    /// with a row of these for each dimension. Equivalent to a sum over the dimensions, first to last, of fused
    /// multiply-adds: the same bits in all instruction sets that have them.
    ///
    /// # Panics
    /// If a length does not fit.
    reach => reach_body(
        users: &[f32], items: &[f32], first: u32, floors: &[f32], hits: &mut [Vec<(f32, u32)>],
    )
}

#[inline(always)]
fn reach_body<L: Narrow>(
    users: &[f32],
    items: &[f32],
    first: u32,
    floors: &[f32],
    hits: &mut [Vec<(f32, u32)>],
) {
    reach_in::<L::Single>(users, items, first, floors, hits);
}

#[inline(always)]
fn reach_in<V: Lanes32>(
    users: &[f32],
    items: &[f32],
    first: u32,
    floors: &[f32],
    hits: &mut [Vec<(f32, u32)>],
) {
    const { assert!(LIST_ITEMS.is_multiple_of(2 * V::N) && V::N <= 16) };
    let panel_len = users.len() / LIST_USERS * LIST_ITEMS;
    assert!(
        users.len().is_multiple_of(LIST_USERS) && panel_len > 0,
        "a row for each dimension, of which there are some"
    );
    assert!(items.len().is_multiple_of(panel_len), "whole panels");
    assert!(floors.len() == LIST_USERS && hits.len() == LIST_USERS, "one for each user");
    for (p, panel) in items.chunks_exact(panel_len).enumerate() {
        for at in (0..LIST_ITEMS).step_by(2 * V::N) {
            let mut sums = [[V::splat(0.0); 2]; LIST_USERS];
            for (of_items, of_users) in
                panel.chunks_exact(LIST_ITEMS).zip(users.chunks_exact(LIST_USERS))
            {
                // SAFETY: `at + 2 * V::N` is at most LIST_ITEMS, the length of `of_items`.
                let (a, b) = unsafe {
                    let from = of_items.as_ptr().add(at);
                    (V::load(from), V::load(from.add(V::N)))
                };
                for (sum, &x) in sums.iter_mut().zip(of_users) {
                    let x = V::splat(x);
                    *sum = [x.mul_add(a, sum[0]), x.mul_add(b, sum[1])];
                }
            }
            for ((sums, &floor), hits) in sums.into_iter().zip(floors).zip(hits.iter_mut()) {
                let floor = V::splat(floor);
                for (v, sum) in sums.into_iter().enumerate() {
                    let mut reached = sum.at_least(floor);
                    if reached == 0 {
                        continue;
                    }
                    let mut lanes = [0.0; 16];
                    // SAFETY: there is room for `V::N` numbers.
                    unsafe { sum.store(lanes.as_mut_ptr()) };
                    let before = first + (p * LIST_ITEMS + at + v * V::N) as u32;
                    while reached != 0 {
                        let lane = reached.trailing_zeros();
                        hits.push((lanes[lane as usize], before + lane));
                        reached &= reached - 1;
                    }
                }
            }
        }
    }
}
