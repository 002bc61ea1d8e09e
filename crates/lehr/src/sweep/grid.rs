//! Which sizes and shapes a sweep tries.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// More runs than this are a mistake.
const MOST_SIZES: usize = 1000;

/// Sizes to try, rising: `2,4,8`, `2..12` (both ends included), `10..100:10` (every tenth), or several of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct Sizes(Vec<usize>);

impl Sizes {
    /// The sizes, rising.
    pub fn all(&self) -> &[usize] {
        &self.0
    }

    /// The largest.
    pub fn largest(&self) -> usize {
        *self.0.last().expect("there is always one")
    }
}

impl TryFrom<Vec<usize>> for Sizes {
    type Error = String;

    fn try_from(mut sizes: Vec<usize>) -> Result<Self, String> {
        sizes.sort_unstable();
        let most = format!("are more than {MOST_SIZES} sizes; try fewer, such as 10..100:10");
        match sizes.as_slice() {
            [] => Err("give at least one size, such as 2,4,8 or 2..12".to_string()),
            [0, ..] => Err("a size must be 1 or more".to_string()),
            all if all.len() > MOST_SIZES => Err(format!("these {most}")),
            all => match all.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => Err(format!("{} is there twice", pair[0])),
                None => Ok(Sizes(sizes)),
            },
        }
    }
}

impl From<Sizes> for Vec<usize> {
    fn from(sizes: Sizes) -> Self {
        sizes.0
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',').map(str::trim) {
            let wrong = || {
                format!(
                    "'{part}' is no size: use whole numbers (2,4,8), a range (2..12) or steps (10..100:10)"
                )
            };
            let whole = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
            let Some((first, rest)) = part.split_once("..") else {
                sizes.push(whole(part)?);
                continue;
            };
            let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
            let (first, last, step) = (whole(first)?, whole(last)?, whole(step)?);
            if first > last || step == 0 {
                return Err(format!(
                    "'{part}' has no size in it: a range goes from small to large, such as 2..12"
                ));
            }
            let n_sizes = (last - first) / step + 1;
            if sizes.len().saturating_add(n_sizes) > MOST_SIZES {
                return Err(format!(
                    "'{text}' has more than {MOST_SIZES} sizes; try fewer, such as 10..100:10"
                ));
            }
            sizes.extend((first..=last).step_by(step));
        }
        Sizes::try_from(sizes)
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&sizes.join(","))
    }
}

/// What to try, and how to judge it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// K, or d.
    pub sizes: Sizes,
    /// Shapes of the components; none for models that have none, or to keep to the one of the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<String>,
    /// In how many parts the items are divided, each of which is held out once; 0 holds out nothing.
    pub folds: u32,
}

/// A size, and a shape if there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// K, or d.
    pub size: usize,
    /// The shape.
    pub shape: Option<String>,
}

impl Grid {
    /// Every combination, sizes rising within each shape.
    pub fn cells(&self) -> Vec<Cell> {
        let shapes: Vec<Option<String>> = match self.shapes.as_slice() {
            [] => vec![None],
            shapes => shapes.iter().cloned().map(Some).collect(),
        };
        let of_shape = |shape: &Option<String>| {
            let shape = shape.clone();
            self.sizes.all().iter().map(move |&size| Cell { size, shape: shape.clone() })
        };
        shapes.iter().flat_map(of_shape).collect()
    }
}

impl Cell {
    /// What its run is called: `k8`, `tied-k8`.
    pub fn name(&self) -> String {
        match &self.shape {
            Some(shape) => format!("{shape}-k{}", self.size),
            None => format!("k{}", self.size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_lists_and_ranges() {
        let sizes = |text: &str| text.parse::<Sizes>().map(|sizes| sizes.0);
        assert_eq!(sizes("8, 2,4"), Ok(vec![2, 4, 8]));
        assert_eq!(sizes("2..5"), Ok(vec![2, 3, 4, 5]));
        assert_eq!(sizes("1,10..40:10,100"), Ok(vec![1, 10, 20, 30, 40, 100]));
        for text in
            ["", ",", "2,,4", "0", "0..3", "-3", "2,2", "5..2", "2..", "..4", "1..9:0", "x", "1.5"]
        {
            assert!(sizes(text).is_err(), "{text}");
        }
        for text in ["1..1000000", "1..18446744073709551615", "1..900,1000..1900"] {
            assert!(sizes(text).unwrap_err().contains("more than 1000 sizes"), "{text}");
        }
    }

    #[test]
    fn every_shape_has_every_size() {
        let shapes = vec!["full".to_string(), "tied".to_string()];
        let grid = Grid { sizes: "2,4".parse().unwrap(), shapes, folds: 5 };
        let names: Vec<String> = grid.cells().iter().map(Cell::name).collect();
        assert_eq!(names, ["full-k2", "full-k4", "tied-k2", "tied-k4"]);
    }
}
