//! What a person sees while a fit runs, and how they stop it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use lehr::run::fit::{Progress, State, Watcher};
use lehr::run::trace::Observation;

use crate::text::number;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ctrl-C (or a termination signal) asks for a stop after the current step; a second one means now.
fn catch_interrupts() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // Without a handler Ctrl-C simply ends the program, which the checkpoints survive.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            eprintln!("\nstopping after this step; press Ctrl-C again to stop at once");
        });
    });
}

/// A progress bar on stderr; silent when that is not a terminal, or on demand.
pub struct Bar {
    bar: ProgressBar,
    steps: u64,
    n_init: u32,
    first_step: Option<u64>,
}

impl Bar {
    /// A bar for `n_init` climbs of `steps` steps.
    pub fn new(steps: u64, n_init: u32, quiet: bool) -> Self {
        catch_interrupts();
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let style = "{prefix}{bar:24.cyan/dim} {pos}/{len}  {msg}  {eta} left";
        bar.set_style(ProgressStyle::with_template(style).expect("a valid template"));
        Bar { bar, steps, n_init, first_step: None }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Bar {
    fn observe(&mut self, o: &Observation) -> lehr::Result<()> {
        if self.n_init > 1 {
            self.bar.set_prefix(format!("start {}/{}  ", o.restart + 1, self.n_init));
        }
        let mut message = format!("bound {}  rho {}", number(o.bound), number(o.rho));
        if (o.effective as usize) < o.batch {
            message.push_str(&format!("  M {}", number(o.effective.round())));
        }
        if let Some(heldout) = o.heldout {
            message.push_str(&format!("  held out {}", number(heldout)));
        }
        if o.guard_hits > 0 {
            message.push_str(&format!("  guard {}", o.guard_hits));
        }
        self.bar.set_message(message);
        Ok(())
    }

    fn after_step(&mut self, state: &State, _: &dyn Fn() -> Progress) -> lehr::Result<()> {
        // A resumed run starts in the middle: what was done before says nothing about the time left.
        if *self.first_step.get_or_insert(state.step) == state.step {
            self.bar.set_length(self.steps);
            self.bar.reset_eta();
        }
        self.bar.set_position(state.step);
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }
}
