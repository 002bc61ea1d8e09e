//! Which users lists are for, which items they may have, and the scale that ratings are kept within.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};

use lehr::data::Side;
use lehr::models::pmf::Pmf;

use crate::args::RecommendArgs;
use crate::text::{counted, cut, in_line};

/// The longest id in a message.
const LONGEST: usize = 40;

/// The ids in a file, one on each line.
pub(super) fn ids_in(path: &Path) -> anyhow::Result<Vec<String>> {
    let bytes = std::fs::read(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        bail!("{}: is not UTF-8; give a text file with an id on each line", path.display());
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ids = text.lines().map(str::trim).filter(|id| !id.is_empty());
    let ids: Vec<String> = ids.map(str::to_string).collect();
    if ids.is_empty() {
        bail!("{}: has no ids; give a text file with an id on each line", path.display());
    }
    Ok(ids)
}

/// The numbers of items in a file, rising; those that the model does not know are counted, and refused if none is known
/// though one is needed.
fn items_in(model: &Pmf, path: &Path, needed: bool) -> anyhow::Result<Vec<u32>> {
    let ids = ids_in(path)?;
    let mut known: Vec<u32> = ids.iter().filter_map(|id| model.find_item(id)).collect();
    let n = ids.len() - known.len();
    if known.is_empty() && needed {
        bail!(
            "{}: the run knows none of its {} ({}, ...); it has items like {}",
            path.display(),
            counted(n as u64, "item"),
            cut(&in_line(&ids[0]), LONGEST),
            cut(&in_line(&model.ids(Side::Item).get(0).to_string()), LONGEST)
        );
    }
    if n > 0 {
        let (n, are) = (counted(n as u64, "item"), if n == 1 { "is" } else { "are" });
        let _ = writeln!(std::io::stderr(), "{}: {n} {are} not in the run", path.display());
    }
    known.sort_unstable();
    known.dedup();
    Ok(known)
}

/// The only items that lists may have, rising, of the first `n_items`; none, if all may be there.
pub(super) fn allowed(
    model: &Pmf,
    n_items: usize,
    args: &RecommendArgs,
) -> anyhow::Result<Option<Vec<u32>>> {
    let exclude = match &args.exclude {
        Some(path) => items_in(model, path, false)?,
        None => Vec::new(),
    };
    let mut items = match &args.items {
        Some(path) => items_in(model, path, true)?,
        None if exclude.is_empty() && n_items == model.ids(Side::Item).len() => return Ok(None),
        None => (0..n_items as u32).collect(),
    };
    items.retain(|item| (*item as usize) < n_items && exclude.binary_search(item).is_err());
    if items.is_empty() {
        bail!("no item is left that a list could have: --exclude names all of them");
    }
    Ok(Some(items))
}

/// The scale that expected ratings are kept within.
pub(super) fn scale(model: &Pmf, args: &RecommendArgs) -> anyhow::Result<Option<(f64, f64)>> {
    let Some(text) = &args.clip else { return Ok(None) };
    if text.is_empty() {
        return Ok(Some(model.scale()));
    }
    let ends = text.split_once(':').and_then(|(low, high)| {
        Some((low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?))
    });
    match ends.filter(|(low, high)| low < high) {
        Some(scale) => Ok(Some(scale)),
        None => bail!("--clip {text}: must be the lowest and the highest rating, e.g. 1:5"),
    }
}
