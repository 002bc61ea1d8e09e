//! Numbers from bytes without a detour over text, eight digits at a time: a file has millions of them.

/// 10^n as whole numbers, for as many digits as a `u64` holds whichever they are.
const TENS: [u64; MOST_DIGITS + 1] = powers(10);
/// 5^n, for as long as it fits.
const FIVES: [u64; 28] = powers(5);
/// 10^n as floats, for as long as it is exact.
const FLOATS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Any number of this many digits fits into a `u64`.
const MOST_DIGITS: usize = 19;
/// Every whole number up to this one is a float.
const EXACT: u64 = 1 << 53;

const fn powers<const N: usize>(base: u64) -> [u64; N] {
    let mut powers = [1; N];
    let mut n = 1;
    while n < N {
        powers[n] = powers[n - 1] * base;
        n += 1;
    }
    powers
}

/// A whole number of at most 19 digits and nothing else.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let (number, length) = leading(text);
    (length == text.len() && is_number(length)).then_some(number)
}

/// Whether this many digits are one, and one that is not too long.
#[inline(always)]
pub(super) fn is_number(length: usize) -> bool {
    (1..=MOST_DIGITS).contains(&length)
}

/// The number in a text without blanks around it, finite or not: that of the standard library, in less time.
pub(super) fn number_of(text: &[u8]) -> Option<f64> {
    match decimal(text) {
        Some((value, length)) if length == text.len() => Some(value),
        _ => std::str::from_utf8(text).ok()?.parse().ok(),
    }
}

/// The digits that a text starts with as a number, and how many they are: more than [`MOST_DIGITS`] are counted up to
/// 24, and their number means nothing.
#[inline(always)]
pub(super) fn leading(text: &[u8]) -> (u64, usize) {
    match up_to_eight(text) {
        (first, 8) => longer(text, first),
        found => found,
    }
}

/// The same behind the first eight.
#[inline]
fn longer(text: &[u8], first: u64) -> (u64, usize) {
    let (second, n) = up_to_eight(&text[8..]);
    let number = first * TENS[n] + second;
    if n < 8 {
        return (number, 8 + n);
    }
    let (third, n) = up_to_eight(&text[16..]);
    (number.wrapping_mul(TENS[n]).wrapping_add(third), 16 + n)
}

/// The number at the start of the last text, with the byte behind it: in a file neighbours often start with the same.
pub(super) struct Last {
    /// The bytes, in the lowest ones that `mask` has.
    bytes: u64,
    mask: u64,
    found: (u64, usize),
}

impl Last {
    pub(super) fn none() -> Self {
        Last { bytes: 1, mask: 0, found: (0, 0) }
    }

    /// What [`leading`] finds.
    #[inline(always)]
    pub(super) fn leading(&mut self, text: &[u8]) -> (u64, usize) {
        let Some(bytes) = text.first_chunk() else { return leading(text) };
        let bytes = u64::from_le_bytes(*bytes);
        if bytes & self.mask != self.bytes {
            let found = leading(text);
            if found.1 >= 8 {
                return found;
            }
            self.mask = u64::MAX >> (56 - 8 * found.1);
            (self.bytes, self.found) = (bytes & self.mask, found);
        }
        self.found
    }
}

/// The two whole numbers with a blank between them that a text starts with, and their length, if they end within eight
/// bytes: one look instead of two.
#[inline(always)]
pub(super) fn short_pair(text: &[u8]) -> Option<([u64; 2], usize)> {
    let bytes: &[u8; 8] = text.first_chunk()?;
    let (digits, others) = told_apart(*bytes);
    let behind = others & others.wrapping_sub(1);
    let (at, end) = (others.trailing_zeros() / 8, behind.trailing_zeros() / 8);
    if at == 0 || behind == 0 || end == at + 1 || bytes[at as usize & 7] != b' ' {
        return None;
    }
    let second = digits >> (8 * at + 8);
    Some(([joined(digits, at), joined(second, end - at - 1)], end as usize))
}

/// The first digits of a text, at most eight.
#[inline(always)]
fn up_to_eight(text: &[u8]) -> (u64, usize) {
    let Some(bytes) = text.first_chunk() else { return one_by_one(text) };
    let (digits, others) = told_apart(*bytes);
    let n = others.trailing_zeros() / 8;
    (joined(digits, n), n as usize)
}

/// What each of eight bytes is as a digit, and the highest bit of every byte that is none: exactly up to the first of
/// these, and up to the second if the first is a point or a blank.
#[inline(always)]
fn told_apart(bytes: [u8; 8]) -> (u64, u64) {
    let digits = u64::from_le_bytes(bytes) ^ 0x3030_3030_3030_3030;
    // Only a byte from 0xba on carries something over to the one behind it.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    (digits, others)
}

/// The number that the first `n` of eight digits make.
#[inline(always)]
fn joined(digits: u64, n: u32) -> u64 {
    // Zeros before them, in two shifts, since all 64 bits may go; then sums of neighbours: of two digits, of four, of
    // eight.
    let eight = digits << (32 - 4 * n) << (32 - 4 * n);
    let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8);
    let (left, right) = (pairs & 0x0000_00ff_0000_00ff, (pairs >> 16) & 0x0000_00ff_0000_00ff);
    let left = left.wrapping_mul(100 + (1_000_000 << 32));
    left.wrapping_add(right.wrapping_mul(1 + (10_000 << 32))) >> 32
}

/// The same at the end of a block.
#[cold]
fn one_by_one(text: &[u8]) -> (u64, usize) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold((0, 0), |(number, n), &digit| (10 * number + u64::from(digit - b'0'), n + 1))
}

/// The number that a text starts with, and its length. `None` if there is none, or if it is not of the usual kind:
/// the standard library knows more of them.
#[inline(always)]
pub(super) fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let mut length = usize::from(negative);
    // Signs are often random, so that a branch would be guessed wrong.
    let signed = |value: f64| f64::from_bits(value.to_bits() | u64::from(negative) << 63);
    if let Some((value, n)) = short(&text[length..]) {
        return Some((signed(value), length + n));
    }
    let (mut digits, mut n_digits) = leading(&text[length..]);
    length += n_digits;
    let mut n_behind = 0;
    if text.get(length) == Some(&b'.') {
        let behind;
        (behind, n_behind) = leading(&text[length + 1..]);
        n_digits += n_behind;
        length += 1 + n_behind;
        digits = digits.wrapping_mul(TENS[n_behind.min(MOST_DIGITS)]).wrapping_add(behind);
    }
    if !is_number(n_digits) {
        return None;
    }
    let mut power = -(n_behind as i32);
    if let Some(b'e' | b'E') = text.get(length) {
        let (exponent, n) = exponent(&text[length + 1..])?;
        power += exponent;
        length += 1 + n;
    }
    Some((signed(scaled(digits, power)?), length))
}

/// A number with a point that ends within eight bytes, as rounded ones do: it takes half of the time that its two parts
/// would take.
#[inline(always)]
fn short(text: &[u8]) -> Option<(f64, usize)> {
    let bytes: &[u8; 8] = text.first_chunk()?;
    let (digits, others) = told_apart(*bytes);
    let (point, behind) = (others & others.wrapping_neg(), others & others.wrapping_sub(1));
    let (at, end) = (others.trailing_zeros() / 8, behind.trailing_zeros() / 8);
    if at == 0 || behind == 0 || bytes[at as usize & 7] != b'.' {
        return None;
    }
    if let b'e' | b'E' = bytes[end as usize & 7] {
        return None;
    }
    // The digits behind the point move to its place.
    let before = (point >> 7).wrapping_sub(1);
    let digits = (digits & before) | (digits >> 8 & !before);
    let n_behind = (end - 1 - at) as usize;
    Some((joined(digits, end - 1) as f64 / FLOATS[n_behind], end as usize))
}

/// What stands behind an e, and its length.
fn exponent(text: &[u8]) -> Option<(i32, usize)> {
    let (sign, skipped) = match text.first() {
        Some(b'-') => (-1, 1),
        Some(b'+') => (1, 1),
        _ => (1, 0),
    };
    let (size, n) = leading(&text[skipped..]);
    (is_number(n) && size < 1000).then(|| (sign * size as i32, skipped + n))
}

/// The float next to `digits` * 10^`power`, of two the even one; `None` if that takes more than these few lines.
#[inline(always)]
fn scaled(digits: u64, power: i32) -> Option<f64> {
    let size = power.unsigned_abs() as usize;
    if digits <= EXACT && size < FLOATS.len() {
        // Of two exact numbers, the product and the quotient are rounded once.
        let (value, ten) = (digits as f64, FLOATS[size]);
        return Some(if power < 0 { value / ten } else { value * ten });
    }
    if power > 0 || size >= FIVES.len() || digits == 0 {
        return None;
    }
    Some(divided(digits, size))
}

/// The float next to `digits` / 10^`size`.
#[inline]
fn divided(digits: u64, size: usize) -> f64 {
    // The quotient by 5^size in 63 or 64 bits. The last of them stands for all behind it: it is far behind those that a
    // float keeps, so that the one rounding is that of the whole quotient.
    let five = FIVES[size];
    let (left, right) = (digits.leading_zeros(), five.leading_zeros());
    let above = u128::from(digits << left) << 63;
    let below = u128::from(five << right);
    let quotient = (above / below) as u64;
    let is_exact = u128::from(quotient) * below == above;
    let rounded = (quotient | u64::from(!is_exact)) as f64;
    let two = right as i32 - left as i32 - 63 - size as i32;
    rounded * f64::from_bits(((1023 + two) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Which bits the standard library makes of a text.
    fn bits(text: &str) -> Option<u64> {
        text.parse::<f64>().ok().map(f64::to_bits)
    }

    /// Holds a text against the standard library, alone and before others.
    fn same(text: &str) {
        assert_eq!(number_of(text.as_bytes()).map(f64::to_bits), bits(text), "{text:?}");
        for behind in [",", "\n", "\r\n", " ", ",12345678", "x", "\u{ff}"] {
            let longer = format!("{text}{behind}");
            if let Some((value, length)) = decimal(longer.as_bytes()) {
                assert_eq!(Some(value.to_bits()), bits(&longer[..length]), "{longer:?}");
            }
        }
    }

    #[test]
    fn whole_numbers_are_digits_only() {
        assert_eq!(whole(b"0"), Some(0));
        assert_eq!(whole(b"0012345678901234567"), Some(12_345_678_901_234_567));
        assert_eq!(whole(b"9999999999999999999"), Some(9_999_999_999_999_999_999));
        for text in ["", "-1", "+1", "1.0", " 1", "99999999999999999999", "1e3", "12345678x", "1:"]
        {
            assert_eq!(whole(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn digits_end_at_any_other_byte() {
        for n in 0..=20 {
            let digits = &"98765432109876543210"[..n];
            for other in 0..=255u8 {
                let mut text = digits.as_bytes().to_vec();
                text.push(other);
                text.extend_from_slice(b"00000000");
                let expected = digits.parse().unwrap_or(0);
                if !other.is_ascii_digit() {
                    for text in [&text[..], &text[..=n], &text[..n]] {
                        let (number, length) = leading(text);
                        assert_eq!(length, n, "{n} digits, then {other}");
                        assert!(n > 19 || number == expected, "{n} digits, then {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_and_repeated_numbers_are_those_read_one_by_one() {
        let numbers =
            ["", "0", "7", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "x"];
        let mut last = Last::none();
        for first in numbers {
            for second in numbers {
                for between in [" ", "  ", ".", "\t", "", "\u{ff} "] {
                    for behind in ["\n", "\r\n1 2 3", " 9\n1 2 3 4 5", "", "x1234567"] {
                        let text = format!("{first}{between}{second}{behind}");
                        let bytes = text.as_bytes();
                        assert_eq!(last.leading(bytes), leading(bytes), "{text:?}");
                        assert_eq!(last.leading(bytes), leading(bytes), "{text:?}, again");
                        let Some((found, length)) = short_pair(bytes) else { continue };
                        let (a, n) = leading(bytes);
                        let (b, m) = leading(&bytes[n + 1..]);
                        assert_eq!((found, length), ([a, b], n + 1 + m), "{text:?}");
                        assert!(n > 0 && m > 0 && bytes[n] == b' ', "{text:?}");
                    }
                }
            }
        }
        assert_eq!(short_pair(b"123 45\n6"), Some(([123, 45], 6)));
    }

    #[test]
    fn numbers_are_those_of_the_library() {
        let texts = [
            "0",
            "-0",
            "-0.0",
            "5",
            "3.5",
            "4.",
            ".5",
            "-.5",
            "007",
            "0.1",
            "0.3",
            "2.675",
            "+3",
            "+",
            "-",
            ".",
            "-.",
            "",
            "e5",
            "1e",
            "1e+",
            "1e-5",
            "1E5",
            "1.5e3",
            "1e22",
            "1e23",
            "9007199254740993",
            "9007199254740993.0",
            "9007199254740992e22",
            "9007199254740993e1",
            "1e-27",
            "1e-28",
            "0e-400",
            "0e999",
            "1e999",
            "1e-999",
            "123456789012345678901234567890",
            "0.12345678901234567890123",
            "9999999999999999999",
            "18446744073709551615",
            "0.000000000000000000000000001",
            "9.999999999999999999e-9",
            "1.000000000000000000e+00",
            "nan",
            "inf",
            "-infinity",
            "1_000",
            "1 000",
            "0x10",
            "1.2.3",
            "1e5e5",
            "--1",
            "5e-324",
            "2.2250738585072011e-308",
        ];
        texts.into_iter().for_each(same);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn any_float_reads_back(bits: u64, places in 0usize..25) {
            let value = f64::from_bits(bits);
            same(&format!("{value}"));
            same(&format!("{value:e}"));
            // Around the sizes that data have.
            let size = 10f64.powi((bits % 16) as i32 - 8);
            let usual = (bits >> 11) as f64 / (1u64 << 53) as f64 * size;
            same(&format!("{usual}"));
            same(&format!("{usual:.places$}"));
            same(&format!("{usual:.places$e}"));
            same(&format!("-{usual:.18e}"));
        }

        #[test]
        fn any_digits_are_those_of_the_library(text in "-?[0-9]{0,20}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{1,4})?") {
            same(&text);
        }

        /// Half way between two floats, a little more, and a little less.
        #[test]
        fn ties_go_to_the_even_one(odd in 0u64..1 << 53, power in 1u32..5) {
            let half = 2 * (odd | 1 << 52) + 1;
            for digits in [half - 1, half, half + 1] {
                same(&digits.to_string());
                // digits / 2^power, exactly.
                let scaled = u128::from(digits) * 5u128.pow(power);
                same(&format!("{scaled}e-{power}"));
            }
        }
    }
}
