//! `lehr show`: what a person wants to know about a run.

use lehr::fit::Observation;
use lehr::fit::Progress;
use lehr::store::{RunDirectory, Saved};
use lehr_plot::first_drawn;
use lehr_plot::terminal::chart;

use super::End;
use crate::args::ShowArgs;
use crate::look;
use crate::models::{OpenRun, Served, with_model};
use crate::text::{self, counted, number, quoted, seconds};

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
    let observations: Vec<&Observation> = trace.iter().filter(|o| o.restart == shown).collect();
    if args.json {
        M::show_json(run, &observations)?;
        return Ok(End::Done);
    }
    let mut out = heading(run);
    out += &format!("\n{}\n", ending(run, &observations));
    out += &M::listing(run, args.top);
    if observations.len() > 1 {
        for (title, mut series) in M::charts(&observations) {
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
    let (fit, method) = (&config.fit, lehr_report::method(&config.fit));
    text + &format!(
        "method    {method}, seed {}, lehr {}, {} kernels\n",
        fit.seed, config.lehr, config.cpu.kernels
    )
}

fn ending<M: Served>(run: &OpenRun<M>, observations: &[&Observation]) -> String {
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
    if let Some(last) = observations.last() {
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
    if let (Some(search), Some(last)) = (run.saved.search(), observations.last()) {
        let best = run.saved.outcomes().iter().find(|o| o.search.as_ref() == Some(search));
        let bound = best.map_or(last.bound, |outcome| outcome.bound);
        text += &(text::search_lines(search, bound).join("\n") + "\n");
    }
    text + &M::state(run, observations.last().copied())
}
