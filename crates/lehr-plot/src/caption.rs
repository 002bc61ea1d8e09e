//! Numbers and counts as a person reads them in captions, tables and sentences.

/// `1 step`, `2 steps`.
pub fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// A number with `significant` digits, in plain notation where that is short.
///
/// ```
/// use lehr_plot::caption::rounded;
///
/// assert_eq!(rounded(104.831, 4), "104.8");
/// assert_eq!(rounded(-1.2345e-7, 4), "-1.23e-7");
/// ```
pub fn rounded(x: f64, significant: i32) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let digits = x.abs().log10().floor() as i32;
    if !(-4..9).contains(&digits) {
        return format!("{x:.*e}", (significant - 2) as usize);
    }
    let decimals = (significant - 1 - digits).clamp(0, 6) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "start")), ["0 starts", "1 start", "2 starts"]);
    }

    #[test]
    fn numbers_read_well() {
        for (x, text) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (-1221700.25, "-1221700"),
            (0.000123456, "0.000123"),
            (1e-9, "1.0000e-9"),
            (3.0, "3"),
            (1e12, "1.0000e12"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(rounded(x, 6), text);
        }
    }
}
