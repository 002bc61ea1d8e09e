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

    /// The mean over all pairs of these words of their normalised pointwise mutual information:
    /// `ln(p_ij / (p_i p_j)) / -ln p_ij` with p the share of documents that have the words. 1: always
    /// together, 0: as by chance, -1: never.
    pub fn npmi(&self, words: &[usize]) -> Option<f64> {
        self.mean_of_pairs(words, |together, one, other| match together {
            t if t <= 0.0 => -1.0,
            t if t >= 1.0 => 1.0,
            t => (t / (one * other)).ln() / -t.ln(),
        })
    }

    /// The mean over all pairs of `ln(p_ij / p_j)`, word j being the one that comes first (Mimno et al., 2011; as gensim's
    /// `u_mass`): the logarithm of how likely a document with the more probable word has the other. 0 at most.
    pub fn umass(&self, words: &[usize]) -> Option<f64> {
        let known = |_: f64, one: f64, other: f64| one > 0.0 && other > 0.0;
        self.mean_of_pairs(words, |together, one, other| match known(together, one, other) {
            true => ((together + EPSILON) / other).ln(),
            false => 0.0,
        })
    }

    /// C_V (Roeder, Both and Hinneburg, 2015; as gensim's `c_v`, whose windows are whole documents here): the mean cosine
    /// between each word's normalised mutual information with all words, and the sum of those of all words.
    pub fn c_v(&self, words: &[usize]) -> Option<f64> {
        let bits = self.bits(words);
        if bits.len() < 2 {
            return None;
        }
        let n = self.n_docs as f64;
        let shares: Vec<f64> = bits.iter().map(|a| count(a, a) / n).collect();
        let npmi = |i: usize, j: usize| {
            if shares[i] == 0.0 || shares[j] == 0.0 {
                return 0.0;
            }
            let together = count(bits[i], bits[j]) / n + EPSILON;
            (together / (shares[i] * shares[j])).ln() / -together.ln()
        };
        let all = 0..bits.len();
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

    /// The documents of those of these words that were looked for.
    fn bits(&self, words: &[usize]) -> Vec<&[u64]> {
        let place = |&word: &usize| self.places.get(word).copied().flatten();
        words.iter().filter_map(place).map(|at| &*self.documents[at as usize]).collect()
    }

    /// The mean over all pairs of a measure of the shares of documents that have both, the later and the earlier word.
    fn mean_of_pairs(&self, words: &[usize], of: impl Fn(f64, f64, f64) -> f64) -> Option<f64> {
        let (bits, n) = (self.bits(words), self.n_docs as f64);
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (i, a) in bits.iter().enumerate() {
            for b in &bits[..i] {
                sum += of(count(a, b) / n, count(a, a) / n, count(b, b) / n);
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
