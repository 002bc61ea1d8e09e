//! Rows of numbers that are left in several mapped files, one after the other.

use super::{Mapped, Rows};

/// The rows of several files of the same columns.
#[derive(Debug)]
pub(crate) struct Parted {
    files: Vec<Mapped>,
    /// Where the rows of each file start, and the end of the last.
    starts: Vec<usize>,
    fingerprint: String,
}

impl Parted {
    pub(super) fn new(files: Vec<Mapped>, n_dims: usize, fingerprint: String) -> Self {
        let mut starts = vec![0];
        for file in &files {
            starts.push(starts[starts.len() - 1] + file.rows().len() / n_dims);
        }
        Parted { files, starts, fingerprint }
    }

    /// The rows of the file that has row `n`, and the first of them.
    pub(super) fn block_of(&self, n: usize) -> (Rows<'_>, usize) {
        let file = self.starts.partition_point(|&first| first <= n) - 1;
        (self.files[file].rows(), self.starts[file])
    }

    pub(super) fn n_items(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}
