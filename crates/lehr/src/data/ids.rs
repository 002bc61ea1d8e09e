//! The names of users or of items: any integers or strings, numbered as they appear.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// Names that stand for the numbers 0, 1, 2, ..., each once.
///
/// They are kept as integers while every one of them is an integer in its usual form, which prints
/// back as the same text; otherwise all are kept as strings. So "7" and "007" are two names.
///
/// ```
/// use lehr::data::{Id, Ids};
///
/// let mut ids = Ids::default();
/// assert_eq!((ids.insert("42"), ids.insert("7"), ids.insert("42")), (0, 1, 0));
/// assert_eq!(ids.get(1), Id::Integer(7));
/// assert_eq!(ids.insert("007"), 2);
/// assert_eq!(ids.get(1), Id::Text("7"));
/// assert_eq!((ids.find("007"), ids.find("8")), (Some(2), None));
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ids {
    names: Names,
    /// Open addressing: a number, or `EMPTY`, in a power of two of places; at most half are taken.
    places: Vec<u32>,
}

/// One name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id<'a> {
    /// An integer.
    Integer(i64),
    /// Any other string, or an integer among strings.
    Text(&'a str),
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Integer(number) => number.fmt(f),
            Id::Text(text) => text.fmt(f),
        }
    }
}

#[derive(Debug, Clone)]
enum Names {
    Integers(Vec<i64>),
    /// All strings, one after the other, and where each ends.
    Texts {
        text: String,
        ends: Vec<usize>,
    },
}

impl Default for Names {
    fn default() -> Self {
        Names::Integers(Vec::new())
    }
}

const EMPTY: u32 = u32::MAX;
const FEWEST_PLACES: usize = 16;

impl Ids {
    /// How many names.
    pub fn len(&self) -> usize {
        match &self.names {
            Names::Integers(all) => all.len(),
            Names::Texts { ends, .. } => ends.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name with this number.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`len`](Ids::len).
    pub fn get(&self, index: usize) -> Id<'_> {
        match &self.names {
            Names::Integers(all) => Id::Integer(all[index]),
            Names::Texts { text, ends } => Id::Text(text_at(text, ends, index)),
        }
    }

    /// All names in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Id<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// All names if all are integers.
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.names {
            Names::Integers(all) => Some(all),
            Names::Texts { .. } => None,
        }
    }

    /// The number of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        match &self.names {
            Names::Integers(_) => self.find_integer(integer(name.as_bytes())?),
            Names::Texts { text, ends } => {
                self.search(text_hash(name), |at| text_at(text, ends, at) == name).ok()
            }
        }
    }

    /// The number of an integer.
    pub fn find_integer(&self, name: i64) -> Option<u32> {
        match &self.names {
            Names::Integers(all) => self.search(integer_hash(name), |at| all[at] == name).ok(),
            Names::Texts { .. } => self.find(&name.to_string()),
        }
    }

    /// The number of a name, which is added if it is new.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 names already.
    pub fn insert(&mut self, name: &str) -> u32 {
        if let Names::Integers(_) = self.names {
            match integer(name.as_bytes()) {
                Some(number) => return self.insert_integer(number),
                None => self.become_texts(),
            }
        }
        self.insert_text(name)
    }

    /// The number of an integer, which is added if it is new.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 names already.
    pub fn insert_integer(&mut self, name: i64) -> u32 {
        self.make_room();
        let Names::Integers(all) = &self.names else { return self.insert_text(&name.to_string()) };
        match self.search(integer_hash(name), |at| all[at] == name) {
            Ok(number) => number,
            Err(place) => {
                let number = self.next_number();
                self.places[place] = number;
                if let Names::Integers(all) = &mut self.names {
                    all.push(name);
                }
                number
            }
        }
    }

    fn insert_text(&mut self, name: &str) -> u32 {
        self.make_room();
        let number = self.next_number();
        let Names::Texts { text, ends } = &self.names else { unreachable!("texts only") };
        match self.search(text_hash(name), |at| text_at(text, ends, at) == name) {
            Ok(number) => number,
            Err(place) => {
                self.places[place] = number;
                if let Names::Texts { text, ends } = &mut self.names {
                    text.push_str(name);
                    ends.push(text.len());
                }
                number
            }
        }
    }

    fn next_number(&self) -> u32 {
        let number = u32::try_from(self.len()).unwrap_or(EMPTY);
        assert!(number != EMPTY, "there are at most 2^32 - 1 ids");
        number
    }

    /// A name's number, or the place where it would stand; `same` compares it with a number's name.
    fn search(&self, hash: u64, same: impl Fn(usize) -> bool) -> Result<u32, usize> {
        let Some(last) = self.places.len().checked_sub(1) else { return Err(0) };
        let mut place = hash as usize & last;
        loop {
            match self.places[place] {
                EMPTY => return Err(place),
                number if same(number as usize) => return Ok(number),
                _ => place = (place + 1) & last,
            }
        }
    }

    /// Makes sure that one more name leaves half of the places free.
    fn make_room(&mut self) {
        if 2 * (self.len() + 1) > self.places.len() {
            self.rebuild((4 * self.len()).next_power_of_two().max(FEWEST_PLACES));
        }
    }

    fn rebuild(&mut self, n_places: usize) {
        self.places = vec![EMPTY; n_places];
        for index in 0..self.len() {
            let hash = match self.get(index) {
                Id::Integer(number) => integer_hash(number),
                Id::Text(text) => text_hash(text),
            };
            // All names differ, so the first free place is theirs.
            if let Err(place) = self.search(hash, |_| false) {
                self.places[place] = index as u32;
            }
        }
    }

    fn become_texts(&mut self) {
        let Names::Integers(all) = &self.names else { return };
        let mut text = String::new();
        let ends = all.iter().map(|number| {
            text.push_str(&number.to_string());
            text.len()
        });
        let ends = ends.collect();
        self.names = Names::Texts { text, ends };
        self.rebuild(self.places.len());
    }

    /// Adds all names to a hash.
    pub(super) fn add_to(&self, hash: &mut Xxh3) {
        hash.update(&(self.len() as u64).to_le_bytes());
        match &self.names {
            Names::Integers(all) => {
                hash.update(b"integers");
                all.iter().for_each(|number| hash.update(&number.to_le_bytes()));
            }
            Names::Texts { text, ends } => {
                hash.update(b"texts");
                ends.iter().for_each(|&end| hash.update(&(end as u64).to_le_bytes()));
                hash.update(text.as_bytes());
            }
        }
    }
}

impl PartialEq for Ids {
    fn eq(&self, other: &Self) -> bool {
        match (&self.names, &other.names) {
            (Names::Integers(a), Names::Integers(b)) => a == b,
            (Names::Texts { text: a, ends: x }, Names::Texts { text: b, ends: y }) => {
                x == y && a == b
            }
            _ => false,
        }
    }
}

impl Eq for Ids {}

impl<'a> FromIterator<&'a str> for Ids {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut ids = Ids::default();
        names.into_iter().for_each(|name| {
            ids.insert(name);
        });
        ids
    }
}

impl FromIterator<i64> for Ids {
    fn from_iter<I: IntoIterator<Item = i64>>(names: I) -> Self {
        let mut ids = Ids::default();
        names.into_iter().for_each(|name| {
            ids.insert_integer(name);
        });
        ids
    }
}

fn text_at<'a>(text: &'a str, ends: &[usize], index: usize) -> &'a str {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &text[start..ends[index]]
}

/// The integer that prints as exactly these bytes.
pub(crate) fn integer(name: &[u8]) -> Option<i64> {
    let (digits, negative) = match name {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    match digits {
        b"0" => return (!negative).then_some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    if digits.len() <= 18 {
        let mut number = 0;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = 10 * number + i64::from(digit - b'0');
        }
        return Some(if negative { -number } else { number });
    }
    std::str::from_utf8(name).ok()?.parse().ok()
}

/// Spreads integers over all bits: SipHash would take most of the time of reading a file.
fn integer_hash(number: i64) -> u64 {
    let (key, odd) = keys();
    let product = u128::from(number.cast_unsigned() ^ key) * u128::from(odd);
    product as u64 ^ (product >> 64) as u64
}

fn text_hash(text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), keys().0)
}

/// Others in every process, so that no file can be written whose ids all fall on one place. No
/// number depends on them: ids are numbered as they come.
fn keys() -> (u64, u64) {
    static KEYS: OnceLock<(u64, u64)> = OnceLock::new();
    *KEYS.get_or_init(|| {
        let random = RandomState::new();
        (random.hash_one(0), random.hash_one(1) | 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_prints_back_is_an_integer() {
        for number in [0, 7, -7, 10, i64::MAX, i64::MIN, 999_999_999_999_999_999] {
            assert_eq!(integer(number.to_string().as_bytes()), Some(number));
        }
        for text in [
            "",
            "-",
            "-0",
            "00",
            "007",
            "+7",
            " 7",
            "7 ",
            "7.0",
            "1e3",
            "x",
            "1x",
            "９",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
        ] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn numbers_stay_when_integers_become_texts() {
        let mut ids: Ids = (0..1000).map(|n| n * 7919 - 3000).collect();
        assert_eq!(ids.integers().unwrap().len(), 1000);
        assert_eq!(ids.insert("0x"), 1000);
        assert_eq!(ids.integers(), None);
        for n in 0..1000 {
            let name = (i64::from(n) * 7919 - 3000).to_string();
            assert_eq!((ids.find(&name), ids.insert(&name)), (Some(n), n));
            assert_eq!(ids.insert_integer(i64::from(n) * 7919 - 3000), n);
        }
        assert_eq!((ids.len(), ids.find("")), (1001, None));
    }

    /// Integers that MurmurHash3's finaliser, without a key, puts on one place of every table.
    fn colliding(n: u64) -> impl Iterator<Item = i64> {
        let inverse = |odd: u64| {
            (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
        };
        let (first, second) = (inverse(0xc4ce_b9fe_1a85_ec53), inverse(0xff51_afd7_ed55_8ccd));
        (0..n).map(move |high| {
            let unmixed = |bits: u64| bits ^ (bits >> 33);
            let bits = unmixed(high << 32).wrapping_mul(first);
            unmixed(unmixed(bits).wrapping_mul(second)).cast_signed()
        })
    }

    #[test]
    fn ids_made_to_collide_do_not() {
        let integers: Ids = colliding(20_000).collect();
        let texts: Vec<String> = colliding(20_000).map(|number| format!("u{number}")).collect();
        let texts: Ids = texts.iter().map(String::as_str).collect();
        for ids in [integers, texts] {
            assert_eq!(ids.len(), 20_000);
            let last = ids.places.len() - 1;
            for (place, &number) in ids.places.iter().enumerate().filter(|(_, n)| **n != EMPTY) {
                let hash = match ids.get(number as usize) {
                    Id::Integer(number) => integer_hash(number),
                    Id::Text(text) => text_hash(text),
                };
                let steps = place.wrapping_sub(hash as usize) & last;
                assert!(steps < 1000, "{steps} steps to find an id");
            }
        }
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        assert_eq!((Ids::default().find("a"), Ids::default().find("1")), (None, None));
    }
}
