//! What happens when noise would push a row of lambda out of its domain.

use crate::settings::choices;

choices! {
    /// What to do when noise would push a row of lambda out of its domain. Annealing weights can be
    /// negative, so it happens; every time is counted.
    pub enum Guard {
        /// The row takes its noiseless step. Tends to let surplus components die.
        Reject = "reject",
        /// The same, already when the row falls below its prior (in PMF: below half of it). Tends to keep
        /// components alive.
        RejectBelowPrior = "reject-below-prior",
        /// The row's statistics count as empty for this step.
        Clip = "clip",
        /// The row's step size is halved until it fits.
        Halve = "halve",
        /// Entries of the statistics that noise makes negative count as 0, the others as they are. For
        /// models whose statistics are sums of positive terms and increments of lambda as they are (LDA):
        /// the paper's reading. Over-counts
        /// what is rare.
        Clamp = "clamp",
        /// The same, after the noise of rows that few items touch is made smaller: by
        /// min(1, sqrt(n / 4v)) where n items of the batch touch the row and v is the noise variance. With
        /// the law `gaussian`; the same as `clamp` with `lagged` and `exact`, and never needed with the others.
        Shrink = "shrink",
    }
}

impl Guard {
    /// Those that look at whole rows, for any model. The first is the default.
    pub const OF_ROWS: &'static [Guard] =
        &[Guard::Reject, Guard::RejectBelowPrior, Guard::Clip, Guard::Halve];
    /// The same for models in which a row far below its prior is of no use long before it is out of its
    /// domain.
    pub const OF_ROWS_WITH_PRIORS: &'static [Guard] =
        &[Guard::RejectBelowPrior, Guard::Reject, Guard::Clip, Guard::Halve];
    /// All, for models whose statistics are sums of positive terms. The last one is of no use if the prior
    /// is learned.
    pub const OF_ENTRIES: &'static [Guard] = &[
        Guard::Shrink,
        Guard::Clamp,
        Guard::Reject,
        Guard::Clip,
        Guard::Halve,
        Guard::RejectBelowPrior,
    ];

    /// Whether the guard changes single entries, and before they are added up.
    pub fn works_on_entries(self) -> bool {
        matches!(self, Guard::Clamp | Guard::Shrink)
    }
}
