//! Gaussian and Dirichlet-process mixtures.

mod report;

use std::path::Path;

use serde::Serialize;

use lehr::data::Points;
use lehr::fit::Observation;
use lehr::model::{Model, RowSet};
use lehr::models::Stored;
use lehr::models::mixture::{Component, Covariance, Densities, Factorisation, Mixture};
use lehr::read::{self, FittedColumns, PointsOptions, TextColumn};
use lehr::step::engine::Threads;
use lehr::store::{Run, RunConfig, RunResult};
use lehr::write::Column;
use lehr_plot::terminal::{TermSeries, histogram_bar};

use super::{Head, NewData, OpenRun, Served, items, largest};
use crate::args::{About, BesideArgs, DataArgs, EvalArgs, TransformArgs};
use crate::look;
use crate::output::TableFile;
use crate::text::{self, counted, cut, name, number, rounded, table, table_width};

/// The longest name of a column.
const NAME: usize = 14;
/// Columns of the bar of a component.
const BAR: usize = 16;

#[derive(Serialize)]
struct Scores {
    items: usize,
    /// Mean log predictive density of an item.
    log_predictive: f64,
    /// Whether that is exact under q.
    log_predictive_exact: bool,
    /// The items' own part of the bound, per item.
    bound_per_item: f64,
    /// The bound with these data in place of the training data, every constant included.
    bound: f64,
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// The names of the columns, in the order of means and covariances.
    columns: &'a [String],
    /// exp of the entropy of the sizes.
    effective_clusters: f64,
    /// How many components hold at least one item in expectation.
    components_in_use: usize,
    /// How many do not, and are not listed.
    components_empty: usize,
    components: Vec<Listed<'a>>,
}

/// A component in use.
#[derive(Serialize)]
struct Listed<'a> {
    /// Its number, as `transform` has it.
    component: usize,
    weight: f64,
    /// How many items it holds, in expectation.
    size: f64,
    mean: &'a [f64],
    covariance: Matrix<'a>,
    precision: Matrix<'a>,
}

/// A matrix row by row, its diagonal, or the one variance of a sphere.
#[derive(Serialize)]
#[serde(untagged)]
enum Matrix<'a> {
    Full(Vec<&'a [f64]>),
    Diagonal(&'a [f64]),
    Spherical(f64),
}

impl<'a> Matrix<'a> {
    fn of(values: &'a [f64], d: usize, covariance: Covariance) -> Self {
        match covariance {
            Covariance::Full | Covariance::Tied => Matrix::Full(values.chunks_exact(d).collect()),
            Covariance::Diagonal => Matrix::Diagonal(values),
            Covariance::Spherical => Matrix::Spherical(values[0]),
        }
    }
}

/// What its two names have in common.
const EITHER: About = About {
    model: "",
    title: "",
    data: "The points: CSV, TSV (also .gz), .npy or Parquet; one row an item",
    examples: EXAMPLES,
    required: ("components", "how many components? Give -k K, e.g. -k 10"),
    usual: &["components", "covariance", "columns", "drop"],
    implied: &[],
    presets: &[],
};

const EXAMPLES: &str = "\
Examples:
  lehr fit gmm points.csv -k 10 -o runs/a                      batch VI
  lehr fit gmm points.csv -k 10 --batch 200 -o runs/b          SVI
  lehr fit gmm points.csv -k 10 --batch 200 --effective 50     SVI+
  lehr fit gmm points.csv -k 10 --effective geometric:10:150   annealed batch VI
  lehr fit dpgmm points.parquet -k 50 --n-init 5 --drop label -o runs/e
  lehr fit gmm survey.csv -k 4 --drop name --missing model -o runs/f";

impl Served for Mixture {
    const ABOUT: &'static [About] = &[
        About {
            model: "gmm",
            title: "Gaussian mixture with K components",
            implied: &[("weights", "dirichlet")],
            ..EITHER
        },
        About {
            model: "dpgmm",
            title: "Dirichlet-process mixture: finds the number of clusters, up to K",
            implied: &[("weights", "sticks")],
            ..EITHER
        },
    ];
    const ITEM: &'static str = "item";

    fn options(
        flags: &DataArgs,
        config: &RunConfig<Self>,
        _path: &Path,
    ) -> anyhow::Result<PointsOptions> {
        let run = PointsOptions { model: None, ..config.data.options.clone() };
        let n_dims = config.frozen.units.shift.len();
        let aside = flags.aside.clone();
        let model = Some(FittedColumns { aside, ..FittedColumns::of(&config.data, n_dims) });
        Ok(PointsOptions { model, ..flags.over(&config.model, run)? })
    }

    fn kept(
        run: &OpenRun<Self>,
        new: &NewData<Self>,
        args: &TransformArgs,
        wanted: &[(&str, &str)],
    ) -> anyhow::Result<Vec<TextColumn>> {
        kept(&run.config, &new.data, &args.data, &args.input, wanted)
    }

    fn eval(run: &OpenRun<Self>, new: &NewData<Self>, args: &EvalArgs) -> anyhow::Result<()> {
        let scores = score(run, &new.data)?;
        if !(scores.log_predictive.is_finite() && scores.bound.is_finite()) {
            anyhow::bail!(
                "{}: some rows are so far from every component that their densities overflow; look \
                 for outliers or a wrong unit",
                args.data.display()
            );
        }
        if args.json {
            return text::print_json(&scores);
        }
        let how = if scores.log_predictive_exact {
            "exact: a mixture of Student t densities"
        } else {
            "approximate: Student t densities widened by the means' uncertainty"
        };
        text::print(&format!(
            "{}\n\
             log predictive density  {} per item ({how})\n\
             bound                   {} per item, without the global part\n\
             bound                   {} in all, with every constant\n",
            items::<Self>(&new.data),
            number(scores.log_predictive),
            number(scores.bound_per_item),
            number(scores.bound)
        ))
    }

    fn transform(
        run: &OpenRun<Self>,
        new: &NewData<Self>,
        output: &TableFile<'_>,
    ) -> anyhow::Result<String> {
        let expect = expectations(run);
        let k = run.config.params.components;
        let is_kept = |name: &str| new.kept.iter().any(|column| column.name == name);
        let own = if is_kept("label") { "cluster" } else { "label" };
        let (mut responsibilities, mut labels) = (Vec::new(), Vec::new());
        output.write_blocks(new.data.n_items(), k + 1, |rows, add| {
            responsibilities.resize(rows.len() * k, 0.0);
            run.model
                .fill_responsibilities(&expect, &new.data, rows.clone(), &mut responsibilities)
                .map_err(|error| anyhow::anyhow!("{error}; look for outliers or a wrong unit"))?;
            labels.clear();
            labels.extend(responsibilities.chunks_exact(k).map(|row| largest(row) as i64));
            let mut columns: Vec<Column<'_>> = new
                .kept
                .iter()
                .map(|column| Column::text(&column.name, &column.cells[rows.clone()]))
                .collect();
            columns.push(Column::i64(own, &labels));
            columns.push(Column::matrix("responsibility", &responsibilities, k));
            Ok(add(&columns)?)
        })?;
        Ok(format!("{} labelled with {k} components", items::<Self>(&new.data)))
    }

    fn summary(result: &RunResult) -> Vec<String> {
        let heldout = result.heldout.map(|heldout| {
            format!("held-out log predictive density: {} per item", number(heldout))
        });
        let hits = result.guard_hits;
        let guard = (hits > 0).then(|| format!("the guard acted {}", counted(hits, "time")));
        heldout.into_iter().chain(guard).collect()
    }

    fn title(run: &OpenRun<Self>) -> String {
        let params = &run.config.params;
        format!(
            "{} with {}, {} covariances, {} q, {} start",
            run.config.model,
            counted(params.components as u64, "component"),
            name(&params.covariance),
            name(&params.factorisation),
            name(&params.start),
        )
    }

    fn data_size(run: &OpenRun<Self>) -> String {
        let columns = run.config.frozen.units.shift.len();
        format!("{} items, {columns} columns", run.config.data.items)
    }

    fn state(run: &OpenRun<Self>, last: Option<&Observation>) -> String {
        let mut text = String::new();
        if let Some(heldout) = last.and_then(|o| o.heldout) {
            text += &format!("held out  {} per item (log predictive density)\n", number(heldout));
        }
        let state = run.saved.model_state();
        if state.guard_hits > 0 {
            text += &format!("guard     acted {}\n", counted(state.guard_hits, "time"));
        }
        let lambda = state.lambda.table();
        text += &format!(
            "clusters  {} in use (an item or more each), {:.1} in effect (exp of the entropy of the sizes)\n",
            run.model.components_in_use(lambda).len(),
            run.model.effective_clusters(lambda)
        );
        text
    }

    fn listing(run: &OpenRun<Self>, top: Option<usize>) -> String {
        let lambda = run.saved.model_state().lambda.table();
        let in_use = run.model.components_in_use(lambda);
        component_table(run, &run.model.components(lambda), in_use, top.unwrap_or(20))
    }

    fn charts(observations: &[&Observation]) -> Vec<(&'static str, TermSeries)> {
        let points = observations.iter().map(|o| (o.step as f64, o.bound));
        vec![("bound against steps", TermSeries::new("bound", points))]
    }

    fn given(run: &Run<Self>, args: &BesideArgs) -> anyhow::Result<Self::Given> {
        report::given(run, args)
    }

    fn show_json(run: &OpenRun<Self>, observations: &[&Observation]) -> anyhow::Result<()> {
        let lambda = run.saved.model_state().lambda.table();
        let (components, in_use) =
            (run.model.components(lambda), run.model.components_in_use(lambda));
        let (d, shape) = (run.config.frozen.units.shift.len(), run.config.params.covariance);
        let listed = in_use.iter().map(|&k| {
            let Component { weight, size, mean, covariance, precision } = &components[k];
            Listed {
                component: k,
                weight: *weight,
                size: *size,
                mean,
                covariance: Matrix::of(covariance, d, shape),
                precision: Matrix::of(precision, d, shape),
            }
        });
        text::print_json(&Summary {
            head: Head::of(run, observations),
            columns: &run.config.data.columns,
            effective_clusters: run.model.effective_clusters(lambda),
            components_in_use: in_use.len(),
            components_empty: components.len() - in_use.len(),
            components: listed.collect(),
        })
    }
}

/// Columns of the data's file as they are, a cell for each item.
fn kept(
    config: &RunConfig<Mixture>,
    points: &Points,
    path: &Path,
    flags: &DataArgs,
    wanted: &[(&str, &str)],
) -> anyhow::Result<Vec<TextColumn>> {
    let options: PointsOptions = Mixture::options(flags, config, path)?;
    let mut kept = read::text_columns(path, options.header, wanted)?;
    let left_out = points.left_out();
    for column in &mut kept {
        let cells = std::mem::take(&mut column.cells).into_iter().enumerate();
        let stays = |(n, _): &(usize, String)| left_out.binary_search(n).is_err();
        column.cells = cells.filter(stays).map(|(_, cell)| cell).collect();
        if column.cells.len() != points.n_items() {
            anyhow::bail!("{}: was changed while it was read; try again", path.display());
        }
    }
    Ok(kept)
}

/// The components' expected log densities.
fn expectations(run: &OpenRun<Mixture>) -> Densities {
    let lambda = &run.saved.model_state().lambda;
    let mut expect = Densities::default();
    run.model.refresh(lambda, &RowSet::all(lambda.n_rows()), &mut expect);
    expect
}

fn score(run: &OpenRun<Mixture>, points: &Points) -> lehr::Result<Scores> {
    let lambda = &run.saved.model_state().lambda;
    let bound = lehr::fit::bound(&run.model, lambda, &mut Threads::new(&run.model, points))?;
    let expect = expectations(run);
    let weight = points.weights().map_or(points.n_items() as f64, |w| w.iter().sum());
    Ok(Scores {
        items: points.n_items(),
        log_predictive: run.model.mean_log_predictive(lambda, points),
        log_predictive_exact: run.model.params().factorisation == Factorisation::NormalWishart,
        bound_per_item: (bound - run.model.global_bound(lambda, &expect)) / weight,
        bound,
    })
}

/// The components in use, from large to small, by their numbers.
fn component_table(
    run: &OpenRun<Mixture>,
    components: &[Component],
    in_use: Vec<usize>,
    top: usize,
) -> String {
    let n_empty = components.len() - in_use.len();
    let mut order = in_use;
    order.sort_by(|&a, &b| components[b].size.total_cmp(&components[a].size));
    let d = components.first().map_or(0, |c| c.mean.len());
    let listed = &order[..top.min(order.len())];
    // A shorter bar may make room for all columns.
    let of_bar = |bar: usize| rows_of(components, listed, &run.config.data.columns, bar);
    let (header, rows) = Some(of_bar(BAR))
        .filter(|(header, _)| header.len() == 4 + d)
        .unwrap_or_else(|| of_bar(BAR / 2));
    let shown = header.len() - 4;
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut text = format!("sizes and means of the components\n{}", table(&header, &rows));
    if order.len() > top {
        let rest: f64 = order[top..].iter().map(|&k| components[k].size).sum();
        text += &format!(
            "and {} smaller ones with {rest:.1} items; --top {} shows all\n",
            order.len() - top,
            order.len()
        );
    }
    if n_empty > 0 {
        let empty = counted(n_empty as u64, "component");
        let verb = if n_empty == 1 { "is" } else { "are" };
        text += &format!("{empty} with less than one item {verb} not listed\n");
    }
    if shown < d {
        let more = counted((d - shown) as u64, "more column");
        text += &format!("and {more}; --json has every number\n");
    }
    text
}

/// The table's header and lines, with as many means as fit.
fn rows_of(
    components: &[Component],
    listed: &[usize],
    names: &[String],
    bar: usize,
) -> (Vec<String>, Vec<Vec<String>>) {
    let d = components.first().map_or(0, |c| c.mean.len());
    let largest = listed.first().map_or(1.0, |&k| components[k].size);
    let mut header: Vec<String> = ["component", "size", "weight", ""].map(String::from).into();
    let mut rows: Vec<Vec<String>> = listed
        .iter()
        .map(|&k| {
            let c = &components[k];
            let drawn = format!("{:<bar$}", histogram_bar(c.size, largest, bar));
            vec![k.to_string(), format!("{:.1}", c.size), format!("{:.4}", c.weight), drawn]
        })
        .collect();
    for column in 0..d {
        header.push(column_name(names, column));
        for (row, &k) in rows.iter_mut().zip(listed) {
            row.push(rounded(components[k].mean[column], 4));
        }
        if table_width(&header, &rows) > look::width() && column > 0 {
            header.pop();
            rows.iter_mut().for_each(|row| drop(row.pop()));
            break;
        }
    }
    (header, rows)
}

/// A column's name, cut where it is too long for a table.
fn column_name(names: &[String], at: usize) -> String {
    let name = names.get(at).cloned().unwrap_or_else(|| format!("x{}", at + 1));
    cut(&name, NAME)
}
