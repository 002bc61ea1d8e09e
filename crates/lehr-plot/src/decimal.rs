//! Writes tick values as exact decimals: separators, k/M/G suffixes, common factors and offsets.

/// `digits × 10^exponent`, exact where a float would carry rounding noise into the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The signed integer part of the product.
    pub digits: i64,
    /// The power of ten.
    pub exponent: i32,
}

/// The longest label written out in full; longer ones share an offset or a factor.
const LONGEST: usize = 10;

impl Decimal {
    /// The nearest float.
    pub fn value(self) -> f64 {
        // The parser rounds correctly, which multiplying by a power of ten does not.
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// The power of ten of the leading digit.
    fn magnitude(self) -> i32 {
        self.exponent + self.digits.unsigned_abs().checked_ilog10().unwrap_or(0) as i32
    }

    /// Plain notation after division by `10^unit`, with `places` decimals.
    fn plain(self, unit: i32, places: i32) -> String {
        let shift = self.exponent - unit + places;
        let digits = i128::from(self.digits.unsigned_abs());
        let scaled = if shift >= 0 {
            digits * 10_i128.pow(shift as u32)
        } else {
            // Only trailing zeros are cut: `places` covers every digit that matters.
            digits / 10_i128.pow(shift.unsigned_abs().min(38))
        };
        let one = 10_i128.pow(places as u32);
        let sign = if self.digits < 0 { "−" } else { "" };
        let mut out = format!("{sign}{}", separated(scaled / one));
        if places > 0 {
            out.push_str(&format!(".{:0places$}", scaled % one, places = places as usize));
        }
        out
    }
}

/// Integer digits in groups of three.
fn separated(value: i128) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Cuts the zeros after the decimal point, so that `1.20` reads `1.2`.
fn trimmed(label: String) -> String {
    match label.contains('.') {
        true => label.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => label,
    }
}

/// `1e−7`, with a proper minus sign.
fn power(exponent: i32) -> String {
    format!("1e{exponent}").replace('-', "−")
}

/// The suffix of a power of a thousand.
fn suffix(unit: i32) -> &'static str {
    match unit {
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        _ => "",
    }
}

/// The label of a value that shares no style with its neighbours, as on a logarithmic axis.
pub fn alone(tick: Decimal) -> String {
    match tick.magnitude() {
        m @ 4..=14 => {
            let unit = m / 3 * 3;
            trimmed(tick.plain(unit, (unit - tick.exponent).max(0))) + suffix(unit)
        }
        -3..=3 => trimmed(tick.plain(0, (-tick.exponent).max(0))),
        _ => format!("{}e{}", tick.digits, tick.exponent).replace('-', "−"),
    }
}

/// Labels of equally spaced ticks in one common style, and the note that completes them.
pub fn labels(ticks: &[Decimal]) -> (Vec<String>, Option<String>) {
    let Some(largest) = ticks.iter().max_by_key(|t| t.digits.unsigned_abs()) else {
        return (Vec::new(), None);
    };
    if largest.digits == 0 {
        return (vec!["0".to_owned(); ticks.len()], None);
    }
    let top = largest.magnitude();
    let finest = ticks.iter().map(|t| finest_place(*t)).min().unwrap_or(0);

    if top < 15 && finest >= -12 {
        let unit = (top / 3 * 3).clamp(0, 12);
        let places = (unit - finest).max(0);
        if top >= 4 && places <= 2 {
            let label = |t: &Decimal| match t.digits {
                0 => "0".to_owned(),
                // `200k 400k … 1M` reads better than `0.2M 0.4M … 1M`.
                _ => {
                    let own = (t.magnitude() / 3 * 3).clamp(3, unit);
                    trimmed(t.plain(own, (own - finest).max(0))) + suffix(own)
                }
            };
            return (ticks.iter().map(label).collect(), None);
        }
        let places = (-finest).max(0);
        let full: Vec<String> = ticks.iter().map(|t| trimmed(t.plain(0, places))).collect();
        // A number that is all zeros up front is better told as a factor.
        if full.iter().all(|l| l.chars().count() <= LONGEST) && (places <= 6 && top >= -4) {
            return (full, None);
        }
    }
    if top - finest > 5 {
        return offset(ticks, finest);
    }
    let scale = |t: &Decimal| trimmed(t.plain(finest, 0));
    // Up to four digits the finest place makes whole numbers; beyond, one digit leads.
    let (unit, label): (i32, Vec<String>) = if top - finest < 4 {
        (finest, ticks.iter().map(scale).collect())
    } else {
        (top, ticks.iter().map(|t| trimmed(t.plain(top, top - finest))).collect())
    };
    (label, Some(format!("×{}", power(unit))))
}

/// The power of ten of the last digit that is not zero.
fn finest_place(tick: Decimal) -> i32 {
    if tick.digits == 0 {
        return i32::MAX;
    }
    let mut digits = tick.digits;
    let mut place = tick.exponent;
    while digits % 10 == 0 {
        digits /= 10;
        place += 1;
    }
    place
}

/// Labels relative to a round number just below the ticks, which the note names.
fn offset(ticks: &[Decimal], finest: i32) -> (Vec<String>, Option<String>) {
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    let span = (last.digits - first.digits).unsigned_abs().max(1);
    let round = 10_i64.pow(span.ilog10() + 1);
    let base = first.digits.div_euclid(round) * round;
    let near: Vec<Decimal> =
        ticks.iter().map(|t| Decimal { digits: t.digits - base, exponent: t.exponent }).collect();
    let (label, factor) = labels(&near);
    let base = Decimal { digits: base, exponent: first.exponent };
    let sign = if base.digits < 0 { "" } else { "+" };
    let text = if (-4..15).contains(&base.magnitude()) {
        trimmed(base.plain(0, (-finest).max(0)))
    } else {
        format!("{}e{}", base.digits, base.exponent).replace('-', "−")
    };
    (label, Some([factor.unwrap_or_default(), format!("{sign}{text}")].join(" ").trim().to_owned()))
}
