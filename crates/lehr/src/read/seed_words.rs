//! Reads seed words: the names of topics, and words that they are to have.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::models::lda::{SeedTopic, SeedWord};
use crate::{Error, Result};

/// Reads topics with seed words. Of text a line is a topic: its name, a colon, and its words between blanks or commas;
/// `goal:3` is a word with its own strength; blank lines and lines that start with # are skipped. A file that
/// starts with `{` is JSON: an object of names, and for each a list of words or an object of words and strengths.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("seeds.txt");
/// std::fs::write(&path, "# what we look for\nmoney: bank, rates\nsport: goal:3 team\n")?;
/// let topics = lehr::read::seed_words(&path)?;
/// assert_eq!((topics[0].name.as_str(), topics[0].words[1].word.as_str()), ("money", "rates"));
/// assert_eq!(topics[1].words[0].strength, Some(3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn seed_words(path: &Path) -> Result<Vec<SeedTopic>> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, "read", error))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Error::parse(path, format!("is not UTF-8 ({error}); save it as plain text or JSON"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') { json(path, text) } else { lines(path, text) }
}

fn lines(path: &Path, text: &str) -> Result<Vec<SeedTopic>> {
    let mut topics = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| {
            let example = "a topic is a name, a colon and words, e.g. 'sport: goal team league'";
            Err(Error::parse_at(path, i as u64 + 1, None, format!("{what}; {example}")))
        };
        let Some((name, words)) = line.split_once(':') else {
            return wrong("has no colon");
        };
        let words: Vec<&str> =
            words.split([',', ' ', '\t']).map(str::trim).filter(|word| !word.is_empty()).collect();
        if name.trim().is_empty() {
            return wrong("has no name before its colon");
        }
        if words.is_empty() {
            return wrong("has no words");
        }
        let words = words.into_iter().map(word).collect();
        topics.push(SeedTopic { name: name.trim().to_string(), words });
    }
    Ok(topics)
}

/// A word, or a word and its strength.
fn word(text: &str) -> SeedWord {
    let parts = text.rsplit_once(':').filter(|(word, _)| !word.is_empty());
    match parts.and_then(|(word, number)| Some((word, number.parse::<f64>().ok()?))) {
        Some((word, strength)) => SeedWord { word: word.to_string(), strength: Some(strength) },
        None => SeedWord { word: text.to_string(), strength: None },
    }
}

fn json(path: &Path, text: &str) -> Result<Vec<SeedTopic>> {
    let found: Named<Words> = serde_json::from_str(text).map_err(|error| {
        let allowed =
            "must be an object of names and lists of words, e.g. {\"sport\": [\"goal\", \"team\"]}";
        Error::parse(path, format!("{error}; {allowed}"))
    })?;
    let topic = |(name, words)| match words {
        Words::List(words) => SeedTopic {
            name,
            words: words.into_iter().map(|word| SeedWord { word, strength: None }).collect(),
        },
        Words::Strengths(Named(words)) => SeedTopic {
            name,
            words: words
                .into_iter()
                .map(|(word, strength)| SeedWord { word, strength: Some(strength) })
                .collect(),
        },
    };
    Ok(found.0.into_iter().map(topic).collect())
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of words, or an object of words and strengths")]
enum Words {
    List(Vec<String>),
    Strengths(Named<f64>),
}

/// The members of an object in the order in which they stand, which numbers the topics.
pub(super) struct Named<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Named(members))
            }
        }
        deserializer.deserialize_map(Members(std::marker::PhantomData))
    }
}
