//! The words of all languages: by the rules of Unicode, and by dictionary where there are no blanks between words.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;

use super::tokens::lower;

/// Calls `see` with each word of a text in lower case; numbers are words if `digits` are parts of them. `word` is a
/// buffer.
pub(super) fn each(text: &str, digits: bool, word: &mut String, mut see: impl FnMut(&str)) {
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let mut begin = 0;
    for (end, kind) in segmenter.segment_str(text).iter_with_word_type() {
        let found = &text[begin..end];
        begin = end;
        let has_letters = found.chars().any(char::is_alphabetic);
        if kind.is_word_like() && (digits || has_letters) {
            word.clear();
            found.chars().for_each(|letter| lower(letter, word));
            see(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, digits: bool) -> Vec<String> {
        let mut words = Vec::new();
        each(text, digits, &mut String::new(), |word| words.push(word.to_string()));
        words
    }

    #[test]
    fn words_are_found_where_there_are_no_blanks() {
        assert_eq!(words("我们在北京大学学习。", false), ["我们", "在", "北京大学", "学习"]);
        assert_eq!(words("東京で会議があった。", false)[..2], ["東京", "で"]);
        assert_eq!(words("สวัสดีชาวโลก", false), ["สวัสดี", "ชาว", "โลก"]);
        assert_eq!(words("Don't pay $3.50 in ΣΟΦΊΑ!", false), ["don't", "pay", "in", "σοφία"]);
        assert_eq!(words("B2B 3.50", true), ["b2b", "3.50"]);
    }
}
