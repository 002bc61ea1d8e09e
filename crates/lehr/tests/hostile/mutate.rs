//! Damages files as accidents and people who mean harm do: the same damage for the same number.

/// Numbers at which a header that is trusted does harm.
const NUMBERS: [u64; 14] = [
    0,
    1,
    u8::MAX as u64,
    u16::MAX as u64,
    i32::MAX as u64,
    1 << 31,
    u32::MAX as u64,
    1 << 24,
    1 << 33,
    1 << 40,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];
/// What is written where a number or word is expected.
const WORDS: [&str; 14] = [
    "0",
    "-1",
    "4294967295",
    "4294967296",
    "1048577",
    "18446744073709551615",
    "99999999999999999999999999",
    "1e308",
    "1e999",
    "nan",
    "-inf",
    "",
    "\"",
    "\u{feff}",
];

/// Random numbers: SplitMix64.
pub struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`; 0 for none.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }
}

/// A file with one to four kinds of damage; `other` is one of which a part may get into it.
pub fn damaged(file: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..=numbers.below(4) {
        damage(&mut file, other, numbers);
    }
    file
}

fn damage(file: &mut Vec<u8>, other: &[u8], numbers: &mut Numbers) {
    let at = numbers.below(file.len());
    let length = numbers.below(file.len() - at).min(1 + numbers.below(64));
    match numbers.below(9) {
        0 => {
            if let Some(byte) = file.get_mut(at) {
                *byte ^= 1 << numbers.below(8);
            }
        }
        1 => {
            if let Some(byte) = file.get_mut(at) {
                *byte = [0, 0x7f, 0x80, 0xff, b'\n', b' ', b'"'][numbers.below(7)];
            }
        }
        2 => file.truncate(at),
        3 => drop(file.drain(at..at + length)),
        4 => {
            let part = file[at..at + length].to_vec();
            file.splice(at..at, part);
        }
        5 => {
            let from = numbers.below(other.len());
            let part = &other[from..other.len().min(from + 1 + numbers.below(256))];
            file.splice(at..at + length, part.iter().copied());
        }
        6 => {
            // A number in binary.
            let bytes = NUMBERS[numbers.below(NUMBERS.len())].to_le_bytes();
            let width = [1, 2, 4, 8][numbers.below(4)];
            let end = file.len().min(at + width);
            file.splice(at..end, bytes[..end - at].iter().copied());
        }
        7 => {
            // A number in digits, or the word nearest.
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let start = file[at..].iter().position(is_word).map_or(at, |skip| at + skip);
            let end = start + file[start..].iter().take_while(|byte| is_word(byte)).count();
            let word = WORDS[numbers.below(WORDS.len())];
            file.splice(start..end, word.bytes());
        }
        _ => {
            // A varint, as Parquet's headers have them.
            let mut number = NUMBERS[numbers.below(NUMBERS.len())];
            let mut bytes = Vec::new();
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
            let end = file.len().min(at + 1);
            file.splice(at..end, bytes);
        }
    }
}
