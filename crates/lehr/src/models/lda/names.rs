//! What people call topics: by seed words, or once they have seen them.

use std::collections::HashMap;

use super::Lda;
use crate::{Error, Result};

impl Lda {
    /// The names of topics, empty where a topic has none; those behind the last have none either.
    pub fn topic_names(&self) -> &[String] {
        match &self.names[..] {
            [] => self.seed_prior.as_ref().map_or(&[], |seeds| &seeds.names),
            given => given,
        }
    }

    /// The name of a topic, if it has one.
    pub fn topic_name(&self, topic: usize) -> Option<&str> {
        self.topic_names().get(topic).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// How many topics have seed words.
    pub fn n_seeded(&self) -> usize {
        self.seed_prior.as_ref().map_or(0, |seeds| seeds.names.len())
    }

    /// The same model with names for some of its topics, by their numbers; an empty one takes a name away.
    ///
    /// ```
    /// use lehr::data::Docs;
    /// use lehr::models::{Lda, LdaParams};
    ///
    /// let docs = Docs::from_rows(vec![vec![(0, 2.0)], vec![(1, 1.0)]], 2)?;
    /// let lda = Lda::new(LdaParams::new(3), &docs)?.with_topic_names([(1, "sport".into())])?;
    /// assert_eq!((lda.topic_name(0), lda.topic_name(1)), (None, Some("sport")));
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn with_topic_names(
        &self,
        given: impl IntoIterator<Item = (usize, String)>,
    ) -> Result<Self> {
        let n_topics = self.params.topics;
        let mut names = self.topic_names().to_vec();
        names.resize(n_topics, String::new());
        for (topic, name) in given {
            let Some(place) = names.get_mut(topic) else {
                return Err(Error::data(format!(
                    "there is no topic {topic} to call '{name}'; the model has {n_topics}, numbered from 0 to {}",
                    n_topics - 1
                )));
            };
            *place = name.trim().to_string();
        }
        let mut known = HashMap::new();
        for (topic, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            if let Some(before) = known.insert(name.as_str(), topic) {
                return Err(Error::data(format!(
                    "topics {before} and {topic} would both be called '{name}'; give them two names"
                )));
            }
        }
        Ok(Lda { names, ..self.clone() })
    }

    /// Whether names that a run has kept fit its number of topics.
    pub(super) fn are_valid(names: &[String], n_topics: usize) -> bool {
        names.is_empty() || names.len() == n_topics
    }
}
