//! Shards of points, of one file or of many, of which one is in memory at a time.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Kind, Making, Names, ShardFolder};
use crate::data::{Points, Rows};
use crate::error::{advice, setting};
use crate::read::{self, PointsOptions};
use crate::write::{atomically, npy_header};
use crate::{Error, Result};

/// Makes a folder of shards of the rows in these files, in their order, each in any format that [`read::points`] reads
/// and all with the same options. All must have the same columns. Every file is read twice, since how many rows there
/// are is known only then; the memory needed is that of the largest, and little for a .npy file that can be mapped.
pub fn make_points(
    files: &[PathBuf],
    options: &PointsOptions,
    n_shards: usize,
    folder: &Path,
) -> Result<ShardFolder> {
    let mut making = Making::begin(folder)?;
    if options.weight_column.is_some() {
        let allowed = "is not for shards, whose points all count once; leave it out";
        return Err(Error::config("weight_column", "a column", allowed));
    }
    let Some(shape) = Shape::of(files, options)? else {
        return Err(Error::data("there are no files to make shards of"));
    };
    // The file that rows are being copied from, and its first row among all.
    let mut open: Option<(usize, Points)> = None;
    for rows in Making::split(shape.starts[files.len()], n_shards)? {
        let file = making.next("npy");
        let mut fault = None;
        let written = atomically(&file, |out| {
            let mut out = BufWriter::with_capacity(1 << 20, out);
            out.write_all(&npy_header(rows.len(), shape.n_dims, shape.single))?;
            for n in rows.clone() {
                let from = shape.starts.partition_point(|&first| first <= n) - 1;
                if open.as_ref().is_none_or(|(at, _)| *at != from) {
                    open = None; // before the next one is read
                    match read::points(&files[from], options) {
                        Ok(points) => open = Some((from, points)),
                        Err(error) => {
                            let text = error.to_string();
                            fault = Some(error);
                            return Err(std::io::Error::other(text));
                        }
                    }
                }
                let Some((_, points)) = &open else { continue };
                write_row(&mut out, points, n - shape.starts[from], shape.single)?;
            }
            out.flush()
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        written?;
        making.add(&file, rows.len(), 0.0)?;
    }
    let names = match shape.names.is_empty() {
        true => Names::None,
        false => Names::Columns(shape.names),
    };
    making.finish(Kind::Points, shape.n_dims, names)
}

/// What all files together are.
struct Shape {
    n_dims: usize,
    names: Vec<String>,
    /// Whether all numbers are of single precision.
    single: bool,
    /// Where the rows of each file start, and the end of the last.
    starts: Vec<usize>,
}

impl Shape {
    fn of(files: &[PathBuf], options: &PointsOptions) -> Result<Option<Self>> {
        let mut all: Option<Shape> = None;
        for file in files {
            let points = read::points(file, options)?;
            if points.has_missing() {
                let what = "has missing values, which shards cannot have; fill them in, or leave their rows out (";
                let message = advice![what, setting("missing").to("drop-rows"), ")"];
                return Err(Error::parse(file, message));
            }
            let (n_dims, names) = (points.n_dims(), points.names());
            let single = matches!(points.block_of(0).0, Rows::F32(_));
            let all = all.get_or_insert_with(|| Shape {
                n_dims,
                names: names.to_vec(),
                single: true,
                starts: vec![0],
            });
            if (n_dims, names) != (all.n_dims, &all.names[..]) {
                let message = format!(
                    "has {n_dims} columns ({}), and {} has {} ({}); all files must have the same",
                    names.join(", "),
                    files[0].display(),
                    all.n_dims,
                    all.names.join(", ")
                );
                return Err(Error::parse(file, message));
            }
            all.single &= single;
            let before = all.starts[all.starts.len() - 1];
            all.starts.push(before + points.n_items());
        }
        Ok(all)
    }
}

fn write_row(out: &mut impl Write, points: &Points, n: usize, single: bool) -> std::io::Result<()> {
    let (rows, first) = points.block_of(n);
    let range = (n - first) * points.n_dims()..(n - first + 1) * points.n_dims();
    match rows {
        Rows::F64(values) => values[range].iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
        Rows::F32(values) if single => {
            values[range].iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
        }
        Rows::F32(values) => {
            values[range].iter().try_for_each(|&x| out.write_all(&f64::from(x).to_le_bytes()))
        }
    }
}
