//! What users may like, for people and for programs.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use anyhow::bail;
use serde::Serialize;

use lehr::data::{Ratings, Side};
use lehr::lambda::Lambda;
use lehr::models::Stored;
use lehr::models::pmf::{By, Factor, Folded, Moved, Pmf, Predictor, Recommendation};
use lehr::store::RunConfig;

use super::fold::left_out;
use super::lists::Asked;
use super::{LONGEST_ID, choice};
use crate::args::{Ranking, RecommendArgs};
use crate::commands::fit::naming_file;
use crate::look;
use crate::models::OpenRun;
use crate::output::TableFile;
use crate::text::{self, aligned, counted, cut, in_line, rounded};

#[derive(Serialize)]
struct Lists<'a> {
    model: &'static str,
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    users: Vec<List<'a>>,
}

/// What one user may like.
#[derive(Serialize)]
struct List<'a> {
    user: &'a str,
    /// Whether the model was fitted to ratings of this user.
    known: bool,
    /// Whether ratings that came later are folded in.
    folded_in: bool,
    /// How many of the model's items the user has rated.
    rated: usize,
    items: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    rank: usize,
    item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The expected rating.
    rating: f64,
    /// How unsure the model is of it.
    sd: f64,
    /// How far a rating may be from it, the ratings' own scatter included.
    rating_sd: f64,
    score: f64,
    /// Which of the user's own ratings move it most.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Vec<Because>>,
}

/// A rating of the user's that moves an expected one.
#[derive(Serialize)]
struct Because {
    item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// How the user has rated it.
    rating: f64,
    /// By how much the expected rating is higher than it would be without.
    by: f64,
}

/// Refuses flags that cannot work, before anything is read.
pub fn check(args: &RecommendArgs) -> anyhow::Result<()> {
    if args.top == 0 {
        bail!("--top 0: must be at least 1");
    }
    if let Some(beta) = args.beta {
        if args.by != Ranking::Ucb {
            bail!("--beta {beta}: is for --by ucb; leave it out");
        }
        if !beta.is_finite() {
            bail!("--beta {beta}: must be a finite number of standard deviations; 1 is usual");
        }
    }
    if args.explain.is_some() && args.ratings.is_some() {
        bail!(
            "--explain is of the ratings of the fit, and --ratings has later ones; leave one of the two out"
        );
    }
    if let Some(seed) = args.seed.filter(|_| args.by != Ranking::Thompson) {
        bail!("--seed {seed}: is for --by thompson; leave it out");
    }
    Ok(())
}

/// Prints what the users may like.
pub fn show(run: &OpenRun<Pmf>, args: &RecommendArgs) -> anyhow::Result<()> {
    let titles = args
        .titles
        .as_deref()
        .map(|path| read_titles(&run.model, &run.config, path))
        .transpose()?;
    let by = match args.by {
        Ranking::Mean => By::Mean,
        Ranking::Ucb => By::Ucb { beta: args.beta.unwrap_or(1.0) },
        Ranking::Thompson => By::Thompson { seed: args.seed.unwrap_or(0) },
    };
    let users = match &args.users {
        Some(path) => [args.user.clone(), choice::ids_in(path)?].concat(),
        None => args.user.clone(),
    };
    let scale = choice::scale(&run.model, args)?;
    let lambda = &run.saved.model_state().lambda;
    if let Some(path) = &args.output {
        let output = TableFile::new(path, args.output_format, args.force)?;
        let users = (!args.all).then_some(users);
        let newer = args.ratings.as_deref().map(|path| absorbed(run, path)).transpose()?;
        let (model, lambda) = newer.as_ref().map_or((&run.model, lambda), |(m, l)| (m, l));
        // Items that only the new ratings have are not listed, as without a file.
        let allowed = choice::allowed(model, run.config.frozen.items, args)?;
        let asked = Asked { model, lambda, users, by, allowed, scale, titles, args };
        return asked.write(&output);
    }
    let allowed = choice::allowed(&run.model, run.config.frozen.items, args)?;
    let newer = args.ratings.as_deref().map(|path| Newer::read(run, path)).transpose()?;
    let predictor = run.model.predictor(lambda);
    let barred = match &allowed {
        None => Vec::new(),
        Some(items) => {
            let all = 0..run.config.frozen.items as u32;
            all.filter(|item| items.binary_search(item).is_err()).collect()
        }
    };
    let finder = Finder { run, args, by, predictor, newer, titles, barred, scale };
    let lists: Vec<List<'_>> = users.iter().map(|user| finder.list(user)).collect();
    // Before the lists, which may be long; if stderr is closed, the lists are still worth printing.
    let newer = finder.newer.as_ref();
    if let Some(left_out) =
        newer.and_then(|n| left_out(n.folded.both_unknown, n.folded.known_pairs))
    {
        let _ = writeln!(std::io::stderr(), "left out of the new ratings: {left_out}");
    }
    for list in lists.iter().filter(|list| !(list.known || list.folded_in)) {
        let _ = writeln!(std::io::stderr(), "{}", finder.unknown(list.user));
    }
    if args.json {
        let (by, beta, seed) = match by {
            By::Mean => ("mean", None, None),
            By::Ucb { beta } => ("ucb", Some(beta), None),
            By::Thompson { seed } => ("thompson", None, Some(seed)),
        };
        return text::print_json(&Lists { model: "pmf", by, beta, seed, users: lists });
    }
    let blocks: Vec<String> = lists.iter().map(|list| finder.block(list)).collect();
    let sigma = run.model.noise_variance(&run.saved.model_state().lambda).sqrt();
    text::print(&format!(
        "{}\nsd: how unsure the model is of the expected rating; single ratings scatter around it by {}\n",
        blocks.join("\n"),
        rounded(sigma, 3)
    ))
}

/// The model with later ratings in it.
fn absorbed(run: &OpenRun<Pmf>, path: &Path) -> anyhow::Result<(Pmf, Lambda)> {
    let options = &run.config.data.options;
    let (ratings, _) =
        run.model.read_new(path, options).map_err(|error| naming_file(error, path))?;
    let absorbed = run.model.absorb(&run.saved.model_state().lambda, &ratings);
    absorbed.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
}

/// The titles in a file, which has to be one of the model's items.
pub(super) fn read_titles(
    model: &Pmf,
    config: &RunConfig<Pmf>,
    path: &Path,
) -> anyhow::Result<HashMap<String, String>> {
    let titles = lehr::read::titles(path)?;
    let (ids, n_items) = (model.ids(Side::Item), config.frozen.items);
    let known =
        (0..n_items).filter(|&item| titles.contains_key(&ids.get(item).to_string())).count();
    if known == 0 {
        let some = titles.keys().min().map_or(String::new(), |id| cut(&in_line(id), LONGEST_ID));
        bail!(
            "{}: has titles of {} ({some}, ...), and none of them is one of the run's {} ({}, ...); give the file \
             that belongs to the ratings",
            path.display(),
            counted(titles.len() as u64, "id"),
            counted(n_items as u64, "item"),
            cut(&in_line(&ids.get(0).to_string()), LONGEST_ID)
        );
    }
    if known < n_items.div_ceil(10) {
        let file = path.display();
        let _ = writeln!(
            std::io::stderr(),
            "warning: {file} has titles of {known} of the run's {}; is it the right file?",
            counted(n_items as u64, "item")
        );
    }
    Ok(titles)
}

/// Ratings that came after the fit.
struct Newer {
    ratings: Ratings,
    folded: Folded,
}

impl Newer {
    fn read(run: &OpenRun<Pmf>, path: &Path) -> anyhow::Result<Self> {
        let options = &run.config.data.options;
        let (ratings, _) =
            run.model.read_new(path, options).map_err(|error| naming_file(error, path))?;
        let folded = run.model.fold_in(&run.saved.model_state().lambda, &ratings);
        Ok(Newer { ratings, folded })
    }

    /// A user with what the new ratings tell, and the items of these.
    fn find(&self, user: &str) -> (Option<&Factor>, &[u32]) {
        let Some(number) = self.ratings.ids(Side::User).find(user) else { return (None, &[]) };
        let users = &self.folded.users;
        let factor = users.binary_search_by_key(&number, |(user, _)| *user).ok();
        let (items, _) = self.ratings.side(Side::User).row(number as usize);
        (factor.map(|at| &users[at].1), items)
    }
}

struct Finder<'a> {
    run: &'a OpenRun<Pmf>,
    args: &'a RecommendArgs,
    by: By,
    predictor: Predictor<'a>,
    newer: Option<Newer>,
    titles: Option<HashMap<String, String>>,
    /// Items that are not listed, rising.
    barred: Vec<u32>,
    /// What expected ratings are kept within.
    scale: Option<(f64, f64)>,
}

impl Finder<'_> {
    fn list<'u>(&self, user: &'u str) -> List<'u> {
        let id = user.trim();
        let number = self.run.model.find_user(id);
        let (folded, newer) = self.newer.as_ref().map_or((None, &[][..]), |newer| newer.find(id));
        let factor = folded.cloned().unwrap_or_else(|| self.predictor.user(number));
        let n_items = self.run.config.frozen.items as u32;
        let mut seen = number.map_or(Vec::new(), |user| self.run.model.seen(user).to_vec());
        seen.extend(newer.iter().filter(|&&item| item < n_items));
        seen.sort_unstable();
        seen.dedup();
        let mut skipped = self.barred.clone();
        if !self.args.include_seen {
            skipped.extend(&seen);
            skipped.sort_unstable();
        }
        let by = match self.by {
            // Every user has a draw of their own.
            By::Thompson { seed } => By::of_user(seed, id),
            by => by,
        };
        let found = self.predictor.recommend(&factor, self.args.top, by, &skipped);
        let listed: Vec<u32> = found.iter().map(|found| found.item).collect();
        let because = match (self.args.explain, number) {
            (Some(n), Some(user)) => self.predictor.explain(user, &listed, n),
            _ => vec![Vec::new(); listed.len()],
        };
        let listed = found.iter().zip(because).zip(1..);
        List {
            user,
            known: number.is_some(),
            folded_in: folded.is_some(),
            rated: seen.len(),
            items: listed
                .map(|((found, because), rank)| self.listed(found, because, rank))
                .collect(),
        }
    }

    fn listed(&self, found: &Recommendation, because: Vec<Moved>, rank: usize) -> Listed {
        let named = |item: u32| {
            let item = self.run.model.ids(Side::Item).get(item as usize).to_string();
            let title = self.titles.as_ref().and_then(|titles| titles.get(&item).cloned());
            (item, title)
        };
        let because = because.into_iter().map(|Moved { item, rating, by }| {
            let (item, title) = named(item);
            Because { item, title, rating, by }
        });
        let (item, title) = named(found.item);
        let rating = found.prediction.mean;
        Listed {
            rank,
            title,
            item,
            because: self.args.explain.map(|_| because.collect()),
            rating: self.scale.map_or(rating, |(low, high)| rating.clamp(low, high)),
            sd: found.prediction.sd(),
            rating_sd: found.prediction.variance.sqrt(),
            score: found.score,
        }
    }

    /// What to know of the recommendations for a user that the model does not know.
    fn unknown(&self, user: &str) -> String {
        let advice = match self.newer {
            Some(_) => "the new ratings hold none of theirs of an item that it knows",
            None => "ratings of theirs can be folded in with --ratings",
        };
        let user = in_line(user);
        if self.run.config.params.biases {
            return format!(
                "user {user} is not in the model; this is what users like on the whole ({advice})"
            );
        }
        format!(
            "user {user} is not in the model, and without biases it expects the same of every item \
             ({advice})"
        )
    }

    fn block(&self, list: &List<'_>) -> String {
        let mut out = format!("user {}", in_line(list.user));
        out += &match (list.known || list.folded_in, list.folded_in) {
            (false, _) => ", who is not in the model".to_string(),
            (true, false) => format!(", who has rated {}", counted(list.rated as u64, "item")),
            (true, true) => format!(
                ", who has rated {}, those of {} included",
                counted(list.rated as u64, "item"),
                self.args.ratings.as_deref().unwrap_or(Path::new("")).display()
            ),
        };
        out += match self.args.by {
            Ranking::Mean => "; the highest expected rating first\n",
            Ranking::Ucb => "; the highest upper end first\n",
            Ranking::Thompson => "; the best of one random draw first\n",
        };
        if list.items.is_empty() {
            return out
                + "nothing is left: all items are rated already; --include-seen lists them\n";
        }
        let scored = self.args.by != Ranking::Mean;
        let mut header = vec!["rank", "item"];
        if self.titles.is_some() {
            header.push("title");
        }
        let left = 1..header.len();
        header.extend(["rating", "sd"]);
        if scored {
            header.push("score");
        }
        // Rank, rating, sd and score with the gaps between them take this much room.
        let room = look::width().saturating_sub(34);
        let (longest_id, longest_title) = match self.titles {
            Some(_) => (LONGEST_ID.min(room * 2 / 5), room * 3 / 5),
            None => (LONGEST_ID.min(room), 0),
        };
        let row = |item: &Listed| {
            let mut row = vec![item.rank.to_string(), cut(&in_line(&item.item), longest_id)];
            if self.titles.is_some() {
                let title = item.title.as_ref().unwrap_or(&item.item);
                row.push(cut(&in_line(title), longest_title));
            }
            row.extend([item.rating, item.sd].map(|x| format!("{x:.3}")));
            if scored {
                row.push(format!("{:.3}", item.score));
            }
            row
        };
        let rows: Vec<Vec<String>> = list.items.iter().map(row).collect();
        out += &aligned(&header, &rows, left);
        if self.args.explain.is_some() && list.known {
            out += "expected ratings would be lower by so much (-: higher) without one of the user's own\n";
            list.items.iter().for_each(|item| out += &self.reasons(item));
        }
        out
    }

    /// The ratings that move an expected one, in a line or more.
    fn reasons(&self, listed: &Listed) -> String {
        let reasons = listed.because.iter().flatten().map(|because| {
            let name = because.title.as_ref().unwrap_or(&because.item);
            format!("{:+.3} {} ({}),", because.by, cut(&in_line(name), LONGEST_ID), because.rating)
        });
        let mut reasons: Vec<String> = reasons.collect();
        reasons.last_mut().map(String::pop);
        let begin = format!("{:>4}  ", listed.rank);
        text::wrapped(&begin, reasons.iter().map(String::as_str), look::width())
    }
}
