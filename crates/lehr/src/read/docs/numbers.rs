//! Counts from bytes, and what is wrong with those that are none.

use super::super::digits::{number_of, whole};
use super::super::source::shown;

/// How often a word occurs, or what is wrong with it.
pub(super) fn count(text: &[u8]) -> Result<f32, String> {
    if let Some(number) = whole(text) {
        return Ok(number as f32);
    }
    let Some(number) = number_of(text) else {
        return Err(format!("found {}, which is not a number; a count is 0 or more", shown(text)));
    };
    checked(number)
}

/// A count in the precision in which it is kept, or what is wrong with it.
pub(super) fn checked(count: f64) -> Result<f32, String> {
    if count.is_nan() || count.is_infinite() {
        return Err(format!(
            "found {count}, which is not finite; a count is 0 or more: fix it or leave the entry out"
        ));
    }
    if count < 0.0 {
        return Err(format!(
            "found {count}, which is negative; a count is 0 or more: fix it or leave the entry out"
        ));
    }
    let kept = count as f32;
    if kept.is_infinite() {
        return Err(format!("found {count:e}, which is too large; counts go up to 3.4e38"));
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_finite_and_not_negative() {
        assert_eq!(count(b"3"), Ok(3.0));
        assert_eq!(count(b"0.25"), Ok(0.25));
        assert_eq!(count(b"-0"), Ok(0.0));
        for text in ["-1", "nan", "inf", "1e99", "x", "", "\u{ff}"] {
            assert!(count(text.as_bytes()).is_err(), "{text}");
        }
    }
}
