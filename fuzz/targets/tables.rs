//! Tables of numbers, ratings and titles.

use std::path::Path;

use lehr::data::{Duplicates, Ids, Points, Ratings, Side};
use lehr::read::{self, Header, Missing, PointsOptions, RatingsOptions};

use super::{Folder, Read, told};

fn points(path: &Path, options: &PointsOptions) -> lehr::Result<Points> {
    let points = read::points(path, options)?;
    let mut row = vec![0.0; points.n_dims()];
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        let may_be = |x: &f64| x.is_finite() || (x.is_nan() && options.missing == Missing::Model);
        assert!(row.iter().all(may_be));
    }
    points.fingerprint();
    Ok(points)
}

/// Reads a table in the ways that the flags offer; the answer is that of the first.
fn in_all_ways(path: &Path) -> Read {
    let base = PointsOptions::default;
    let weighted = PointsOptions { weight_column: Some("1".into()), ..base() };
    let chosen = PointsOptions { columns: vec!["2".into(), "1".into()], ..base() };
    let _ = points(path, &weighted);
    let _ = points(path, &chosen);
    for missing in [Missing::Model, Missing::DropRows] {
        let _ = points(path, &PointsOptions { missing, ..base() });
    }
    let _ = read::text_columns(path, Header::Auto, &[("keep", "1")]);
    told(points(path, &base()))
}

pub fn npy(folder: &Folder, bytes: &[u8]) -> Read {
    in_all_ways(&folder.file("a.npy", bytes))
}

pub fn csv(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.csv", bytes);
    let _ = points(&path, &PointsOptions { header: Header::Yes, ..PointsOptions::default() });
    let _ = read::topic_table(&path);
    in_all_ways(&path)
}

pub fn gzip(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.gz", bytes);
    let _ = read::ratings(&path, &RatingsOptions::default());
    told(points(&path, &PointsOptions::default()))
}

pub fn parquet_points(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.parquet", bytes);
    for dropped in [&["id", "gap"][..], &["id", "gap", "count"], &["document", "term"]] {
        let drop = dropped.iter().map(|name| name.to_string()).collect();
        let _ = points(&path, &PointsOptions { drop, ..PointsOptions::default() });
    }
    in_all_ways(&path)
}

fn rated(read: lehr::Result<Ratings>) -> lehr::Result<Ratings> {
    let ratings = read?;
    let sizes = [Side::User, Side::Item].map(|side| ratings.ids(side).len());
    for (user, item, value) in ratings.triples() {
        assert!((user as usize) < sizes[0] && (item as usize) < sizes[1] && value.is_finite());
    }
    ratings.fingerprint();
    Ok(ratings)
}

fn ratings_in_all_ways(path: &Path) -> Read {
    let mean = RatingsOptions { duplicates: Duplicates::Mean, ..RatingsOptions::default() };
    let column = |number: &str| Some(number.to_string());
    let (user, item, rating) = (column("2"), column("1"), column("3"));
    let chosen = RatingsOptions { user, item, rating, ..mean.clone() };
    let _ = rated(read::ratings(path, &chosen));
    let known: Ids = ["1", "x"].into_iter().collect();
    let _ = rated(read::ratings_for(path, &mean, &known, &known));
    told(rated(read::ratings(path, &mean)))
}

pub fn ratings(folder: &Folder, bytes: &[u8]) -> Read {
    ratings_in_all_ways(&folder.file("r.dat", bytes))
}

/// A wide matrix of ratings, as text and, by its magic, as an array.
pub fn matrix(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("w.csv", bytes);
    let wide = RatingsOptions { matrix: true, ..RatingsOptions::default() };
    let (user, drop) = (Some("2".to_string()), vec!["1".to_string()]);
    let missing = vec!["99".to_string()];
    let _ = rated(read::ratings(&path, &RatingsOptions { user, missing, ..wide.clone() }));
    let duplicates = Duplicates::Mean;
    let _ = rated(read::ratings(&path, &RatingsOptions { drop, duplicates, ..wide.clone() }));
    told(rated(read::ratings(&path, &wide)))
}

pub fn parquet_ratings(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("r.parquet", bytes);
    let column = |name: &str| Some(name.to_string());
    let (user, item, rating) = (column("document"), column("term"), column("count"));
    let _ =
        rated(read::ratings(&path, &RatingsOptions { user, item, rating, ..Default::default() }));
    ratings_in_all_ways(&path)
}

pub fn titles(folder: &Folder, bytes: &[u8]) -> Read {
    told(read::titles(&folder.file("movies.dat", bytes)))
}
