//! The figures, the theorem and the claims of the paper, run again with controls; `lehr reproduce` calls it.
//!
//! ```text
//! an experiment      what is run and why: its jobs, its figures, its claims     fig1/ ... sgd/
//! jobs -> records    one job is one run; finished ones are kept and not repeated   records.rs, pool.rs
//! records -> claims  paired differences, their standard errors, a verdict       claims.rs
//! all of it -> out/  raw tables, figures, a page in Markdown and HTML           tables.rs, page/
//! ```
//!
//! Every experiment has the same files: `data.rs` (what it is run on), `settings.rs` (what is run), `figures.rs`,
//! `claims.rs`, and what it alone needs. Every fit goes through the library's own `fit`, as a user's would.
//!
//! ```no_run
//! use lehr_paper::{Options, Outcome, Reproduction, Which};
//!
//! let options = Options { quick: true, runs: None, data: None, seed: 1 };
//! let reproduction = Reproduction::new(Which::Fig4, &options)?;
//! if let Outcome::Complete { page } = reproduction.run("out".as_ref(), 0, false, &|| false)? {
//!     println!("see {}", page.display());
//! }
//! # Ok::<(), anyhow::Error>(())
//! ```

mod which;
mod experiment;
mod reproduction;
mod data;
mod curve;
mod quench;
mod fig1;
mod fig2;
mod fig3;
mod fig4;
mod theorem;
mod dimension;
mod sgd;
mod pool;
mod records;
mod claims;
mod tables;
mod page;
#[cfg(test)]
mod fake;

pub use experiment::{Options, Stop};
pub use reproduction::{Outcome, Reproduction};
pub use which::Which;

use claims::{Claim, Condition};
use curve::observe;
use experiment::{Experiment, Picture};
use records::{Job, Point, Record, Records, X};
