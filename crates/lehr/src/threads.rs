//! How many threads do the work, and where they come from.

use crate::{Error, Result};

/// More threads than this for each core only wait for each other, and take their time to start.
const PER_CORE: usize = 4;

/// This many are fine on any machine.
const ALWAYS: usize = 16;

/// How many threads there will be where this many are asked for: 0 is one for each core, and there are never many more
/// than cores. Results do not depend on it.
pub fn number(asked: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    match asked {
        0 => cores,
        asked => asked.min(ALWAYS.max(PER_CORE * cores)),
    }
}

/// Does `work` on the threads that it is called on, if they are a pool's, else on this many of its own: rayon's global
/// pool has as many as there are cores, whatever was asked for, and none of them after a fork.
pub(crate) fn own<T: Send>(asked: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if rayon::current_thread_index().is_some() {
        return work();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number(asked)).build();
    let wrong = |error| Error::config("threads", asked, format!("{error}; try fewer"));
    pool.map_err(wrong)?.install(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_the_threads_that_it_asks_for_or_those_around_it() {
        let count = || Ok(rayon::current_num_threads());
        assert_eq!(own(3, count).unwrap(), 3);
        assert_eq!(own(2, || own(3, count)).unwrap(), 2);
    }

    #[test]
    fn what_is_asked_for_is_there_within_reason() {
        assert_eq!([1, 3, ALWAYS].map(number), [1, 3, ALWAYS]);
        assert!(number(0) >= 1 && number(0) <= number(usize::MAX));
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        assert_eq!(number(1_000_000), ALWAYS.max(PER_CORE * cores));
    }
}
