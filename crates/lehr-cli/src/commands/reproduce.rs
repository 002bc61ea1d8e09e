//! `lehr reproduce`: runs the paper's experiments and writes figures, tables and a page of verdicts.

use lehr_paper::{Options, Outcome, Reproduction};

use super::End;
use crate::args::ReproduceArgs;
use crate::interrupts::{begun, catch_interrupts, interrupted};
use crate::text::{self, quoted};

/// Runs the experiments that were asked for.
pub fn run(args: ReproduceArgs) -> anyhow::Result<End> {
    let ReproduceArgs { wanted, quick, data, runs, seed, threads, quiet, out } = args;
    let options = Options { quick, runs, data, seed };
    for which in &wanted.0 {
        which.check(&options)?;
    }
    for which in wanted.0 {
        let reproduction = Reproduction::new(which, &options)?;
        // Until here Ctrl-C simply ends the program: nothing is lost.
        catch_interrupts(quiet);
        // What is done is kept, experiment by experiment.
        begun();
        match reproduction.run(&out, threads, quiet, &interrupted)? {
            Outcome::Stopped { done, all } => {
                text::print(&format!(
                    "{}: stopped after {done} of {all} runs, which are kept; run the same command to continue\n",
                    which.name(),
                ))?;
                return Ok(End::StoppedEarly);
            }
            Outcome::Complete { page } if !quiet => {
                text::print(&format!("{}: done, see {}\n", which.name(), quoted(&page)))?;
            }
            Outcome::Complete { .. } => {}
        }
    }
    Ok(End::Done)
}
