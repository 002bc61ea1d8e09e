//! `lehr show`: what a person wants to know about a run.

use lehr::fit::Observation;
use lehr::fit::Progress;
use lehr::store::{RunDirectory, Saved};
use lehr_plot::terminal::chart;

use super::End;
use crate::args::ShowArgs;
use crate::look;
use crate::models::{OpenRun, Served, with_model};
use crate::text::{self, counted, name, number, quoted, seconds};

/// Shows the run.
pub fn run(args: ShowArgs) -> anyhow::Result<End> {
    if lehr::sweep::is_sweep(&args.run) {
        return super::sweep::show(&args.run, args.json);
    }
    let directory = RunDirectory::open(&args.run)?;
    with_model!(&directory, M => show(&OpenRun::<M>::open(directory)?, &args))
}

fn show<M: Served>(run: &OpenRun<M>, args: &ShowArgs) -> anyhow::Result<End> {
    let trace = run.directory.trace()?;
    let shown = shown_restart(&run.saved);
    let climb: Vec<&Observation> = trace.iter().filter(|o| o.restart == shown).collect();
    if args.json {
        M::show_json(run, &climb)?;
        return Ok(End::Done);
    }
    let mut out = heading(run);
    out += &format!("\n{}\n", ending(run, &climb));
    out += &M::listing(run, args.top);
    if climb.len() > 1 {
        for (title, mut series) in M::charts(&climb) {
            let from = first_drawn(&series.points);
            let from_step = match series.points.get(from) {
                Some((step, _)) if from > 0 => format!(" (from step {step})"),
                _ => String::new(),
            };
            series.points.drain(..from);
            let chart = chart(&[series], look::width().min(78), 12, look::colours_on_stdout());
            out += &format!("\n{title}{from_step}\n{chart}");
        }
    }
    text::print(&out)?;
    Ok(End::Done)
}

/// The first point of a climb that is drawn: the first steps reach so far below that what comes later would be a flat
/// line beside them.
fn first_drawn(points: &[(f64, f64)]) -> usize {
    /// How many times as high as its second half a chart may be.
    const HEIGHT: f64 = 10.0;
    let Some(last) = points.last() else { return 0 };
    let (most, late) = (points.len() / 3, points[points.len() / 2..].iter());
    let late = late.map(|point| (last.1 - point.1).abs()).fold(0.0, f64::max);
    let is_far = |point: &(f64, f64)| (last.1 - point.1).abs() > HEIGHT * late;
    points[..most].iter().take_while(|point| is_far(point)).count()
}

/// The restart whose lambda is the model.
fn shown_restart(saved: &Saved) -> u32 {
    match saved {
        Saved::Complete(_, best, outcomes) => outcomes[*best].restart,
        Saved::Pending(progress) => match &progress.best {
            Some((best, _)) => progress.done[*best].restart,
            None => progress.restart,
        },
    }
}

fn heading<M: Served>(run: &OpenRun<M>) -> String {
    let config = &run.config;
    let mut text = format!("{}: {}\n", run.directory.path().display(), M::title(run));
    let data = config.data.path.as_ref().map_or("in memory".into(), |p| p.display().to_string());
    text += &format!("data      {data} ({})\n", M::data_size(run));
    if let Some(parent) = &config.parent {
        text += &format!("went on   from {}\n", parent.display());
    }
    let fit = &config.fit;
    let search = fit.search.filter(|&times| times > 0.0);
    let search = search.map_or(String::new(), |times| format!(", search {}", number(times)));
    let method = match (fit.batch, fit.effective.to_string().as_str()) {
        (None, "off" | "auto") => "batch VI".to_string(),
        (None, m) => format!("annealed batch VI, M = {m}, {} noise", name(&fit.law)),
        (Some(s), "off" | "auto") => format!("SVI, |S| = {s}"),
        (Some(s), m) => format!("SVI+, |S| = {s}, M = {m}, {} noise", name(&fit.law)),
    };
    text + &format!(
        "method    {method}{search}, seed {}, lehr {}, {} kernels\n",
        fit.seed, config.lehr, config.cpu.kernels
    )
}

fn ending<M: Served>(run: &OpenRun<M>, climb: &[&Observation]) -> String {
    let state = run.saved.model_state();
    let time = seconds(state.seconds);
    let mut text = match &run.saved {
        Saved::Complete(_, best, outcomes) => {
            let outcome = &outcomes[*best];
            let steps = counted(outcome.steps, "step");
            format!("ended     {}, after {steps} and {time}\n", outcome.stop)
        }
        Saved::Pending(Progress { restart, state, .. }) => {
            let (n_init, step) = (run.config.fit.n_init, counted(state.step, "step"));
            let start = match n_init {
                1 => String::new(),
                _ => format!("start {} of {n_init}, ", restart + 1),
            };
            let path = quoted(run.directory.path());
            format!("not done  {start}{step} made; continue with: lehr resume {path}\n")
        }
    };
    if let Some(last) = climb.last() {
        let sample = last
            .bound_sample
            .map_or(String::new(), |n| format!(" (estimated from {})", counted(n as u64, M::ITEM)));
        text += &format!("bound     {}{sample}\n", number(last.bound));
    }
    let outcomes = run.saved.outcomes();
    if run.config.fit.n_init > 1 && !outcomes.is_empty() {
        let bounds: Vec<String> = outcomes.iter().map(|o| number(o.bound)).collect();
        text += &format!(
            "starts    {} of {} ended; bounds {}\n",
            outcomes.len(),
            run.config.fit.n_init,
            bounds.join(", ")
        );
    }
    if let (Some(search), Some(last)) = (run.saved.search(), climb.last()) {
        let best = run.saved.outcomes().iter().find(|o| o.search.as_ref() == Some(search));
        let bound = best.map_or(last.bound, |outcome| outcome.bound);
        text += &(text::search_lines(search, bound).join("\n") + "\n");
    }
    text + &M::state(run, climb.last().copied())
}

#[cfg(test)]
mod tests {
    use super::first_drawn;

    #[test]
    fn first_steps_that_would_fill_the_axis_are_left_out() {
        let climb = |bounds: &[f64]| -> Vec<(f64, f64)> {
            bounds.iter().enumerate().map(|(step, &bound)| (step as f64, bound)).collect()
        };
        let steep = [-1e6, -5e4, -110.0, -104.0, -103.0, -102.0, -101.5, -101.0, -100.5];
        assert_eq!(first_drawn(&climb(&steep)), 2);
        let even: Vec<f64> = (0..30).map(|step| f64::from(step) - 100.0).collect();
        assert_eq!(first_drawn(&climb(&even)), 0);
        // Never more than a third, however flat the rest is.
        assert_eq!(first_drawn(&climb(&[-9.0, -8.0, -7.0, -1.0, -1.0, -1.0])), 2);
        assert_eq!((first_drawn(&[]), first_drawn(&climb(&[-1.0, -1.0]))), (0, 0));
    }
}
