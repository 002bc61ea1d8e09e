//! The prior's scatter matrix as a user writes it: a number, a diagonal, or all of it.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::params::Covariance;
use super::shape::Shape;
use crate::{Error, Result};

const ALLOWED: &str =
    "one number for every column, a list with one for each, or the matrix by rows";

/// Reads a number, a list of numbers, or a list of rows, as one list.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<f64>>, D::Error> {
    deserializer.deserialize_any(Given)
}

struct Given;

impl Given {
    fn refuse<T, E: serde::de::Error>(what: impl fmt::Display) -> std::result::Result<T, E> {
        Err(E::custom(format!("found {what}; `scatter` must be {ALLOWED}")))
    }
}

impl<'de> Visitor<'de> for Given {
    type Value = Option<Vec<f64>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALLOWED)
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_f64<E>(self, number: f64) -> std::result::Result<Self::Value, E> {
        Ok(Some(vec![number]))
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Self::Value, E> {
        Ok(Some(vec![number as f64]))
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Self::Value, E> {
        Ok(Some(vec![number as f64]))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<Self::Value, E> {
        Self::refuse(value)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Self::Value, E> {
        Self::refuse(format_args!("the text {text:?}"))
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Self::refuse("a table")
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut list: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut n_numbers = 0;
        while let Some(Part(part)) = list.next_element()? {
            match part {
                Ok(number) => {
                    n_numbers += 1;
                    rows.push(vec![number]);
                }
                Err(row) => rows.push(row),
            }
        }
        if n_numbers > 0 && n_numbers < rows.len() {
            return Self::refuse("numbers and rows in one list");
        }
        let width = rows.first().map_or(0, Vec::len);
        if let Some(at) = rows.iter().position(|row| row.len() != width) {
            let found = rows[at].len();
            return Err(A::Error::custom(format!(
                "row {} of `scatter` has {found} numbers, and the first has {width}; give as many rows as \
                 columns, all of that length",
                at + 1
            )));
        }
        if n_numbers == 0 && width != rows.len() {
            return Err(A::Error::custom(format!(
                "`scatter` has {} rows of {width} numbers; a matrix has as many rows as columns",
                rows.len()
            )));
        }
        Ok(Some(rows.concat()))
    }
}

/// A number, or a row of numbers.
struct Part(std::result::Result<f64, Vec<f64>>);

impl<'de> serde::Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Inside;
        impl<'de> Visitor<'de> for Inside {
            type Value = Part;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a row of numbers")
            }

            fn visit_f64<E>(self, number: f64) -> std::result::Result<Part, E> {
                Ok(Part(Ok(number)))
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Part, E> {
                Ok(Part(Ok(number as f64)))
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Part, E> {
                Ok(Part(Ok(number as f64)))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<Part, A::Error> {
                let mut row = Vec::new();
                while let Some(Part(part)) = list.next_element()? {
                    match part {
                        Ok(number) => row.push(number),
                        Err(_) => return Given::refuse("lists within rows"),
                    }
                }
                Ok(Part(Err(row)))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Part, E> {
                Given::refuse(format_args!("the text {text:?}"))
            }

            fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<Part, E> {
                Given::refuse(value)
            }
        }
        deserializer.deserialize_any(Inside)
    }
}

/// Refuses a matrix with covariances for components that have none. There are 1, d or d * d finite numbers.
pub(super) fn check(given: Option<&[f64]>, d: usize, covariance: Covariance) -> Result<()> {
    if covariance == Covariance::Spherical && given.is_some_and(|given| given.len() > 1) {
        let allowed = "spheres have one variance; give one number";
        return Err(Error::config("scatter", "several numbers", allowed));
    }
    let Some(given) = given.filter(|given| d > 1 && given.len() == d * d) else { return Ok(()) };
    let is_full = (0..d * d).any(|at| at / d != at % d && given[at] != 0.0);
    if covariance == Covariance::Diagonal && is_full {
        let allowed =
            "components with diagonal covariances have no others; give the diagonal alone";
        return Err(Error::config("scatter", "a matrix with covariances", allowed));
    }
    Ok(())
}

/// The matrix, packed, of a model whose columns are divided by `scale`.
pub(super) fn packed(given: &[f64], shape: Shape, scale: &[f64]) -> Vec<f64> {
    let (d, shape) = (scale.len(), shape.scatter());
    let entry = |i: usize, j: usize| match given.len() {
        n if n == d * d && d > 1 => 0.5 * (given[i * d + j] + given[j * d + i]),
        _ if i != j => 0.0,
        1 => given[0],
        _ => given[i],
    };
    let mut packed = vec![0.0; shape.len()];
    for i in 0..shape.n_dims() {
        if shape.is_diagonal() {
            packed[i] = entry(i, i) / scale[i] / scale[i];
            continue;
        }
        for j in 0..=i {
            packed[i * (i + 1) / 2 + j] = entry(i, j) / scale[i] / scale[j];
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::MixtureParams;

    fn read(text: &str) -> std::result::Result<Option<Vec<f64>>, String> {
        let text = format!("{{\"components\": 2, \"weights\": \"sticks\", \"scatter\": {text}}}");
        let params: std::result::Result<MixtureParams, _> = serde_json::from_str(&text);
        params.map(|params| params.scatter).map_err(|error| error.to_string())
    }

    #[test]
    fn a_matrix_may_be_written_in_four_ways() {
        assert_eq!(read("2").unwrap(), Some(vec![2.0]));
        assert_eq!(read("0.5").unwrap(), Some(vec![0.5]));
        assert_eq!(read("[1, 2.5]").unwrap(), Some(vec![1.0, 2.5]));
        assert_eq!(read("[[1, 0.5], [0.5, 2]]").unwrap(), Some(vec![1.0, 0.5, 0.5, 2.0]));
        assert_eq!(read("null").unwrap(), None);
        let scale = [2.0, 4.0];
        let full = |given: &[f64]| packed(given, Shape::new(Covariance::Full, 2), &scale);
        assert_eq!(full(&[8.0]), [2.0, 0.0, 0.5]);
        assert_eq!(full(&[4.0, 16.0]), [1.0, 0.0, 1.0]);
        assert_eq!(full(&[4.0, 2.0, 2.0, 16.0]), [1.0, 0.25, 1.0]);
        let diagonal = |given: &[f64]| packed(given, Shape::new(Covariance::Diagonal, 2), &scale);
        assert_eq!(diagonal(&[8.0]), [2.0, 0.5]);
        assert_eq!(diagonal(&[4.0, 0.0, 0.0, 16.0]), [1.0, 1.0]);
        let sphere = Shape::new(Covariance::Spherical, 2);
        assert_eq!(packed(&[8.0], sphere, &[2.0, 2.0]), [2.0]);
        assert_eq!(packed(&[3.0], Shape::new(Covariance::Full, 1), &[1.0]), [3.0]);
    }

    #[test]
    fn nonsense_is_answered_in_the_users_words() {
        for (text, part) in [
            ("\"wide\"", "found the text \"wide\"; `scatter` must be one number for every column"),
            ("true", "found true; `scatter` must be"),
            ("{\"a\": 1}", "found a table"),
            ("[1, [2]]", "numbers and rows in one list"),
            ("[[1, 2], [3]]", "row 2 of `scatter` has 1 numbers, and the first has 2"),
            ("[[1, 2, 3]]", "`scatter` has 1 rows of 3 numbers"),
            ("[[[1]]]", "lists within rows"),
            ("[\"a\"]", "the text \"a\""),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.contains(part), "{text}: {fault}");
        }
        let covariances = [1.0, 0.5, 0.5, 1.0];
        assert!(check(Some(&covariances), 2, Covariance::Full).is_ok());
        assert!(check(Some(&covariances), 2, Covariance::Diagonal).is_err());
        assert!(check(Some(&[1.0, 0.0, 0.0, 1.0]), 2, Covariance::Diagonal).is_ok());
        assert!(check(Some(&[1.0, 1.0]), 2, Covariance::Spherical).is_err());
        assert!(check(Some(&[1.0]), 2, Covariance::Spherical).is_ok());
    }
}
