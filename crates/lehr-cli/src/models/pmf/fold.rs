//! New users and items, folded in: their factors as a table.

use lehr::data::{Ratings, Side};
use lehr::models::pmf::{Factor, Pmf};
use lehr::write::{Column, TableFormat};

use crate::models::OpenRun;
use crate::output::TableFile;
use crate::text::counted;

/// Writes the factors of all users with new ratings and of all new items; says what it did.
pub(super) fn write(
    run: &OpenRun<Pmf>,
    ratings: &Ratings,
    output: &TableFile<'_>,
) -> anyhow::Result<String> {
    if output.format == TableFormat::Npy {
        anyhow::bail!(
            "the ids of users and items do not fit into {}, a matrix of numbers; let its name end in \
             .csv or .parquet",
            output.path.display()
        );
    }
    let folded = run.model.fold_in(&run.saved.model_state().lambda, ratings);
    let left_out = left_out(folded.both_unknown, folded.known_pairs);
    if folded.users.is_empty() && folded.items.is_empty() {
        let why = left_out.unwrap_or_else(|| "there are no ratings".into());
        anyhow::bail!("there is nothing to fold in: {why}");
    }
    let known = run.config.frozen.users;
    let new_users = folded.users.iter().filter(|(user, _)| *user as usize >= known).count();
    let (n_users, n_items) = (folded.users.len(), folded.items.len());
    write_table(output, run.config.params.dims, ratings, &folded.users, &folded.items)?;
    let mut parts = Vec::new();
    for (n, what) in
        [(new_users, "new user"), (n_users - new_users, "known user"), (n_items, "new item")]
    {
        if n > 0 {
            parts.push(counted(n as u64, what));
        }
    }
    let mut done = format!("{} folded in", parts.join(", "));
    if let Some(left_out) = left_out {
        done += &format!("\nleft out: {left_out}");
    }
    Ok(done)
}

fn write_table(
    output: &TableFile<'_>,
    d: usize,
    ratings: &Ratings,
    users: &[(u32, Factor)],
    items: &[(u32, Factor)],
) -> anyhow::Result<()> {
    let (mut sides, mut ids) = (Vec::new(), Vec::new());
    let (mut factors, mut deviations) = (Vec::new(), Vec::new());
    let (mut biases, mut bias_deviations) = (Vec::new(), Vec::new());
    for (side, name, rows) in [(Side::User, "user", users), (Side::Item, "item", items)] {
        for (row, factor) in rows {
            sides.push(name.to_string());
            ids.push(ratings.ids(side).get(*row as usize).to_string());
            let (mean, sd) = (factor.mean(), factor.deviations().collect::<Vec<_>>());
            factors.extend_from_slice(&mean[..d]);
            deviations.extend_from_slice(&sd[..d]);
            biases.extend(mean.get(d));
            bias_deviations.extend(sd.get(d));
        }
    }
    let mut columns = vec![Column::text("side", &sides), Column::text("id", &ids)];
    if !biases.is_empty() {
        columns.push(Column::f64("bias", &biases));
    }
    columns.push(Column::matrix("factor", &factors, d));
    columns.push(Column::matrix("sd", &deviations, d));
    if !biases.is_empty() {
        columns.push(Column::f64("sd_bias", &bias_deviations));
    }
    Ok(output.write(&columns)?)
}

/// What could not be used, if anything.
/// What could not be folded in, in words.
pub fn left_out(both_unknown: usize, known_pairs: usize) -> Option<String> {
    let mut parts = Vec::new();
    if both_unknown > 0 {
        let n = counted(both_unknown as u64, "rating");
        parts.push(format!("{n} of which the model knows neither user nor item"));
    }
    if known_pairs > 0 {
        let n = counted(known_pairs as u64, "rating");
        parts.push(format!("{n} of pairs that the model was fitted to already"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
