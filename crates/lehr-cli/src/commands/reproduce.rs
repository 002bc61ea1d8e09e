//! `lehr reproduce`: runs the paper's experiments and writes figures, tables and a page of verdicts.

use super::End;
use crate::args::{ReproduceArgs, Which};
use crate::reproduce::{self, Options, Outcome};
use crate::text::{self, quoted};

/// Runs the experiments that were asked for.
pub fn run(args: ReproduceArgs) -> anyhow::Result<End> {
    let ReproduceArgs { which, quick, data, runs, seed, threads, quiet, out } = args;
    let options = Options { quick, runs, data, seed };
    let wanted: &[Which] = if which == Which::All { &Which::EACH } else { &[which] };
    for which in wanted {
        reproduce::check(*which, &options)?;
    }
    for which in wanted {
        let experiment = reproduce::experiment(*which, &options)?;
        let outcome = reproduce::reproduce(&*experiment, &options, threads, quiet, &out)?;
        if let Outcome::Stopped { done, all } = outcome {
            text::print(&format!(
                "{}: stopped after {done} of {all} runs, which are kept; the same command goes on\n",
                which.name(),
            ))?;
            return Ok(End::StoppedEarly);
        }
        // Another one may take an hour: what is there can be read meanwhile.
        let names = Which::EACH.map(Which::name);
        let [page, _] = reproduce::write_page(&out, &names)?;
        if !quiet {
            text::print(&format!("{}: done, see {}\n", which.name(), quoted(&page)))?;
        }
    }
    Ok(End::Done)
}
