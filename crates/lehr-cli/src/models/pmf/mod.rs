//! Probabilistic matrix factorisation.

mod choice;
mod eval;
mod fold;
mod lists;
pub mod recommend;
mod report;
pub mod similar;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use toml::Table;

use lehr::data::Side;
use lehr::fit::Observation;
use lehr::models::pmf::{PAPER_FIT, Pmf, PmfParams};
use lehr::read::RatingsOptions;
use lehr::store::{Run, RunConfig, RunResult};
use lehr_plot::terminal::{TermSeries, histogram_bar};

use super::{Head, NewData, OpenRun, Served};
use crate::args::{About, BesideArgs, DataArgs, EvalArgs};
use crate::output::TableFile;
use crate::text::{self, counted, cut, in_line, rounded, table};

/// Latent dimensions in `show`.
const SHOWN_DIMS: usize = 20;
/// Most loved items in `show`.
const SHOWN_ITEMS: usize = 10;
/// Columns of the bar of a dimension.
const BAR: usize = 24;
/// The longest id in a table.
const LONGEST_ID: usize = 40;

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    users: usize,
    items: usize,
    /// Those that the model was fitted to.
    ratings: usize,
    dims: usize,
    dims_in_use: usize,
    noise_variance: f64,
    /// The prior variance of each latent dimension of the items.
    item_variances: &'a [f64],
    /// Items by bias, the highest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    loved: Option<Vec<Loved>>,
}

#[derive(Serialize)]
struct Loved {
    item: String,
    bias: f64,
    ratings: usize,
}

const EXAMPLES: &str = "\
Examples:
  lehr fit pmf ratings.dat -d 10 --holdout 0.1 -o runs/ml      batch VI
  lehr fit pmf ratings.csv -d 20 --user who --item what --rating stars
  lehr fit pmf jokes.csv -d 5 --matrix --missing 99 --drop 1   one row a user
  lehr fit pmf ratings.dat -d 10 --effective 50t -o runs/b     annealed
  lehr fit pmf views.csv -d 50 --implicit -o runs/v            for lists
  lehr fit pmf ratings.dat -d 10 --preset paper -o runs/p      the paper's model
  lehr recommend runs/ml --user 42 --titles movies.dat";

impl Served for Pmf {
    const ABOUT: &'static [About] = &[About {
        model: "pmf",
        title: "Probabilistic matrix factorisation: ratings that users gave to items",
        data: "The ratings: one a line with user, item and rating, as in MovieLens' ratings.dat and u.data, \
               CSV or TSV (also .gz), or Parquet; or, with --matrix, a row for each user and a column for each \
               item, also as .npy",
        examples: EXAMPLES,
        required: ("dims", "how many latent dimensions? Give -d D, e.g. -d 10"),
        usual: &["dims", "user", "item", "rating"],
        implied: &[],
        presets: &[("paper", || Ok((Table::try_from(PmfParams::paper(1))?, PAPER_FIT.parse()?)))],
    }];
    const ITEM: &'static str = "rating";

    fn options(
        flags: &DataArgs,
        config: &RunConfig<Self>,
        _path: &Path,
    ) -> anyhow::Result<RatingsOptions> {
        flags.over(&config.model, config.data.options.clone())
    }

    fn eval(run: &OpenRun<Self>, new: &NewData<Self>, args: &EvalArgs) -> anyhow::Result<()> {
        eval::run(run, &new.data, args)
    }

    fn transform(
        run: &OpenRun<Self>,
        new: &NewData<Self>,
        output: &TableFile<'_>,
    ) -> anyhow::Result<String> {
        fold::write(run, &new.data, output)
    }

    fn summary(result: &RunResult) -> Vec<String> {
        let measures = &result.measures;
        let mut lines = Vec::new();
        if let Some(scores) = scores(measures, result.heldout) {
            lines.push(format!("held out: {scores}"));
        }
        if let Some(coverage) = coverage(measures) {
            lines.push(format!("          {coverage}"));
        }
        if let Some(noise) = measures.get("noise_variance") {
            let dims = measures.get("dims_in_use").map_or(String::new(), |&dims| {
                format!("; {} in use", counted(dims as u64, "latent dimension"))
            });
            lines.push(format!("sigma^2 {}{dims}", rounded(*noise, 4)));
        }
        if result.guard_hits > 0 {
            lines.push(format!("the guard acted {}", counted(result.guard_hits, "time")));
        }
        lines
    }

    fn title(run: &OpenRun<Self>) -> String {
        let params = &run.config.params;
        let mut text = format!(
            "pmf with {}, prior variance {}",
            counted(params.dims as u64, "dimension"),
            rounded(run.model.prior_variance(), 4)
        );
        for (is, what) in [
            (params.implicit, "implicit feedback"),
            (params.ard, "learned for each dimension"),
            (params.biases, "biases"),
            (params.centre && !params.implicit, "centred"),
            (params.exact, "exact sums"),
        ] {
            if is {
                text += &format!(", {what}");
            }
        }
        text
    }

    fn data_size(run: &OpenRun<Self>) -> String {
        let config = &run.config;
        let ratings = config.data.items;
        let held_out = match config.fit.holdout.count(ratings) {
            0 => String::new(),
            n => format!(", {n} of them held out"),
        };
        let (users, items) = (config.frozen.users as u64, config.frozen.items as u64);
        format!(
            "{}{held_out}, {}, {}",
            counted(ratings as u64, "rating"),
            counted(users, "user"),
            counted(items, "item")
        )
    }

    fn state(run: &OpenRun<Self>, last: Option<&Observation>) -> String {
        let mut text = String::new();
        if let Some(last) = last {
            if let Some(scores) = scores(&last.measures, last.heldout) {
                text += &format!("held out  {scores}\n");
            }
            if let Some(coverage) = coverage(&last.measures) {
                text += &format!("          {coverage}\n");
            }
        }
        let state = run.saved.model_state();
        let noise = run.model.noise_variance(&state.lambda);
        let learned = if run.config.params.learn_noise { " (learned)" } else { "" };
        text += &format!(
            "noise     sigma^2 {}{learned}: ratings scatter by {} around what the model expects\n",
            rounded(noise, 4),
            rounded(noise.sqrt(), 3)
        );
        if state.guard_hits > 0 {
            text += &format!("guard     acted {}\n", counted(state.guard_hits, "time"));
        }
        let used = run.model.dims_in_use(&state.lambda);
        text + &format!("dims      {used} of {} in use\n", run.config.params.dims)
    }

    fn listing(run: &OpenRun<Self>, top: Option<usize>) -> String {
        let mut text = dimensions(run);
        if let Some(loved) = loved(run, top.unwrap_or(SHOWN_ITEMS)) {
            let rows: Vec<Vec<String>> = loved
                .iter()
                .map(|item| {
                    let id = cut(&in_line(&item.item), LONGEST_ID);
                    vec![id, format!("{:+.3}", item.bias), item.ratings.to_string()]
                })
                .collect();
            text += "\nmost loved items\n";
            text += &table(&["item", "bias", "ratings"], &rows);
        }
        text
    }

    fn charts(observations: &[&Observation]) -> Vec<(&'static str, TermSeries)> {
        let points = observations.iter().map(|o| (o.step as f64, o.bound));
        let mut charts = vec![("bound against steps", TermSeries::new("bound", points))];
        let rmse: Vec<_> = observations
            .iter()
            .filter_map(|o| Some((o.step as f64, *o.measures.get("rmse")?)))
            .collect();
        if rmse.len() > 1 {
            charts.push(("held-out RMSE against steps", TermSeries::new("RMSE", rmse)));
        }
        charts
    }

    fn given(run: &Run<Self>, args: &BesideArgs) -> anyhow::Result<Self::Given> {
        report::given(run, args)
    }

    fn show_json(run: &OpenRun<Self>, observations: &[&Observation]) -> anyhow::Result<()> {
        let state = run.saved.model_state();
        let frozen = &run.config.frozen;
        text::print_json(&Summary {
            head: Head::of(run, observations),
            users: frozen.users,
            items: frozen.items,
            ratings: frozen.ratings,
            dims: run.config.params.dims,
            dims_in_use: run.model.dims_in_use(&state.lambda),
            noise_variance: run.model.noise_variance(&state.lambda),
            item_variances: run.model.item_variances(&state.lambda),
            loved: loved(run, SHOWN_ITEMS),
        })
    }
}

/// The prior variances of the latent dimensions, the largest first.
fn dimensions(run: &OpenRun<Pmf>) -> String {
    let mut variances = run.model.item_variances(&run.saved.model_state().lambda).to_vec();
    variances.sort_by(|a, b| b.total_cmp(a));
    let largest = variances.first().copied().unwrap_or(1.0);
    let mut text = "prior variances of the items' latent dimensions\n".to_string();
    for variance in variances.iter().take(SHOWN_DIMS) {
        let bar = histogram_bar(*variance, largest, BAR);
        text += format!("{:>10}  {bar}", rounded(*variance, 3)).trim_end();
        text += "\n";
    }
    if variances.len() > SHOWN_DIMS {
        let rest = counted((variances.len() - SHOWN_DIMS) as u64, "smaller one");
        text += &format!("and {rest}; --json has all\n");
    }
    text
}

/// The items with the highest biases, if there are biases.
fn loved(run: &OpenRun<Pmf>, top: usize) -> Option<Vec<Loved>> {
    let biases = run.model.biases(&run.saved.model_state().lambda, Side::Item)?;
    let mut ratings = vec![0; biases.len()];
    for user in 0..run.config.frozen.users as u32 {
        run.model.seen(user).iter().for_each(|&item| ratings[item as usize] += 1);
    }
    let mut order: Vec<usize> = (0..biases.len()).collect();
    order.sort_by(|&a, &b| biases[b].total_cmp(&biases[a]));
    let loved = |&item: &usize| Loved {
        item: run.model.ids(Side::Item).get(item).to_string(),
        bias: biases[item],
        ratings: ratings[item],
    };
    Some(order.iter().take(top).map(loved).collect())
}

type Measures = BTreeMap<String, f64>;

/// The held-out scores, if there are any, in one line.
fn scores(measures: &Measures, log_density: Option<f64>) -> Option<String> {
    if let (Some(ndcg), Some(recall)) = (measures.get("ndcg_10"), measures.get("recall_20")) {
        return Some(format!(
            "lists: NDCG@10 {}, recall@20 {}",
            rounded(*ndcg, 4),
            rounded(*recall, 4)
        ));
    }
    let (rmse, mae) = (measures.get("rmse")?, measures.get("mae")?);
    let mut text = format!("RMSE {}, MAE {}", rounded(*rmse, 5), rounded(*mae, 5));
    if let Some(log_density) = log_density {
        text += &format!(", log density {} per rating", rounded(log_density, 5));
    }
    Some(text)
}

/// How often the intervals hold, if that is known, in one line.
fn coverage(measures: &Measures) -> Option<String> {
    let share = |name| measures.get(name).copied();
    let shares = [share("coverage_50")?, share("coverage_80")?, share("coverage_95")?];
    Some(intervals(shares))
}

/// The shares of ratings inside the 50, 80 and 95 % intervals.
fn intervals(shares: [f64; 3]) -> String {
    let [half, most, nearly_all] = shares.map(|share| format!("{:.1}", 100.0 * share));
    format!("inside the 50, 80 and 95 % intervals: {half}, {most} and {nearly_all} %")
}
