//! Files in, points out: every format, every refusal with its exact words, and the way back.

#[path = "../common/files.rs"]
mod files;
mod blocks;
mod text;
mod opening;
mod array;
#[cfg(feature = "parquet")]
mod columnar;
mod missing;
mod others;
mod round_trip;

use std::fs;
use std::path::{Path, PathBuf};

use lehr::data::{Points, Rows};
use lehr::read::{self, Header, Missing, PointsOptions};
use lehr::write::{self, Column};
use proptest::prelude::*;

use files::{Folder, gzip};

fn fault_of(name: &str, bytes: impl AsRef<[u8]>, options: &PointsOptions) -> String {
    let folder = Folder::new();
    folder.fault(read::points(&folder.file(name, bytes), options))
}

fn fault(name: &str, bytes: impl AsRef<[u8]>) -> String {
    fault_of(name, bytes, &PointsOptions::default())
}

fn read_as(name: &str, bytes: impl AsRef<[u8]>, options: &PointsOptions) -> Points {
    let folder = Folder::new();
    read::points(&folder.file(name, bytes), options).unwrap()
}

fn read_file(name: &str, bytes: impl AsRef<[u8]>) -> Points {
    read_as(name, bytes, &PointsOptions::default())
}

fn numbers(points: &Points) -> Vec<f64> {
    match points.block_of(0).0 {
        Rows::F64(values) => values.to_vec(),
        Rows::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
    }
}

/// A .npy file of format version `major` with any header and body.
fn npy(major: u8, header: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([major, 0]);
    let prefix = if major == 1 { 10 } else { 12 };
    let width = (prefix + header.len() + 1).next_multiple_of(64) - prefix - 1;
    let text = format!("{header:<width$}\n");
    match major {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.bytes());
    bytes.extend(body);
    bytes
}

fn describe(descr: &str, fortran: bool, shape: &str) -> String {
    let order = if fortran { "True" } else { "False" };
    format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")
}

fn f64_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn options(columns: &[&str], drop: &[&str], weight: Option<&str>) -> PointsOptions {
    let owned = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
    PointsOptions {
        columns: owned(columns),
        drop: owned(drop),
        weight_column: weight.map(Into::into),
        ..Default::default()
    }
}
