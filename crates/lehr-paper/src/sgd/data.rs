//! The bundled images of handwritten digits, and how they are split.

use std::io::Read;

use anyhow::{Context, ensure};
use flate2::read::GzDecoder;

use lehr::math::rng::{Address, Purpose};

/// "Optical Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak, CC BY 4.0; see its README.
const FILE: &[u8] = include_bytes!("../../data/digits.csv.gz");
/// How many there are.
pub const N_DIGITS: usize = 1797;
/// Pixels of an image.
pub const N_PIXELS: usize = 64;
/// Kinds of digits.
pub const N_CLASSES: usize = 10;
/// The brightest pixel.
const WHITE: f64 = 16.0;

/// Images that are only looked at in the end.
pub const N_TEST: usize = 500;
/// Images by which learning rates are chosen.
pub const N_VALIDATION: usize = 300;

/// One image.
#[derive(Debug, Clone, PartialEq)]
pub struct Digit {
    /// Brightness from 0 to 1.
    pub pixels: [f64; N_PIXELS],
    /// What it shows.
    pub class: usize,
}

/// All of them, in the order of the file.
pub fn read() -> anyhow::Result<Vec<Digit>> {
    let mut text = String::new();
    GzDecoder::new(FILE).read_to_string(&mut text).context("digits: cannot be unpacked")?;
    let digits = text
        .lines()
        .enumerate()
        .map(|(n, line)| digit(line).with_context(|| format!("digits: line {} is odd", n + 1)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    ensure!(digits.len() == N_DIGITS, "digits: {} images instead of {N_DIGITS}", digits.len());
    Ok(digits)
}

fn digit(line: &str) -> Option<Digit> {
    let mut numbers = line.split(',').map(|text| text.parse::<u8>().ok());
    let mut pixels = [0.0; N_PIXELS];
    for pixel in &mut pixels {
        *pixel = f64::from(numbers.next()??) / WHITE;
    }
    let class = usize::from(numbers.next()??);
    let valid = pixels.iter().all(|&x| x <= 1.0) && class < N_CLASSES && numbers.next().is_none();
    valid.then_some(Digit { pixels, class })
}

/// A random split; every start has its own.
pub struct Split {
    pub train: Vec<Digit>,
    pub validation: Vec<Digit>,
    pub test: Vec<Digit>,
}

impl Split {
    /// The split of a start.
    pub fn new(digits: &[Digit], seed: u64, start: u32) -> Self {
        let mut rng = Address::new(seed, Purpose::Holdout, start, 0).rng(0);
        let mut all = digits.to_vec();
        for i in (1..all.len()).rev() {
            all.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let train = all.split_off(N_TEST + N_VALIDATION);
        let validation = all.split_off(N_TEST);
        Split { train, validation, test: all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_images_are_there_and_split_without_overlap() {
        let digits = read().unwrap();
        assert_eq!(digits.len(), N_DIGITS);
        for class in 0..N_CLASSES {
            let n = digits.iter().filter(|d| d.class == class).count();
            assert!((170..190).contains(&n), "{n} of {class}");
        }
        let Split { train, validation, test } = Split::new(&digits, 1, 0);
        assert_eq!((train.len(), validation.len(), test.len()), (997, 300, 500));
        let key = |d: &Digit| d.pixels.map(|x| (WHITE * x) as u8);
        let mut split: Vec<_> = train.iter().chain(&validation).chain(&test).map(key).collect();
        let mut whole: Vec<_> = digits.iter().map(key).collect();
        split.sort_unstable();
        whole.sort_unstable();
        assert_eq!(split, whole);
        assert_ne!(Split::new(&digits, 1, 1).test, test);
    }

    #[test]
    fn lines_that_are_not_images_are_refused() {
        assert!(digit("1,2,3").is_none());
        let line = ["0"; 64].join(",");
        assert_eq!(digit(&format!("{line},7")).unwrap().class, 7);
        assert!(digit(&format!("{line},10")).is_none());
        assert!(digit(&format!("{line},7,1")).is_none());
        assert!(digit(&format!("17,{line}")).is_none());
    }
}
