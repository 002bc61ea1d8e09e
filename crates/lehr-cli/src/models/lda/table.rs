//! The topics of a run as a table, a row for each.

use lehr::write::Column;

use super::topics::Listed;
use crate::output::{TableFile, say};

/// Writes it: numbers that are not known are NaN.
pub fn write(output: &TableFile<'_>, topics: &[Listed]) -> anyhow::Result<()> {
    let texts = |of: &dyn Fn(&Listed) -> String| -> Vec<String> { topics.iter().map(of).collect() };
    let numbers = |of: &dyn Fn(&Listed) -> Option<f64>| -> Vec<f64> {
        topics.iter().map(|topic| of(topic).unwrap_or(f64::NAN)).collect()
    };
    let number: Vec<i64> = topics.iter().map(|topic| topic.topic as i64).collect();
    let name = texts(&|topic| topic.name.clone().unwrap_or_default());
    let words = texts(&|topic| {
        let words: Vec<&str> = topic.words.iter().map(|word| word.word.as_str()).collect();
        words.join(" ")
    });
    let documents = texts(&|topic| {
        let shown = |d: &super::topics::Document| d.id.clone().unwrap_or(d.document.to_string());
        let top = topic.documents.iter().flat_map(|documents| &documents.top);
        top.map(shown).collect::<Vec<_>>().join(" ")
    });
    let more = |of: fn(&super::topics::More) -> Option<f64>| {
        numbers(&|topic| topic.more.as_ref().and_then(of))
    };
    let of_documents = |of: fn(&super::topics::Documents) -> f64| {
        numbers(&|topic| topic.documents.as_ref().map(of))
    };
    let mut floats: Vec<(&str, Vec<f64>)> = vec![
        ("share", numbers(&|topic| Some(topic.share))),
        ("alpha", numbers(&|topic| Some(topic.alpha))),
        ("npmi", numbers(&|topic| topic.coherence)),
    ];
    if topics.iter().any(|topic| topic.more.is_some()) {
        floats.extend([
            ("umass", more(|more| more.umass)),
            ("c_v", more(|more| more.c_v)),
            ("entropy", more(|more| Some(more.entropy))),
            ("effective_words", more(|more| Some(more.effective_words))),
            ("exclusivity", more(|more| Some(more.exclusivity))),
            ("nearest", more(|more| more.nearest.map(|topic| topic as f64))),
            ("overlap", more(|more| Some(more.overlap))),
        ]);
    }
    let has_documents = topics.iter().any(|topic| topic.documents.is_some());
    if has_documents {
        floats.extend([
            ("mean_share", of_documents(|d| d.mean_share)),
            ("effective_documents", of_documents(|d| d.effective_documents)),
            ("main_of", of_documents(|d| d.main as f64)),
        ]);
    }
    let mut columns = vec![Column::i64("topic", &number), Column::text("name", &name)];
    columns.extend(floats.iter().map(|(name, values)| Column::f64(*name, values)));
    columns.push(Column::text("words", &words));
    if has_documents {
        columns.push(Column::text("documents", &documents));
    }
    output.write(&columns)?;
    let n = crate::text::counted(topics.len() as u64, "topic");
    say(output.path, &format!("{}: {n}\n", output.path.display()))
}
