//! `lehr plot`: one picture of a run, as a file.

use anyhow::{Context, bail};

use lehr::store::{Run, RunDirectory};
use lehr::write;
use lehr_plot::{Figure, Panel};
use lehr_report::Chart;

use super::End;
use super::report::{Shown, check_apart, name_of};
use crate::args::{PictureFormat, PlotArgs, What};
use crate::models::{Served, with_model};
use crate::output::{check, check_readable, say};
use crate::text;

/// Draws the picture.
pub fn run(mut args: PlotArgs) -> anyhow::Result<End> {
    args.beside.set_columns();
    check(&args.output, args.force)?;
    let format = format_of(&args)?;
    if format == PictureFormat::Png {
        check_readable(&args.output, "a picture")?;
    }
    check_apart(&args.output, &args.beside)?;
    let figure = match Shown::of(&args.runs, &args.beside)? {
        Shown::One(directory) => with_model!(&directory, M => picture_of::<M>(&directory, &args)?),
        Shown::Several(several) => {
            let charts: Vec<Chart> = several.charts().cloned().collect();
            of_several(&charts, &args)?
        }
    };
    let bytes = match format {
        PictureFormat::Png => figure.to_png().context("the picture cannot be drawn as PNG")?,
        PictureFormat::Svg => figure.to_svg().into_bytes(),
    };
    write::whole(&args.output, &bytes)?;
    let size = text::bytes(bytes.len() as u64);
    say(&args.output, &format!("{}: {size}\n", args.output.display()))?;
    Ok(End::Done)
}

fn format_of(args: &PlotArgs) -> anyhow::Result<PictureFormat> {
    let extension = args.output.extension().map(|end| end.to_string_lossy().to_lowercase());
    match (args.output_format, extension.as_deref()) {
        (Some(format), _) => Ok(format),
        (None, Some("png")) => Ok(PictureFormat::Png),
        (None, Some("svg")) => Ok(PictureFormat::Svg),
        _ => bail!(
            "{}: pictures are .png or .svg; name the file so, or give --output-format",
            args.output.display()
        ),
    }
}

fn picture_of<M: Served>(directory: &RunDirectory, args: &PlotArgs) -> anyhow::Result<Figure> {
    let path = directory.path();
    let run = Run::<M>::load(path)?;
    if let Some(warning) = &run.warning {
        eprintln!("{}", text::for_stderr(&format!("warning: {warning}")));
    }
    let bounds = lehr_report::bounds(&run);
    // What is drawn of the trace alone needs no data and no reading.
    let charts = match args.what {
        What::Bound | What::HeldOut => bounds,
        _ => lehr_report::pictures(&run, &M::given(&run, &args.beside)?)?,
    };
    let found = charts.iter().find(|chart| chart.id == args.what.chart());
    let Some(chart) = found else {
        bail!("{}: {}", path.display(), missing(args, &run.config.model, &charts));
    };
    let against = (chart.views.len() > 1).then(|| args.against.view());
    let figure = chart.figure(against).context("the picture has no such axis")?;
    let title = format!("{}: {}", name_of(path), figure.title);
    Ok(Figure { title, ..figure.clone() })
}

/// Why there is no such picture of a run.
fn missing(args: &PlotArgs, model: &str, charts: &[Chart]) -> String {
    let what = args.what.name();
    match args.what {
        What::Bound => "there are no two values of the bound to draw a line through".into(),
        What::HeldOut => "nothing was held out while it was fitted; --holdout 0.1 would".into(),
        What::Groups if charts.iter().any(|chart| chart.id == "topics") => {
            "groups are those of documents; give --data FILE --by COLUMN".into()
        }
        What::Calibration | What::Errors if charts.iter().any(|chart| chart.id == "relevance") => {
            "there are no ratings to test on; give some with --data FILE".into()
        }
        What::Biases if charts.iter().any(|chart| chart.id == "relevance") => {
            "the model has no biases".into()
        }
        What::Clusters | What::Profile if charts.iter().any(|chart| chart.id == "sizes") => {
            format!("a run of {model} with one column has no {what}; try --what sizes")
        }
        _ => {
            let all = [
                What::Topics,
                What::Clusters,
                What::Sizes,
                What::Map,
                What::Groups,
                What::Profile,
                What::Relevance,
                What::Calibration,
                What::Errors,
                What::Biases,
            ];
            let there =
                all.into_iter().filter(|w| charts.iter().any(|chart| chart.id == w.chart()));
            let there: Vec<String> = there.map(What::name).collect();
            format!("a run of {model} has no {what}; it has bound, held-out, {}", there.join(", "))
        }
    }
}

/// A picture of several runs, or of a sweep.
fn of_several(charts: &[Chart], args: &PlotArgs) -> anyhow::Result<Figure> {
    if !matches!(args.what, What::Bound | What::HeldOut) {
        let what = args.what.name();
        bail!("several runs and sweeps have bound and held-out; {what} is of one run");
    }
    let wanted = |chart: &&Chart| chart.id.ends_with(args.what.chart());
    let found: Vec<&Figure> =
        charts.iter().filter(wanted).filter_map(|chart| chart.figure(None)).collect();
    let figure = match found.as_slice() {
        [] => bail!("nothing was held out in these fits; --what bound draws their bounds"),
        [one] => (*one).clone(),
        // Every panel has its own title, and the picture none.
        [first, ..] => {
            let panels = found.iter().flat_map(|figure| {
                let title = &figure.title;
                figure.panels.iter().map(|panel| Panel { title: title.clone(), ..panel.clone() })
            });
            let panels = panels.collect();
            return Ok(Figure { panels, plot_size: first.plot_size, ..Figure::default() });
        }
    };
    let title = match args.runs.as_slice() {
        [one] => format!("{}: {}", name_of(one), figure.title),
        _ => figure.title.clone(),
    };
    Ok(Figure { title, ..figure })
}
