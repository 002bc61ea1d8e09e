//! The topics' shares by group, or by month if the groups are dates.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::chart::short;

/// Groups that are shown by themselves, and months.
const MOST: usize = 12;
const MONTHS: usize = 36;

/// The topics' shares by group.
#[derive(Debug, Serialize)]
pub struct Groups {
    /// What the groups are groups of.
    pub name: String,
    /// Each of them.
    pub groups: Vec<Group>,
    /// Whether they follow each other in time.
    pub in_time: bool,
    /// What each of them is.
    each: &'static str,
    /// Documents that do not say what they belong to.
    pub left_out: usize,
    /// For each topic its shares, in percent.
    rows: Vec<Vec<String>>,
    /// The same as they are.
    #[serde(skip)]
    pub shares: Vec<Vec<f64>>,
}

/// A group.
#[derive(Debug, Serialize)]
pub struct Group {
    pub name: String,
    pub documents: usize,
}

/// Sums of the topics' shares by group.
pub struct Sums {
    name: String,
    /// The group of each document, if it says one.
    group_of: Vec<Option<usize>>,
    names: Vec<String>,
    in_time: bool,
    each: &'static str,
    left_out: usize,
    k: usize,
    counts: Vec<usize>,
    sums: Vec<f64>,
}

impl Sums {
    /// Of `k` topics in groups with the values of a column.
    pub fn new(name: &str, values: &[String], k: usize) -> Self {
        let said: Vec<Option<&str>> =
            values.iter().map(|value| Some(value.trim()).filter(|text| !text.is_empty())).collect();
        let all = || said.iter().flatten();
        // Dates, and years where there are no more than years.
        let of: Option<fn(&str) -> Option<String>> = [month as fn(&str) -> Option<String>, year]
            .into_iter()
            .find(|of| all().next().is_some() && all().all(|text| of(text).is_some()));
        let in_time = of.is_some();
        let key = |text: &str| of.and_then(|of| of(text)).unwrap_or_else(|| text.to_string());
        let mut keys: Vec<Option<String>> = said.iter().map(|text| text.map(key)).collect();
        let different = |keys: &[Option<String>]| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            keys.iter().flatten().for_each(|key| *counts.entry(key.clone()).or_default() += 1);
            counts
        };
        if in_time && different(&keys).len() > MONTHS {
            keys.iter_mut().flatten().for_each(|key| key.truncate(4));
        }
        let each = match keys.iter().flatten().next() {
            Some(key) if in_time && key.len() == 4 => "year",
            _ if in_time => "month",
            _ => "group",
        };
        let counts = different(&keys);
        let mut names: Vec<String> = counts.keys().cloned().collect();
        if !in_time {
            names.sort_by(|a, b| counts[b].cmp(&counts[a]).then(a.cmp(b)));
            let has_rest = names.len() > MOST;
            names.truncate(if has_rest { MOST - 1 } else { MOST });
            if has_rest {
                names.push("all others".into());
            }
        }
        let place: BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let last = names.len().saturating_sub(1);
        let group = |key: &Option<String>| {
            key.as_deref().map(|key| place.get(key).copied().unwrap_or(last))
        };
        let group_of: Vec<Option<usize>> = keys.iter().map(group).collect();
        let left_out = group_of.iter().filter(|group| group.is_none()).count();
        let n = names.len();
        Sums {
            name: name.into(),
            group_of,
            names,
            in_time,
            each,
            left_out,
            k,
            counts: vec![0; n],
            sums: vec![0.0; n * k],
        }
    }

    /// Adds a document.
    pub fn add(&mut self, n: usize, theta: &[f64]) {
        let Some(&Some(group)) = self.group_of.get(n) else { return };
        self.counts[group] += 1;
        let sums = &mut self.sums[group * self.k..][..self.k];
        sums.iter_mut().zip(theta).for_each(|(sum, share)| *sum += share);
    }

    /// The mean shares.
    pub fn done(self) -> Groups {
        let share = |k: usize, g: usize| self.sums[g * self.k + k] / self.counts[g].max(1) as f64;
        let n = self.names.len();
        let shares: Vec<Vec<f64>> =
            (0..self.k).map(|k| (0..n).map(|g| share(k, g)).collect()).collect();
        let percent = |row: &Vec<f64>| row.iter().map(|x| format!("{:.1}", 100.0 * x)).collect();
        let rows = shares.iter().map(percent).collect();
        let groups = self.names.into_iter().zip(self.counts);
        let groups = groups.map(|(name, documents)| Group { name, documents }).collect();
        Groups {
            name: self.name,
            groups,
            in_time: self.in_time,
            each: self.each,
            left_out: self.left_out,
            rows,
            shares,
        }
    }
}

impl Groups {
    /// What scripts draw and save: shares with four digits.
    pub fn data(&self) -> Value {
        let rows: Vec<Vec<f64>> =
            self.shares.iter().map(|row| row.iter().map(|&x| short(x, 4)).collect()).collect();
        let names: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
        let documents: Vec<usize> = self.groups.iter().map(|group| group.documents).collect();
        json!({ "name": self.name, "names": names, "documents": documents, "rows": rows })
    }
}

/// The month of a date that starts with `2026-11`, `2026/11` or `202611..`.
fn month(text: &str) -> Option<String> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (year, rest) = text.trim().split_at_checked(4)?;
    let rest = rest.strip_prefix(['-', '/', '.']).unwrap_or(rest);
    let (month, after) = rest.split_at_checked(2)?;
    let is_month = digits(month) && ("01"..="12").contains(&month);
    let ends = after.is_empty()
        || after.starts_with(['-', '/', '.', 'T', ' '])
        || (after.len() == 2 && digits(after));
    (digits(year) && is_month && ends).then(|| format!("{year}-{month}"))
}

/// A year of the last millennia that stands alone.
fn year(text: &str) -> Option<String> {
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_year && ("1000".."3000").contains(&text)).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_months_and_nothing_else_does() {
        for date in ["2026-11-18", "2026/11/18 10:00", "20261118", "2026-11", " 2026-11-18T09:00Z"]
        {
            assert_eq!(month(date).as_deref(), Some("2026-11"), "{date}");
        }
        for other in ["", "sports", "2026", "2026-13-01", "20261", "18.11.2026", "日本日本日"]
        {
            assert_eq!(month(other), None, "{other}");
        }
    }

    #[test]
    fn shares_are_means_of_the_groups_documents() {
        let values = ["b", "a", "b"].map(String::from);
        let mut sums = Sums::new("kind", &values, 2);
        sums.add(0, &[0.5, 0.5]);
        sums.add(1, &[0.1, 0.9]);
        sums.add(2, &[0.7, 0.3]);
        let groups = sums.done();
        assert_eq!(groups.groups[0].name, "b");
        assert_eq!(groups.rows, [["60.0", "10.0"], ["40.0", "90.0"]]);
    }

    #[test]
    fn documents_without_a_date_are_left_out_and_years_follow_each_other() {
        let of = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let mut sums = Sums::new("date", &values, 1);
            (0..values.len()).for_each(|n| sums.add(n, &[n as f64]));
            let groups = sums.done();
            let names: Vec<String> = groups.groups.iter().map(|g| g.name.clone()).collect();
            (names.join(" "), groups.in_time, groups.left_out, groups.shares[0].clone())
        };
        let (names, in_time, left_out, shares) = of(&["2026-02-01", "", "2026-01-30", " "]);
        assert_eq!((names.as_str(), in_time, left_out), ("2026-01 2026-02", true, 2));
        assert_eq!(shares, [2.0, 0.0]);
        assert_eq!(of(&["2001", "1999", "2001"]).0, "1999 2001");
        // What may be years and what are none are names of groups.
        assert_eq!(of(&["2001", "news", "2001"]), ("2001 news".into(), false, 0, vec![1.0, 1.0]));
        assert_eq!(of(&["", ""]).2, 2);
    }
}
