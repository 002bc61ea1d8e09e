//! Splits text into words.

/// Calls `see` with each unbroken run of letters, in lower case; `word` is a buffer.
pub(super) fn each(text: &str, word: &mut String, mut see: impl FnMut(&str)) {
    word.clear();
    for letter in text.chars() {
        if letter.is_ascii_alphabetic() {
            word.push(letter.to_ascii_lowercase());
        } else if letter.is_alphabetic() {
            // The lower case of İ is i and a mark, which is no letter of its own.
            word.extend(letter.to_lowercase().filter(|letter| letter.is_alphabetic()));
        } else if !word.is_empty() {
            see(word);
            word.clear();
        }
    }
    if !word.is_empty() {
        see(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_letters_ends_a_word() {
        let mut words = Vec::new();
        let text = "Don't re-use B2B  ÉTÉ naïve Straße_x ΣΟΦΊΑ İ 東京";
        each(text, &mut String::new(), |word| words.push(word.to_string()));
        assert_eq!(
            words,
            [
                "don",
                "t",
                "re",
                "use",
                "b",
                "b",
                "été",
                "naïve",
                "straße",
                "x",
                "σοφία",
                "i",
                "東京"
            ]
        );
    }
}
