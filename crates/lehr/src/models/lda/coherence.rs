//! How well the words of a topic go together, by the documents that have several of them.

use crate::data::Docs;

/// Added to the share of documents that have two words, so that those which never meet have a logarithm (Roeder, Both and
/// Hinneburg, 2015; gensim's).
const EPSILON: f64 = 1e-12;

/// How often words occur together in the documents of a corpus.
#[derive(Debug)]
pub struct Coherence {
    n_docs: usize,
    /// The place of each word among those of interest.
    places: Vec<Option<u32>>,
    /// For each word of interest the documents that have it, as bits.
    documents: Vec<Vec<u64>>,
}

impl Coherence {
    /// Looks for the given words in the documents.
    pub fn new(docs: &Docs, words: impl IntoIterator<Item = usize>) -> Self {
        let mut places = vec![None; docs.n_words()];
        let mut n_places = 0;
        for word in words {
            if let Some(place @ None) = places.get_mut(word) {
                *place = Some(n_places);
                n_places += 1;
            }
        }
        let n_docs = docs.n_items();
        let mut documents = vec![vec![0u64; n_docs.div_ceil(64)]; n_places as usize];
        for n in 0..n_docs {
            for entry in docs.doc(n) {
                if let Some(place) = places[entry.word as usize] {
                    documents[place as usize][n / 64] |= 1 << (n % 64);
                }
            }
        }
        Coherence { n_docs, places, documents }
    }

    /// How well these words go together, by all measures.
    pub fn of(&self, words: &[usize]) -> Coherences {
        let together = self.together(words);
        Coherences { npmi: together.npmi(), umass: together.umass(), c_v: together.c_v() }
    }

    /// [`Coherences::npmi`] of these words.
    pub fn npmi(&self, words: &[usize]) -> Option<f64> {
        self.together(words).npmi()
    }

    /// [`Coherences::umass`] of these words.
    pub fn umass(&self, words: &[usize]) -> Option<f64> {
        self.together(words).umass()
    }

    /// [`Coherences::c_v`] of these words.
    pub fn c_v(&self, words: &[usize]) -> Option<f64> {
        self.together(words).c_v()
    }

    /// What share of the documents has both of two words, of those of these words that were looked for.
    fn together(&self, words: &[usize]) -> Together {
        let place = |&word: &usize| self.places.get(word).copied().flatten();
        let bits: Vec<&[u64]> =
            words.iter().filter_map(place).map(|at| &*self.documents[at as usize]).collect();
        let mut shares = vec![vec![0.0; bits.len()]; bits.len()];
        for (i, a) in bits.iter().enumerate() {
            for (j, b) in bits[..=i].iter().enumerate() {
                let share = count(a, b) / self.n_docs as f64;
                (shares[i][j], shares[j][i]) = (share, share);
            }
        }
        Together(shares)
    }
}

/// How well some words go together; none for fewer than two of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Coherences {
    /// The mean over all pairs of words of their normalised pointwise mutual information:
    /// `ln(p_ij / (p_i p_j)) / -ln p_ij` with p the share of documents that have the words. 1: always
    /// together, 0: as by chance, -1: never.
    pub npmi: Option<f64>,
    /// The mean over all pairs of `ln(p_ij / p_j)`, word j being the one that comes first (Mimno et al., 2011; as gensim's
    /// `u_mass`): the logarithm of how likely a document with the more probable word has the other. 0 at most.
    pub umass: Option<f64>,
    /// C_V (Roeder, Both and Hinneburg, 2015; as gensim's `c_v`, whose windows are whole documents here): the mean cosine
    /// between each word's normalised mutual information with all words, and the sum of those of all words.
    pub c_v: Option<f64>,
}

/// The share of documents that have both of two words; on the diagonal those that have one.
struct Together(Vec<Vec<f64>>);

impl Together {
    fn npmi(&self) -> Option<f64> {
        self.mean_of_pairs(|together, one, other| match together {
            t if t <= 0.0 => -1.0,
            t if t >= 1.0 => 1.0,
            t => (t / (one * other)).ln() / -t.ln(),
        })
    }

    fn umass(&self) -> Option<f64> {
        self.mean_of_pairs(|together, one, other| match one > 0.0 && other > 0.0 {
            true => ((together + EPSILON) / other).ln(),
            false => 0.0,
        })
    }

    fn c_v(&self) -> Option<f64> {
        let Together(shares) = self;
        if shares.len() < 2 {
            return None;
        }
        let npmi = |i: usize, j: usize| {
            if shares[i][i] == 0.0 || shares[j][j] == 0.0 {
                return 0.0;
            }
            let together = shares[i][j] + EPSILON;
            (together / (shares[i][i] * shares[j][j])).ln() / -together.ln()
        };
        let all = 0..shares.len();
        let vectors: Vec<Vec<f64>> =
            all.clone().map(|i| all.clone().map(|j| npmi(i, j)).collect()).collect();
        let sum: Vec<f64> = all.map(|j| vectors.iter().map(|v| v[j]).sum()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let cosine = |v: &Vec<f64>| {
            let length = (dot(v, v) * dot(&sum, &sum)).sqrt();
            if length > 0.0 { dot(v, &sum) / length } else { 0.0 }
        };
        Some(vectors.iter().map(cosine).sum::<f64>() / vectors.len() as f64)
    }

    /// The mean over all pairs of a measure of the shares of documents that have both, the later and the earlier word.
    fn mean_of_pairs(&self, of: impl Fn(f64, f64, f64) -> f64) -> Option<f64> {
        let Together(shares) = self;
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (i, row) in shares.iter().enumerate() {
            for (j, &together) in row[..i].iter().enumerate() {
                sum += of(together, row[i], shares[j][j]);
                pairs += 1.0;
            }
        }
        (pairs > 0.0).then(|| sum / pairs)
    }
}

/// How many documents have both.
fn count(a: &[u64], b: &[u64]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum::<u32>())
}
