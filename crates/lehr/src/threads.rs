//! How many threads do the work.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_there_within_reason() {
        assert_eq!([1, 3, ALWAYS].map(number), [1, 3, ALWAYS]);
        assert!(number(0) >= 1 && number(0) <= number(usize::MAX));
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        assert_eq!(number(1_000_000), ALWAYS.max(PER_CORE * cores));
    }
}
