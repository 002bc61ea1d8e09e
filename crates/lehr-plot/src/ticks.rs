//! Chooses tick positions on a linear or logarithmic axis and writes their labels.

use crate::decimal::{self, Decimal};

/// The ticks of one axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ticks {
    /// Where each tick is, in data units, ascending.
    pub at: Vec<f64>,
    /// The label of each tick.
    pub labels: Vec<String>,
    /// Ticks without a label that show an axis to be logarithmic.
    pub minor: Vec<f64>,
    /// What all labels share, e.g. `×1e−300` or `+1,000,000,000`; shown once at the axis' end.
    pub note: Option<String>,
}

impl Ticks {
    /// Those at whole numbers; all of them if a whole number is none.
    pub fn whole(mut self) -> Self {
        let is_whole: Vec<bool> = self.at.iter().map(|at| at.fract() == 0.0).collect();
        if is_whole.contains(&true) {
            let mut keep = is_whole.iter();
            self.at.retain(|_| keep.next() == Some(&true));
            let mut keep = is_whole.iter();
            self.labels.retain(|_| keep.next() == Some(&true));
        }
        self
    }
}

/// A range that can be drawn: finite, ascending, and wide enough to tell its ends apart.
///
/// Anything else (no data, one value, infinities) is widened to something sensible.
pub fn sane_range(lo: f64, hi: f64) -> (f64, f64) {
    if lo.is_nan() || hi.is_nan() || lo > hi {
        return (0.0, 1.0);
    }
    // Beyond this the span itself would overflow.
    let (lo, hi) = (lo.clamp(-1e300, 1e300), hi.clamp(-1e300, 1e300));
    let largest = lo.abs().max(hi.abs());
    if hi - lo > largest * 1e-12 && hi - lo > 1e-303 {
        return (lo, hi);
    }
    let middle = lo / 2.0 + hi / 2.0;
    let pad = if middle.abs() < 1e-300 { 1.0 } else { middle.abs() * 0.05 };
    (middle - pad, middle + pad)
}

/// As [`sane_range`], for a logarithmic axis: both ends positive.
pub fn sane_log_range(lo: f64, hi: f64) -> (f64, f64) {
    if lo.is_nan() || hi.is_nan() || lo > hi || hi <= 0.0 {
        return (1.0, 10.0);
    }
    let (lo, hi) = (lo.clamp(1e-300, 1e300), hi.clamp(1e-300, 1e300));
    if hi / lo > 1.0 + 1e-9 { (lo, hi) } else { (lo / 1.5, hi * 1.5) }
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, at most `most` of them (at least two).
pub fn linear(lo: f64, hi: f64, most: usize) -> Ticks {
    let (lo, hi) = sane_range(lo, hi);
    let most = most.max(2);
    let mut exponent = ((hi - lo) / most as f64).log10().floor() as i32;
    loop {
        for mantissa in [1_i64, 2, 5] {
            let step = Decimal { digits: mantissa, exponent }.value();
            // A hair of slack keeps a tick that rounding pushed just past the end.
            let first = (lo / step - 1e-9).ceil();
            let last = (hi / step + 1e-9).floor();
            if last - first + 1.0 > most as f64 {
                continue;
            }
            let ticks: Vec<Decimal> = (first as i64..=last as i64)
                .map(|i| Decimal { digits: i * mantissa, exponent })
                .collect();
            let (labels, note) = decimal::labels(&ticks);
            return Ticks {
                at: ticks.iter().map(|t| t.value()).collect(),
                labels,
                minor: Vec::new(),
                note,
            };
        }
        exponent += 1;
    }
}

/// Ticks for a logarithmic axis: decades, or 1-2-5 within few decades, or linear within one.
pub fn logarithmic(lo: f64, hi: f64, most: usize) -> Ticks {
    let (lo, hi) = sane_log_range(lo, hi);
    let most = most.max(2);
    let inside = |d: &Decimal| {
        let v = d.value();
        v >= lo * (1.0 - 1e-9) && v <= hi * (1.0 + 1e-9)
    };
    let (first, last) = (lo.log10().floor() as i32, hi.log10().ceil() as i32);
    let decades = |digits: &[i64], stride: i32| -> Vec<Decimal> {
        (first..=last)
            .filter(|e| e.rem_euclid(stride) == 0)
            .flat_map(|exponent| digits.iter().map(move |&digits| Decimal { digits, exponent }))
            .filter(inside)
            .collect()
    };
    let fine = decades(&[1, 2, 5], 1);
    let mut ticks = if fine.len() <= most { fine } else { decades(&[1], 1) };
    let mut stride = 1;
    while ticks.len() > most {
        stride += 1;
        ticks = decades(&[1], stride);
    }
    if ticks.len() < 3 && hi / lo < 1e3 {
        return linear(lo, hi, most);
    }
    // Across many decades minor ticks would merge into a bar.
    let minor = if stride == 1 { decades(&[2, 3, 4, 5, 6, 7, 8, 9], 1) } else { Vec::new() };
    Ticks {
        at: ticks.iter().map(|t| t.value()).collect(),
        labels: ticks.iter().map(|t| decimal::alone(*t)).collect(),
        minor: minor.iter().map(|t| t.value()).collect(),
        note: None,
    }
}

/// The most ticks whose labels, laid out along `length`, keep `gap` between neighbours.
///
/// `ticks` makes ticks for a wanted count, `place` gives a tick's position in `0..=length`
/// and `extent` how much of the axis' direction a label takes.
pub fn fitting(
    most: usize,
    gap: f64,
    ticks: impl Fn(usize) -> Ticks,
    place: impl Fn(f64) -> f64,
    extent: impl Fn(&str) -> f64,
) -> Ticks {
    let clear = |t: &Ticks| {
        (1..t.at.len()).all(|i| {
            let apart = (place(t.at[i]) - place(t.at[i - 1])).abs();
            apart >= (extent(&t.labels[i]) + extent(&t.labels[i - 1])) / 2.0 + gap
        })
    };
    (2..=most.max(2))
        .rev()
        .map(&ticks)
        .find(|t| clear(t))
        .or_else(|| {
            // Not even two labels fit: keep the first and let the reader see one number.
            let mut t = ticks(2);
            t.at.truncate(1);
            t.labels.truncate(1);
            Some(t)
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: [(f64, f64); 19] = [
        (1e9, 1e9 + 1.2e-7),
        (1e16, 1e16 + 2.0),
        (-1_221_700.0, -1_221_650.0),
        (-1100.0, -980.0),
        (0.0, 1.0),
        (0.0, 1e-300),
        (-1e300, 1e300),
        (f64::MIN, f64::MAX),
        (1e300, 1.0001e300),
        (5.0, 5.0),
        (0.0, 0.0),
        (-7e-12, -3e-12),
        (1e9, 1e9 + 1e-2),
        (-1e9 - 3e-2, -1e9),
        (1e15, 1e15 + 16.0),
        (0.999_999, 1.000_001),
        (f64::NAN, 3.0),
        (f64::NEG_INFINITY, f64::INFINITY),
        (0.0, 123_456_789.0),
    ];

    #[test]
    fn ticks_of_nasty_ranges_are_ascending_distinct_and_inside() {
        for (lo, hi) in NASTY {
            let t = linear(lo, hi, 7);
            let (lo, hi) = sane_range(lo, hi);
            assert!((2..=7).contains(&t.at.len()), "{lo}..{hi}: {t:?}");
            assert_eq!(t.at.len(), t.labels.len());
            assert!(t.at.windows(2).all(|w| w[0] < w[1]), "{lo}..{hi}: {t:?}");
            let slack = (hi - lo) * 1e-6;
            assert!(t.at.iter().all(|v| (lo - slack..=hi + slack).contains(v)), "{t:?}");
            let mut unique = t.labels.clone();
            unique.dedup();
            assert_eq!(unique.len(), t.labels.len(), "{lo}..{hi}: {t:?}");
            assert!(t.labels.iter().all(|l| l.chars().count() <= 11), "{lo}..{hi}: {t:?}");
        }
    }

    #[test]
    fn fitted_labels_never_overlap() {
        let extent = |l: &str| crate::text::width(l, 11.0);
        for (lo, hi) in NASTY {
            for length in [30.0, 90.0, 200.0, 420.0] {
                let (a, b) = sane_range(lo, hi);
                let place = |v: f64| (v / 2.0 - a / 2.0) / (b / 2.0 - a / 2.0) * length;
                let t = fitting(9, 8.0, |n| linear(lo, hi, n), place, extent);
                assert!(!t.at.is_empty());
                for i in 1..t.at.len() {
                    let right = place(t.at[i - 1]) + extent(&t.labels[i - 1]) / 2.0;
                    let left = place(t.at[i]) - extent(&t.labels[i]) / 2.0;
                    assert!(left - right >= 8.0, "{lo}..{hi} in {length}: {t:?}");
                }
            }
        }
    }

    #[test]
    fn any_range_of_any_size_has_ticks_that_are_told_apart() {
        for exponent in (-308..=308).step_by(11) {
            for narrower in 0..16 {
                for (from, most) in [(-1.0, 2), (-0.4, 3), (0.0, 5), (1.0, 7), (7.3, 9), (-9.9, 4)]
                {
                    let unit = 10_f64.powi(exponent);
                    let (lo, hi) = (from * unit, (from + 10_f64.powi(-narrower)) * unit);
                    for t in [linear(lo, hi, most), logarithmic(lo, hi, most)] {
                        assert!((1..=most).contains(&t.at.len()), "{lo:e}..{hi:e}: {t:?}");
                        assert!(t.labels.windows(2).all(|w| w[0] != w[1]), "{lo:e}..{hi:e}: {t:?}");
                        assert!(t.labels.iter().all(|l| l.chars().count() <= 12), "{t:?}");
                        assert!(t.at.iter().all(|v| v.is_finite()), "{lo:e}..{hi:e}: {t:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn known_ranges_have_the_labels_a_person_would_write() {
        let labels = |lo, hi| linear(lo, hi, 6).labels.join(" ");
        assert_eq!(labels(0.0, 1.0), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(labels(-1100.0, -980.0), "−1,100 −1,050 −1,000");
        assert_eq!(labels(0.0, 50_000.0), "0 10k 20k 30k 40k 50k");
        assert_eq!(labels(-1.25e6, -1.2e6), "−1.25M −1.24M −1.23M −1.22M −1.21M −1.2M");
        assert_eq!(labels(0.0, 1e6), "0 200k 400k 600k 800k 1M");
        assert_eq!(labels(0.0, 20_000.0), "0 5k 10k 15k 20k");
        assert_eq!(
            labels(-1_221_700.0, -1_221_650.0),
            "−1,221,700 −1,221,690 −1,221,680 −1,221,670 −1,221,660 −1,221,650"
        );
        let t = linear(0.0, 1e-300, 6);
        assert_eq!(
            (t.labels.join(" ").as_str(), t.note.as_deref()),
            ("0 2 4 6 8 10", Some("×1e−301"))
        );
        let t = linear(1e9, 1e9 + 0.01, 6);
        assert_eq!(t.note.as_deref(), Some("+1,000,000,000"));
        assert_eq!(t.labels[1], "0.002");
    }

    #[test]
    fn log_ticks_are_decades_or_finer() {
        assert_eq!(logarithmic(1.0, 1e5, 7).labels.join(" "), "1 10 100 1,000 10k 100k");
        assert_eq!(logarithmic(1e-6, 1.0, 4).labels.join(" "), "1e−6 1e−4 0.01 1");
        assert_eq!(logarithmic(1.0, 60.0, 7).labels.join(" "), "1 2 5 10 20 50");
        assert!(logarithmic(3.0, 4.0, 6).at.len() >= 3);
        for (lo, hi) in NASTY {
            let t = logarithmic(lo, hi, 6);
            assert!((1..=6).contains(&t.at.len()) && t.at.iter().all(|v| *v > 0.0), "{t:?}");
        }
    }
}
