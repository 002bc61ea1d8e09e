//! `lehr convert`: a corpus of any format as one file that is memory-mapped afterwards.

use std::path::Path;

use anyhow::{anyhow, bail};
use serde::Serialize;

use lehr::read;

use super::End;
use crate::args::ConvertArgs;
use crate::text::{self, bytes, counted, quoted};

#[derive(Serialize)]
struct Converted<'a> {
    output: &'a Path,
    documents: usize,
    empty_documents: usize,
    words: usize,
    named_words: bool,
    entries: u64,
    tokens: f64,
    bytes: u64,
}

/// Converts the corpus.
pub fn run(args: ConvertArgs) -> anyhow::Result<End> {
    let output = &args.output;
    let file = output.display();
    if output.extension().is_none_or(|ending| ending != "lehr") {
        bail!(
            "{file}: the name of a converted corpus ends in .lehr; write to {}",
            quoted(&output.with_extension("lehr"))
        );
    }
    if output.is_dir() {
        bail!("{file}: is a folder; give the name of a file that ends in .lehr");
    }
    let same =
        matches!((args.data.canonicalize(), output.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if same {
        bail!("{file}: this is the corpus itself; write to another file with -o");
    }
    if output.exists() && !args.force {
        bail!("{file}: exists already; give another name, or replace it with --force");
    }
    let options = args.docs.options()?;
    let docs = read::docs(&args.data, &options)?;
    let lengths = (0..docs.n_items()).map(|n| docs.doc(n).len());
    let (empty_documents, entries) =
        lengths.fold((0, 0), |(empty, sum), n| (empty + usize::from(n == 0), sum + n as u64));
    if let Some(fault) = docs.fault() {
        return Err(fault.into());
    }
    docs.save(output)?;
    let size = std::fs::metadata(output).map_err(|e| anyhow!("{file}: cannot read: {e}"))?.len();
    let converted = Converted {
        output,
        documents: docs.n_items(),
        empty_documents,
        words: docs.n_words(),
        named_words: docs.vocabulary().names().is_some(),
        entries,
        tokens: docs.tokens(),
        bytes: size,
    };
    if args.json {
        text::print_json(&converted)?;
        return Ok(End::Done);
    }
    let empty = match empty_documents {
        0 => String::new(),
        1 => ", one of them without words".to_string(),
        n => format!(", {n} of them without words"),
    };
    let names = if converted.named_words { "" } else { ", which have numbers only" };
    text::print(&format!(
        "{file}: {}{empty}\n\
         words     {} in the vocabulary{names}\n\
         tokens    {}, as {}\n\
         size      {}\n\
         fit topics to it with: lehr fit lda {} -k 50\n",
        counted(converted.documents as u64, "document"),
        converted.words,
        text::number(converted.tokens),
        text::plural(entries, "entry", "entries"),
        bytes(size),
        quoted(output)
    ))?;
    Ok(End::Done)
}
