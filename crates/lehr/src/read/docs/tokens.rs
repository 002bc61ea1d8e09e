//! Splits text into words.

use super::{DocsOptions, Tokens};

/// How text becomes words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Splitter {
    tokens: Tokens,
    /// Whether digits are parts of words.
    digits: bool,
}

impl Splitter {
    /// As the options say.
    pub(super) fn new(options: &DocsOptions) -> Self {
        Splitter { tokens: options.tokens.unwrap_or(Tokens::Words), digits: options.digits }
    }

    /// Whether its words are the user's choice already, and taken as they are.
    pub(super) fn is_given(self) -> bool {
        self.tokens == Tokens::Whitespace
    }

    /// Calls `see` with each word of a text; `word` is a buffer.
    pub(super) fn each(self, text: &str, word: &mut String, mut see: impl FnMut(&str)) {
        match self.tokens {
            Tokens::Words => self.runs(text, word, see),
            Tokens::Whitespace => text.split_whitespace().for_each(see),
            #[cfg(feature = "segmenter")]
            Tokens::Unicode => super::segments::each(text, self.digits, word, see),
            // Was refused before.
            #[cfg(not(feature = "segmenter"))]
            Tokens::Unicode => see(text),
        }
    }

    /// Unbroken runs of letters, in lower case.
    fn runs(self, text: &str, word: &mut String, mut see: impl FnMut(&str)) {
        word.clear();
        for letter in text.chars() {
            if letter.is_ascii_alphabetic() || (self.digits && letter.is_ascii_digit()) {
                word.push(letter.to_ascii_lowercase());
            } else if letter.is_alphabetic() || (self.digits && letter.is_numeric()) {
                lower(letter, word);
            } else if !word.is_empty() {
                see(word);
                word.clear();
            }
        }
        if !word.is_empty() {
            see(word);
        }
    }
}

/// Adds a letter in lower case; that of İ is i and a mark, which is no letter of its own.
pub(super) fn lower(letter: char, word: &mut String) {
    match letter.is_alphabetic() {
        true => word.extend(letter.to_lowercase().filter(|letter| letter.is_alphabetic())),
        false => word.push(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, options: &DocsOptions) -> Vec<String> {
        let mut words = Vec::new();
        let see = |word: &str| words.push(word.to_string());
        Splitter::new(options).each(text, &mut String::new(), see);
        words
    }

    #[test]
    fn everything_but_letters_ends_a_word() {
        let text = "Don't re-use B2B  ÉTÉ naïve Straße_x ΣΟΦΊΑ İ 東京";
        let expected = "don t re use b b été naïve straße x σοφία i 東京";
        assert_eq!(words(text, &DocsOptions::default()), Vec::from_iter(expected.split(' ')));
    }

    #[test]
    fn digits_are_letters_on_request_and_given_words_stay() {
        let options = DocsOptions { digits: true, ..DocsOptions::default() };
        assert_eq!(words("B2B in 2024, COVID-19", &options), ["b2b", "in", "2024", "covid", "19"]);
        let options = DocsOptions { tokens: Some(Tokens::Whitespace), ..DocsOptions::default() };
        assert_eq!(words(" New_York\tC++ 3.5 ", &options), ["New_York", "C++", "3.5"]);
    }
}
