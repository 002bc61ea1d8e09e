//! Files that broke a reader once, by what was wrong, and what it says of them now.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// The reader refuses the seed in words that hold `expected`.
fn refused(target: &str, seed: &str, expected: &str) {
    let path = root().join("fuzz/seeds").join(target).join(seed);
    refused_bytes(target, &fs::read(path).unwrap(), expected);
}

fn refused_bytes(target: &str, bytes: &[u8], expected: &str) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let target = targets::find(target).unwrap();
    let (read, _) = tried(target, &Folder::new(), bytes).unwrap();
    let error = read.expect_err("it must be refused");
    assert!(error.contains(expected), "{error}");
}

/// The Parquet library recursed once for each level, to the end of the stack.
#[test]
fn r1_a_parquet_schema_without_end() {
    const DEPTH: usize = 200_000;
    // A list of groups, each with the next one in it, and no row groups.
    let mut footer = vec![0x15, 2, 0x19, 0xfc, 0xc0, 0x9a, 0x0c];
    footer.extend([0x35, 0, 0x18, 1, b'g', 0x15, 2, 0].repeat(DEPTH));
    footer.extend([0x16, 2, 0x19, 0x0c, 0]);
    let length = (footer.len() as u32).to_le_bytes();
    let bytes = [b"PAR1", &footer[..], &length, b"PAR1"].concat();
    refused_bytes("parquet_points", &bytes, "its schema is nested too deeply");
    refused("parquet_points", "bad-deep_schema.parquet", "its schema is nested too deeply");
}

/// It made room for as many columns as a group claimed: 16 GB.
#[test]
fn r2_a_parquet_group_of_two_thousand_million_columns() {
    let expected = "a group of its schema has more columns than there are";
    refused("parquet_points", "bad-wide_schema.parquet", expected);
}

/// It made room for what a page claimed to unpack to: 2 GB.
#[test]
fn r3_a_parquet_page_that_claims_to_unpack_to_gigabytes() {
    refused("parquet_points", "bad-page_size.parquet", "column x: a page claims 2147483647 bytes");
}

/// Two thousand million rows in six bytes, all of which were kept: 16 GB.
#[test]
fn r4_a_parquet_run_of_rows() {
    let expected = "column x: it unpacks to more than 1024 times";
    refused("parquet_points", "bad-run_of_rows.parquet", expected);
}

/// It made room for as many lengths as the page claimed: 32 GB.
#[test]
fn r5_parquet_text_with_lengths_of_its_own() {
    for target in ["parquet_docs", "parquet_ratings"] {
        let expected = "its text is encoded as DELTA_LENGTH_BYTE_ARRAY, which is not read";
        refused(target, "bad-lengths_of_text.parquet", expected);
    }
}

/// The reader made room for as many rows as the file claimed: 8 TB, had there been that much.
#[test]
fn r6_a_parquet_file_that_promises_rows() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join("fuzz/seeds/parquet_points/ok-promised_rows.parquet");
    let target = targets::find("parquet_points").unwrap();
    let (read, peak) = tried(target, &Folder::new(), &fs::read(path).unwrap()).unwrap();
    assert_eq!(read, Ok(()));
    // Other tests may be making their files meanwhile, which counts as well.
    assert!(peak < 1 << 27, "{peak} bytes for two rows");
}

/// Packed data were unpacked without end.
#[test]
fn r7_a_gzipped_file_that_unpacks_to_a_thousand_times_its_size() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&b"1,2\n".repeat(7 << 20)).unwrap();
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 30_000);
    refused_bytes("gzip", &packed, "it unpacks to more than 200 times its size");
}

/// A member of an archive could claim any size.
#[test]
fn r8_an_archive_that_claims_to_unpack_to_gigabytes() {
    refused("npz", "bad-claim.npz", "format.npy claims to unpack to 4294967294 bytes");
}

/// A corpus with 2^24 words and documents, of which nearly all were empty, took 350 MB.
#[test]
fn r9_a_corpus_that_is_nearly_empty() {
    let header = |docs: u64, words: u64| format!("{docs}\n{words}\n1\n1 1 1\n");
    let words = "has words numbered up to 16000000, and only 1 entries";
    refused_bytes("uci", header(1, 16_000_000).as_bytes(), words);
    let docs = "has documents numbered up to 16000000, and only 1 entries";
    refused_bytes("uci", header(16_000_000, 1).as_bytes(), docs);
}

/// Every cell that did not fit had its row counted again: minutes for a file of some megabytes.
#[test]
fn r10_a_row_with_one_cell_too_many() {
    let names = vec!["a"; 300_000].join(",");
    let text = format!("{names}\n{names},a\n");
    refused_bytes("csv", text.as_bytes(), "found 300001 fields, expected 300000");
}

/// Offsets that go back gave every document all entries: hours for a file of some megabytes.
#[test]
fn r11_documents_of_a_converted_corpus_that_overlap() {
    let seed = fs::read(root().join("fuzz/seeds/corpus/ok-named.lehr")).unwrap();
    let u64_at = |at: usize| u64::from_le_bytes(seed[at..at + 8].try_into().unwrap());
    let n_entries = u64_at(32);
    let mut bytes = seed.clone();
    // The second document ends where it would not if the third started behind it.
    let at = 4096 + 8 * n_entries as usize + 16;
    bytes[at..at + 8].copy_from_slice(&n_entries.to_le_bytes());
    let bytes = targets::repair::corpus(&bytes);
    refused_bytes("corpus", &bytes, "the offsets of its documents are damaged");
}

/// A version that was a boolean and no number: the library read the file differently from the look
/// beforehand, which then saw no schema. Found by libFuzzer.
#[test]
fn r12_a_parquet_header_whose_field_is_of_another_type() {
    refused("parquet_points", "bad-other_type.parquet", "its headers are damaged");
}

/// A converted corpus without documents was taken for one that has some. Found by libFuzzer.
#[test]
fn r13_a_converted_corpus_without_documents() {
    let mut bytes = vec![0; 4096 + 8];
    bytes[..8].copy_from_slice(b"LEHRDOCS");
    bytes[8] = 1;
    refused_bytes(
        "corpus",
        &targets::repair::corpus(&bytes),
        "has no documents; convert the corpus",
    );
}

/// What is noted of every column was made for ten million of them, 262 MB, before the size was looked at. Found
/// by libFuzzer.
#[test]
fn r14_an_array_of_more_columns_than_bytes() {
    let expected = "but only 19 bytes follow it; the file is cut off";
    refused("npy", "bad-many_columns.npy", expected);
    let seed = fs::read(root().join("fuzz/seeds/npy/bad-many_columns.npy")).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&seed).unwrap();
    refused_bytes(
        "gzip",
        &packed.finish().unwrap(),
        "bytes cannot hold as many; the file is cut off",
    );
}
