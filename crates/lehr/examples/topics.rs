//! Topics of documents: reads a text file, one document a line, and fits LDA by batches.

use std::{env, fs, process};

use lehr::model::{Address, Purpose};
use lehr::{FitConfig, Lda, LdaParams};

const SUBJECTS: [[&str; 6]; 4] = [
    ["flour", "butter", "oven", "sugar", "bake", "salt"],
    ["goal", "team", "match", "coach", "score", "league"],
    ["guitar", "song", "drum", "concert", "band", "album"],
    ["bank", "rate", "loan", "price", "bond", "trade"],
];

/// Synthetic documents of 40 words: two subjects each, the first more often.
fn text(n_docs: usize) -> String {
    let mut rng = Address::new(1, Purpose::Data, 0, 0).rng(0);
    let mut document = || {
        let two = [rng.below(4) as usize, rng.below(4) as usize];
        let mut word = || SUBJECTS[two[usize::from(rng.uniform() > 0.8)]][rng.below(6) as usize];
        (0..40).map(|_| word()).collect::<Vec<&str>>().join(" ")
    };
    (0..n_docs).map(|_| document() + "\n").collect()
}

/// Fits four topics and prints their words.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = env::temp_dir().join(format!("lehr-topics-{}.txt", process::id()));
    fs::write(&path, text(600))?;
    let docs = lehr::read::docs(&path, &Default::default())?;
    fs::remove_file(&path)?;
    let lda = Lda::new(LdaParams::new(4), &docs)?;
    let config = FitConfig { batch: Some(100), steps: Some(120), ..FitConfig::default() };
    let fitted = lehr::fit(&lda, &docs).config(config).run()?;
    println!("{} documents, {} words, four topics:", docs.n_items(), docs.n_words());
    for topic in lda.topics(&fitted.state.lambda, 6, 0.6) {
        let words = topic.by_probability.iter().map(|&(word, _)| lda.vocabulary().show(word));
        println!("{:3.0} %  {}", 100.0 * topic.share, words.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
