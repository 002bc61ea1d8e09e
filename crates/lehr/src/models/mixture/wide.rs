//! What a fit of a mixture will cost, known before anything large is allocated: wide tables are refused where they
//! cannot work, with what to try instead.

use super::params::{Covariance, Factorisation, MixtureParams, Weights};
use super::shape::Shape;
use crate::error::{Advice, advice, setting};
use crate::math::kernels::{TILE, pad_features, pad_to_lanes};
use crate::memory::{in_words, lacking};
use crate::model::{Layout, SHARD, Sharding};
use crate::{Error, Result};

/// Multiplications per second of one thread with matrices that fit into a cache, as measured with 500 and 1000
/// columns.
const MATRIX_RATE: f64 = 2.5e9;

/// The same with larger ones, which come from memory again and again; with 2500 columns.
const LARGE_MATRIX_RATE: f64 = 0.8e9;

/// Numbers of a matrix that fit into a cache: 8 MB.
const IN_CACHE: u64 = 1 << 20;

/// The same of the items' local steps.
const ITEM_RATE: f64 = 2.0e9;

/// A step that takes longer than this many seconds is refused.
const LONGEST: f64 = 600.0;

/// A step that takes longer than this many is announced.
const LONG: f64 = 10.0;

/// The size of a fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// Items of a step.
    pub batch: usize,
    pub components: usize,
    pub dims: usize,
    pub covariance: Covariance,
    pub sticks: bool,
    pub joint: bool,
    pub threads: usize,
}

/// What a fit needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// Numbers of 8 bytes, at the most at once, the data not counted.
    pub numbers: u64,
    /// Multiplications of a step with the components' matrices.
    pub of_matrices: f64,
    /// Multiplications of a step with items.
    pub of_items: f64,
    /// Seconds of a step on this many threads.
    pub seconds: f64,
}

impl Size {
    /// Whether a covariance is a whole matrix.
    fn is_matrix(&self) -> bool {
        matches!(self.covariance, Covariance::Full | Covariance::Tied)
    }

    fn of(
        params: &MixtureParams,
        n_items: usize,
        dims: usize,
        batch: Option<usize>,
        threads: usize,
    ) -> Self {
        Size {
            batch: batch.unwrap_or(n_items).min(n_items),
            components: params.components,
            dims,
            covariance: params.covariance,
            sticks: params.weights == Weights::Sticks,
            joint: params.factorisation == Factorisation::NormalWishart,
            threads,
        }
    }

    pub(super) fn cost(&self) -> Cost {
        let Size { batch, components, dims, covariance, sticks, joint, threads } = *self;
        let (k, d) = (components as u128, dims as u128);
        let shape = Shape::new(covariance, dims);
        let (packed, of_means) = (shape.scatter().len() as u128, shape.of_means().len() as u128);
        // Tied components have one matrix for all of them.
        let (tied, matrices) = (shape.is_tied(), if shape.is_tied() { 1 } else { k });
        let width = k * (1 + u128::from(sticks) + d + if joint { 1 } else { of_means })
            + matrices * (1 + packed);
        let raw = k * (1 + d) + matrices * packed;
        let sharding = Sharding::for_dense(&Layout::one_phase(
            1,
            0,
            usize::try_from(raw).unwrap_or(usize::MAX),
        ));
        let shards = batch.div_ceil(SHARD).max(1);
        // Lambda, a copy of it to go back to, statistics, expectations, and those of the shards of a wave.
        let held = 2 * width + 2 * raw + shards.min(sharding.wave) as u128 * raw;
        // A thread has sums for both kinds of tiles, and the matrices of a component.
        let padded = pad_to_lanes(components) as u128;
        let features = 1 + d + if tied { 0 } else { packed };
        let of_thread = features * padded
            + k * pad_features(features as usize) as u128
            + (d + 2 * padded) * TILE as u128
            + (if tied { 8 } else { 6 }) * packed;
        // The prior, with its text; a checkpoint has lambda, and covariances row by row.
        let dense = if self.is_matrix() { d * d } else { packed };
        let fixed = 14 * packed + 2 * k * dense;
        let numbers = held + fixed + threads as u128 * of_thread;
        let numbers = u64::try_from(numbers).unwrap_or(u64::MAX);
        // In sixths of d^3: a factor, an inverse and a product with itself are 1 each. Joint: 2 for the expectations,
        // 2 for the test of the domain, 3 for the bound. Independent: 6, 21 with the two updates, 8.
        let sixths = if joint { 7.0 } else { 35.0 };
        let cube = if self.is_matrix() { (d as f64).powi(3) / 6.0 } else { d as f64 };
        let of_matrices = if joint { matrices } else { k } as f64 * sixths * cube;
        let of_item = if tied { 2 * packed + 3 * k * d } else { k * (2 * packed + d) };
        let of_items = batch as f64 * of_item as f64;
        let share = |parts: usize| threads.min(parts).max(1) as f64;
        let rate = if packed <= IN_CACHE as u128 { MATRIX_RATE } else { LARGE_MATRIX_RATE };
        let seconds = of_matrices / rate / share(components) + of_items / ITEM_RATE / share(shards);
        Cost { numbers, of_matrices, of_items, seconds }
    }
}

/// Refuses a fit that needs more memory than `available` bytes or whose steps would take too long, and says what
/// is worth knowing of one that will take its time.
pub(super) fn foresee(
    params: &MixtureParams,
    (n_items, dims): (usize, usize),
    batch: Option<usize>,
    threads: usize,
    available: u64,
) -> Result<Option<Advice>> {
    if params.components > n_items || n_items < 2 {
        return Ok(None); // such a mixture is refused for that
    }
    let size = Size::of(params, n_items, dims, batch, threads);
    let cost = size.cost();
    let bytes = cost.numbers.saturating_mul(8);
    let step = if batch.is_some_and(|batch| batch < n_items) { "step" } else { "sweep" };
    let shape = params.covariance;
    let components = if size.components == 1 { "component" } else { "components" };
    let what = format!("{shape} covariances of {dims} columns, {} {components}", size.components);
    let instead = |begin: String| match size.is_matrix() && dims > 1 {
        true => advice![
            begin,
            setting("covariance").to(Covariance::Diagonal),
            ", fewer columns with ",
            setting("columns"),
            ", or fewer ",
            setting("components"),
        ],
        false => advice![
            begin,
            "fewer columns with ",
            setting("columns"),
            ", or fewer ",
            setting("components")
        ],
    };
    if bytes > available {
        let lacking = lacking(bytes, available);
        return Err(Error::memory(instead(format!("{what}: a fit {lacking}; try "))));
    }
    if cost.seconds > LONGEST {
        let minutes = cost.seconds / 60.0;
        return Err(Error::data(instead(format!(
            "{what}: a {step} would take about {minutes:.0} minutes on {threads} threads, and at most {:.0} are \
             allowed; try ",
            LONGEST / 60.0
        ))));
    }
    if cost.seconds > LONG {
        let (need, seconds) = (in_words(bytes), cost.seconds);
        return Ok(Some(instead(format!(
            "{what}: about {need} of memory and {seconds:.0} s for a {step}; faster: "
        ))));
    }
    if size.is_matrix() && n_items < dims {
        return Ok(Some(advice![
            format!(
                "{n_items} rows are fewer than the {dims} columns, so that {shape} covariances are mostly the prior's; \
                 consider "
            ),
            setting("covariance").to(Covariance::Diagonal),
        ]));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn params(components: usize, covariance: Covariance) -> MixtureParams {
        MixtureParams { covariance, ..MixtureParams::gmm(components) }
    }

    #[test]
    fn the_cost_counts_what_there_is() {
        let size = Size {
            batch: 1000,
            components: 3,
            dims: 4,
            covariance: Covariance::Full,
            sticks: false,
            joint: true,
            threads: 2,
        };
        // 10 numbers of a matrix, 15 statistics, 17 natural parameters; 2 shards.
        let held = 3 * (2 * 17 + 2 * 15 + 2 * 15);
        let of_thread = 15 * 8 + 3 * 24 + (4 + 16) * 64 + 60;
        let cost = size.cost();
        assert_eq!(cost.numbers, held + 140 + 96 + 2 * of_thread);
        assert_eq!(cost.of_matrices, 3.0 * 7.0 * 64.0 / 6.0);
        assert_eq!(cost.of_items, 1000.0 * 3.0 * 24.0);
        let independent = Size { joint: false, ..size }.cost();
        assert_eq!(independent.of_matrices, 5.0 * cost.of_matrices);
        assert_eq!(independent.numbers, cost.numbers + 2 * 3 * 9);
        // Diagonal: everything is linear in the columns.
        let narrow = Size { covariance: Covariance::Diagonal, ..size };
        let wide = Size { dims: 4000, ..narrow };
        assert!((wide.cost().of_items / narrow.cost().of_items - 1000.0).abs() < 1e-9);
        assert!(wide.cost().numbers < 1100 * narrow.cost().numbers);
        // Tied: one matrix, whatever the number of components.
        let tied = Size { covariance: Covariance::Tied, ..size };
        assert!((3.0 * tied.cost().of_matrices / cost.of_matrices - 1.0).abs() < 1e-12);
        assert!(tied.cost().of_items < cost.of_items && tied.cost().numbers < cost.numbers);
        // Twice the threads halve the time if there are components and shards enough, and else not.
        let many = Size { threads: 4, batch: 100_000, components: 8, ..size };
        let half = Size { threads: 2, ..many };
        assert!((half.cost().seconds / many.cost().seconds - 2.0).abs() < 1e-12);
        let alone = Size { components: 1, batch: 10, ..many };
        let one = Size { threads: 1, ..alone };
        assert_eq!(alone.cost().seconds, one.cost().seconds);
    }

    #[test]
    fn what_cannot_work_is_refused_with_what_to_try_and_what_takes_long_is_announced() {
        let foresee =
            |params: &MixtureParams, n, d, batch| foresee(params, (n, d), batch, 2, 8 * GB);
        let (full, diagonal) = (params(20, Covariance::Full), params(20, Covariance::Diagonal));
        let text = |found: Result<Option<Advice>>| found.unwrap_err().to_string();
        let message = text(foresee(&full, 6000, 5000, None));
        assert!(
            message.starts_with("full covariances of 5000 columns, 20 components: "),
            "{message}"
        );
        assert!(message.contains(" GB of memory, and 8.0 GB are available"), "{message}");
        let advice =
            "try `covariance = diagonal`, fewer columns with `columns`, or fewer `components`";
        assert!(message.ends_with(advice), "{message}");
        let message = text(foresee(&params(2, Covariance::Full), 50_000_000, 200, None));
        assert!(message.contains("a sweep would take about "), "{message}");
        assert!(message.contains(" minutes on 2 threads, and at most 10 are allowed"), "{message}");
        // A batch of the same items is soon done.
        assert!(foresee(&params(2, Covariance::Full), 50_000_000, 200, Some(1000)).is_ok());
        // Diagonal covariances of the same table are nothing to speak of; a million columns are.
        assert_eq!(foresee(&diagonal, 6000, 5000, None).unwrap(), None);
        let message = text(foresee(&diagonal, 6000, 10_000_000, None));
        assert!(message.starts_with("diagonal") && !message.contains("covariance ="), "{message}");

        let told =
            foresee(&params(2, Covariance::Full), 3000, 2000, None).unwrap().unwrap().to_string();
        assert!(
            told.contains(" of memory and ") && told.contains(" s for a sweep; faster: "),
            "{told}"
        );
        let told =
            foresee(&params(1, Covariance::Full), 20, 300, None).unwrap().unwrap().to_string();
        assert!(told.starts_with("20 rows are fewer than the 300 columns"), "{told}");
        assert_eq!(foresee(&params(5, Covariance::Full), 300, 20, None).unwrap(), None);
    }
}
