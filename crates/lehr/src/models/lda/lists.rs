//! The thetas of documents as lists: of very many topics a document has a few.

use serde::{Deserialize, Serialize};

use crate::math::kernels::ThetaList;
use crate::math::plain;

/// Topics and their thetas, document after document.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ThetaLists {
    #[serde(with = "plain")]
    topics: Vec<u32>,
    #[serde(with = "plain")]
    values: Vec<f32>,
    /// Where each document's end.
    #[serde(with = "plain")]
    ends: Vec<u32>,
}

impl ThetaLists {
    /// Adds a document.
    pub fn push(&mut self, theta: &[f32]) {
        for (block, values) in theta.chunks(16).enumerate() {
            // Most blocks have none: one comparison of vectors.
            if values.iter().fold(0, |any, value| any | value.to_bits()) == 0 {
                continue;
            }
            for (i, &value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                self.topics.push((block * 16 + i) as u32);
                self.values.push(value);
            }
        }
        self.ends.push(self.topics.len() as u32);
    }

    /// The list of each document.
    pub fn iter(&self) -> impl Iterator<Item = ThetaList<'_>> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| {
            let range = begin as usize..end as usize;
            ThetaList { topics: &self.topics[range.clone()], values: &self.values[range] }
        })
    }

    /// Forgets all, keeping the memory.
    pub fn clear(&mut self) {
        self.topics.clear();
        self.values.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_what_is_not_zero() {
        let mut theta = vec![0.0; 64];
        (theta[3], theta[40], theta[41]) = (1.0, 2.0, 3.0);
        let mut lists = ThetaLists::default();
        lists.push(&theta);
        lists.push(&[0.0; 64]);
        lists.push(&theta);
        let found: Vec<(Vec<u32>, Vec<f32>)> =
            lists.iter().map(|list| (list.topics.to_vec(), list.values.to_vec())).collect();
        let full = (vec![3, 40, 41], vec![1.0, 2.0, 3.0]);
        assert_eq!(found, [full.clone(), (vec![], vec![]), full]);
    }
}
