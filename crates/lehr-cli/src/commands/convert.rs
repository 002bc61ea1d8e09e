//! `lehr convert`: a corpus of any format as one file that is memory-mapped afterwards, or as shards.

use std::path::Path;

use anyhow::bail;
use serde::Serialize;

use lehr::data::FromFile;
use lehr::read::RatingsOptions;
use lehr::shards::{Kind, make_docs, make_points, make_ratings};
use lehr::store::path_text;
use lehr::{read, write};

use super::End;
use crate::args::ConvertArgs;
use crate::complaint::render;
use crate::output;
use crate::text::{self, bytes, counted, quoted};

#[derive(Serialize)]
struct Converted<'a> {
    #[serde(serialize_with = "path_text::serialize")]
    output: &'a Path,
    documents: usize,
    empty_documents: usize,
    words: usize,
    named_words: bool,
    entries: u64,
    tokens: f64,
    /// None if it went through a pipe.
    bytes: Option<u64>,
}

/// Converts the corpus.
pub fn run(args: ConvertArgs) -> anyhow::Result<End> {
    if let Some(flag) = args.points.own().filter(|_| args.kind != Kind::Points.name()) {
        bail!("{flag} is for points; give --kind points with it");
    }
    let [data] = &args.data[..] else {
        if args.shards.is_none() {
            let n = args.data.len();
            bail!("{n} files become shards, not one file; say how many shards with --shards");
        }
        return make_shards(args);
    };
    if args.shards.is_some() {
        return make_shards(args);
    }
    let output = args.output.as_path();
    let file = output.display();
    if !write::is_stream(output) && output.extension().is_none_or(|ending| ending != "lehr") {
        bail!(
            "{file}: the name of a converted corpus ends in .lehr; write to {}",
            quoted(&output.with_extension("lehr"))
        );
    }
    output::check_readable(output, "a converted corpus")?;
    if args.json && write::is_stdout(output) {
        bail!(
            "--json: standard output is the corpus already; leave it out, or name a file with -o"
        );
    }
    let same = matches!((data.canonicalize(), output.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if same {
        bail!("{file}: this is the corpus itself; write to another file with -o");
    }
    output::check(output, args.force)?;
    let options = args.docs.options()?;
    let docs = read::docs(data, &options)?;
    let lengths = (0..docs.n_items()).map(|n| docs.doc(n).len());
    let (empty_documents, entries) =
        lengths.fold((0, 0), |(empty, sum), n| (empty + usize::from(n == 0), sum + n as u64));
    if let Some(fault) = docs.fault() {
        return Err(fault.into());
    }
    for note in docs.notes() {
        eprintln!("note: {}", render(&note));
    }
    docs.save(output)?;
    let size = std::fs::metadata(output).ok().filter(std::fs::Metadata::is_file);
    let size = size.filter(|_| !write::is_stream(output)).map(|found| found.len());
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
    let mut said = format!(
        "{file}: {}{empty}\n\
         words     {} in the vocabulary{names}\n\
         tokens    {}, as {}\n",
        counted(converted.documents as u64, "document"),
        converted.words,
        text::number(converted.tokens),
        text::plural(entries, "entry", "entries"),
    );
    if let Some(size) = size {
        let fit = format!("lehr fit lda {} -k 50", quoted(output));
        said += &format!("size      {}\nfit topics to it with: {fit}\n", bytes(size));
    }
    output::say(output, &said)?;
    Ok(End::Done)
}

/// Makes a folder of shards.
fn make_shards(args: ConvertArgs) -> anyhow::Result<End> {
    let output = args.output.as_path();
    if write::is_stream(output) {
        bail!("-o: shards are a folder of files; name it");
    }
    let n_shards = args.shards.unwrap_or(1);
    let made = if args.kind == Kind::Points.name() {
        make_points(&args.data, &args.points.options()?, n_shards, output)?
    } else if args.kind == Kind::Ratings.name() {
        make_ratings(&args.data, &RatingsOptions::default(), n_shards, output)?
    } else {
        make_docs(&args.data, &args.docs.options()?, n_shards, output)?
    };
    let manifest = made.manifest();
    if args.json {
        text::print_json(manifest)?;
        return Ok(End::Done);
    }
    let size: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
    let columns = match manifest.kind {
        Kind::Documents => format!("{} words, {} tokens", manifest.columns, manifest.tokens),
        Kind::Points => counted(manifest.columns as u64, "column"),
        Kind::Ratings => counted(manifest.columns as u64, "item"),
    };
    let model = match manifest.kind {
        Kind::Documents => "lda",
        Kind::Points => "gmm",
        Kind::Ratings => "pmf",
    };
    let said = format!(
        "{}: {} {} in {}\nholds     {columns}\nsize      {}\nfit a model to it on workers with: \
         python -m lehr.distributed fit {model} {} -k 50 -o RUN\n",
        output.display(),
        manifest.rows,
        manifest.kind,
        counted(made.n_shards() as u64, "shard"),
        bytes(size),
        quoted(output),
    );
    output::say(output, &said)?;
    Ok(End::Done)
}
