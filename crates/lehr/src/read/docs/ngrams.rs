//! Words that stand side by side, as words of their own.

/// The most words that become one.
pub(super) const MOST: usize = 5;

/// The last words of a document, of which the next one makes n-grams.
#[derive(Debug, Default)]
pub(super) struct Ngrams {
    /// The last words, with _ between them, and where each starts.
    last: String,
    starts: Vec<usize>,
}

impl Ngrams {
    /// Starts a document.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.starts.clear();
    }

    /// Adds a word; calls `see` with the n-grams of 2 to `most` words that it ends.
    pub(super) fn add(&mut self, word: &str, most: usize, mut see: impl FnMut(&str)) {
        if self.starts.len() + 1 > most {
            // The first word is too far back.
            let cut = self.starts.get(1).copied().unwrap_or(self.last.len());
            self.last.drain(..cut);
            self.starts.remove(0);
            self.starts.iter_mut().for_each(|start| *start -= cut);
        }
        if !self.last.is_empty() {
            self.last.push('_');
        }
        self.starts.push(self.last.len());
        self.last.push_str(word);
        let (_, before) = self.starts.split_last().unwrap_or((&0, &[]));
        before.iter().rev().for_each(|&start| see(&self.last[start..]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_side_by_side_are_joined() {
        let mut found = Vec::new();
        let mut ngrams = Ngrams::default();
        for word in ["new", "york", "stock", "exchange"] {
            ngrams.add(word, 3, |ngram| found.push(ngram.to_string()));
        }
        let expected = "new_york york_stock new_york_stock stock_exchange york_stock_exchange";
        assert_eq!(found, Vec::from_iter(expected.split(' ')));
        ngrams.clear();
        ngrams.add("again", 3, |ngram| panic!("{ngram} is of two documents"));
        ngrams.add("alone", 1, |ngram| panic!("{ngram} is of two words"));
    }
}
