//! Reads a table of topics over words, from which a model can start.

use std::path::Path;

use super::{PointsOptions, points};
use crate::math::table::Table;
use crate::{Error, Result};

/// Reads a table with one row per topic and one column per word, in any format that [`points`]
/// reads; the columns' names, if there are any, are the words. Every number is 0 or more.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("topics.csv");
/// std::fs::write(&path, "bank,goal,rates\n5,0,3\n0,4,0\n")?;
/// let (topics, words) = lehr::read::topic_table(&path)?;
/// assert_eq!((topics.n_rows(), topics.row(1)), (2, &[0.0, 4.0, 0.0][..]));
/// assert_eq!(words.unwrap(), ["bank", "goal", "rates"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn topic_table(path: &Path) -> Result<(Table, Option<Vec<String>>)> {
    let points = points(path, &PointsOptions::default())?;
    let names = points.names();
    let mut table = Table::new(points.n_items(), points.n_dims());
    for k in 0..points.n_items() {
        points.copy_row(k, table.row_mut(k));
        if let Some(v) = table.row(k).iter().position(|&weight| weight < 0.0) {
            let column = names.get(v).cloned().unwrap_or_else(|| (v + 1).to_string());
            return Err(Error::parse(
                path,
                format!(
                    "topic {}, word {column}: found {}; a topic's weights are 0 or more",
                    k + 1,
                    table.row(k)[v]
                ),
            ));
        }
    }
    Ok((table, (!names.is_empty()).then(|| names.to_vec())))
}
