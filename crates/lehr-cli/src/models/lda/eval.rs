//! How well topics explain new documents, in a table that says what its numbers mean.

use lehr::models::lda::{DocScores, Lda};
use serde::Serialize;

use super::{check_known, perplexity};
use crate::args::EvalArgs;
use crate::look;
use crate::models::{NewData, OpenRun, left_out};
use crate::text::{self, counted, number, rounded};

/// The scores, in nats per word, and their perplexities.
#[derive(Serialize)]
struct Scores {
    #[serde(flatten)]
    scores: DocScores,
    /// How much better topics predict words than frequencies do, in nats per word.
    gain: f64,
    perplexity: Perplexities,
    unknown_words: usize,
    unknown_tokens: f64,
}

#[derive(Serialize)]
struct Perplexities {
    local: f64,
    full: f64,
    completion: f64,
    unigram: f64,
}

pub(super) fn run(run: &OpenRun<Lda>, new: &NewData<Lda>, args: &EvalArgs) -> anyhow::Result<()> {
    check_known(new).map_err(|error| anyhow::anyhow!("{}: {error}", args.data.display()))?;
    let population = run.config.population();
    let scores = run.model.score_docs(&run.saved.model_state().lambda, &new.data, population);
    if let Some(fault) = new.data.fault() {
        return Err(fault.into());
    }
    let gain = scores.completion - scores.unigram;
    if args.json {
        return text::print_json(&Scores {
            scores,
            gain,
            perplexity: Perplexities {
                local: (-scores.local).exp(),
                full: (-scores.full).exp(),
                completion: (-scores.completion).exp(),
                unigram: (-scores.unigram).exp(),
            },
            unknown_words: new.unknown.words,
            unknown_tokens: new.unknown.tokens,
        });
    }
    text::print(&shown(&scores, gain, new, args))
}

fn shown(scores: &DocScores, gain: f64, new: &NewData<Lda>, args: &EvalArgs) -> String {
    let mut out = format!(
        "{}: {}, {} tokens\n",
        args.data.display(),
        counted(scores.documents as u64, "document"),
        number(scores.tokens)
    );
    if let Some(left_out) = left_out(&new.unknown, Some(scores.tokens)) {
        out += &format!("{left_out}\n");
    }
    out += "\n            nats per word  perplexity\n";
    for (name, score, meaning) in [
        (
            "completion",
            scores.completion,
            "every other word, predicted from the rest of its document",
        ),
        ("unigram", scores.unigram, "the same words, predicted from their frequency in training"),
        ("local", scores.local, "the documents' bound: their topics may look at every word"),
        ("full", scores.full, "the same, the cost of the topics included"),
    ] {
        let (nats, perplexity) = match score.is_finite() {
            true => (format!("{score:.4}"), perplexity(score)),
            false => ("-".to_string(), "-".to_string()),
        };
        let begin = format!("{name:<10}  {nats:>13}  {perplexity:>10}  ");
        out += &text::wrapped(&begin, meaning.split(' '), look::width());
    }
    out += "\n";
    if scores.predicted > 0.0 {
        let (more, gain) = if gain < 0.0 { ("worse", -gain) } else { ("better", gain) };
        out += &format!(
            "topics predict a word {} nats {more} than frequencies do, over {} tokens\n",
            rounded(gain, 4),
            number(scores.predicted)
        );
    } else {
        out += "no document has two words, of which one could predict the other\n";
    }
    out
}
