//! Numbers in single precision.

use crate::dispatch;
use crate::lanes::Lanes;

dispatch! {
    /// `to[i] = from[i]`, rounded.
    ///
    /// Equivalent to `as f32` of each number.
    ///
    /// # Panics
    /// If the lengths differ.
    narrow => narrow_body(from: &[f64], to: &mut [f32])
}

#[inline(always)]
fn narrow_body<L: Lanes>(from: &[f64], to: &mut [f32]) {
    assert_eq!(from.len(), to.len(), "a place for each number");
    // The compiler makes vectors of the instruction set of it.
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as f32);
}
