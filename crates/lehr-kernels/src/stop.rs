//! A way to stop long arithmetic: its caller may ask for a stop, and loops that take long check for that.
//!
//! A loop that may take longer than a person waits calls [`check`] now and then, which costs next to nothing. It
//! returns unless a stop is asked for on this thread and heeded at the moment; then the stack is unwound, without
//! a panic's message, up to [`Stop::heed`], which the caller has wrapped around the work. What was half done
//! is dropped, or undone by them. Programs that abort on panics go on to the end of the work instead.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Why work was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A stop was requested.
    Asked,
    /// The time was up.
    Late,
}

/// A request to stop, and whether it is heeded at the moment. Clones are the same one.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use lehr_kernels::stop::{self, Stop, Why};
///
/// let flag = Arc::new(AtomicBool::new(false));
/// let stop = Stop::new(Some(flag.clone()), None);
/// let long_work = || {
///     stop::check();
///     "done"
/// };
/// assert_eq!(stop.heed(long_work), Ok("done"));
/// flag.store(true, Ordering::Relaxed);
/// assert_eq!(stop.heed(long_work), Err(Why::Asked));
/// assert_eq!(long_work(), "done"); // outside of `heed` nothing is stopped
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Raised by the caller. Never lowered while work goes on.
    asked: Option<Arc<AtomicBool>>,
    /// Later than this is too late.
    deadline: Option<Instant>,
    /// Whether work is under way that may be stopped in the middle.
    heeded: AtomicBool,
}

/// What is thrown.
struct Stopped;

thread_local! {
    /// The request that work on this thread belongs to.
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

impl Stop {
    /// A stop when the flag is raised, or at the deadline.
    pub fn new(asked: Option<Arc<AtomicBool>>, deadline: Option<Instant>) -> Self {
        Stop(Arc::new(Inner { asked, deadline, heeded: AtomicBool::new(false) }))
    }

    /// Why to stop, if there is a reason.
    pub fn why(&self) -> Option<Why> {
        let Inner { asked, deadline, .. } = &*self.0;
        if asked.as_ref().is_some_and(|asked| asked.load(Ordering::Relaxed)) {
            return Some(Why::Asked);
        }
        deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Why::Late)
    }

    /// Work on this thread belongs to this request from now on: for the threads of a pool.
    pub fn adopt(&self) {
        CURRENT.replace(Some(self.clone()));
    }

    /// Does work that may be stopped in the middle, here or on threads that have adopted this request. Whether what
    /// it has touched can be used after a stop is for the caller to know.
    pub fn heed<T>(&self, work: impl FnOnce() -> T) -> Result<T, Why> {
        if let Some(why) = self.why().filter(|_| CAN_UNWIND) {
            return Err(why);
        }
        let before = CURRENT.replace(Some(self.clone()));
        let outer = self.0.heeded.swap(true, Ordering::Relaxed);
        let outcome = catch_unwind(AssertUnwindSafe(work));
        self.0.heeded.store(outer, Ordering::Relaxed);
        CURRENT.replace(before);
        match outcome {
            Ok(done) => Ok(done),
            Err(thrown) if thrown.is::<Stopped>() => Err(self.why().unwrap_or(Why::Asked)),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Whether a stack can be unwound.
const CAN_UNWIND: bool = cfg!(panic = "unwind");

/// Ends the work under way, if a stop is asked for and heeded.
#[inline]
pub fn check() {
    if CAN_UNWIND && CURRENT.with_borrow(|stop| stop.as_ref().is_some_and(is_due)) {
        resume_unwind(Box::new(Stopped));
    }
}

fn is_due(stop: &Stop) -> bool {
    stop.0.heeded.load(Ordering::Relaxed) && stop.why().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    #[test]
    fn all_threads_of_a_pool_leave_their_work_and_the_pool_goes_on() {
        let flag = Arc::new(AtomicBool::new(false));
        let stop = Stop::new(Some(Arc::clone(&flag)), None);
        let adopted = stop.clone();
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(3).start_handler(move |_| adopted.adopt());
        let pool = pool.build().unwrap();
        let done = AtomicUsize::new(0);
        let work = || {
            (0..1000usize).into_par_iter().with_max_len(1).for_each(|i| {
                flag.fetch_or(i == 500, Ordering::Relaxed);
                check();
                done.fetch_add(1, Ordering::Relaxed);
            });
        };
        assert_eq!(pool.install(|| stop.heed(work)), Err(Why::Asked));
        assert!(done.load(Ordering::Relaxed) < 1000);
        // Not heeded: the same request, the same threads.
        done.store(0, Ordering::Relaxed);
        pool.install(work);
        assert_eq!(done.load(Ordering::Relaxed), 1000);
        // Another thread's work is none of its business.
        assert!(stop.heed(|| std::thread::spawn(check).join().is_ok()).is_err());
        std::thread::spawn(check).join().unwrap();
    }

    #[test]
    fn a_deadline_stops_and_a_panic_stays_one() {
        let stop = Stop::new(None, Some(Instant::now() + Duration::from_millis(5)));
        let forever = || -> () {
            loop {
                check();
            }
        };
        assert_eq!(stop.heed(forever), Err(Why::Late));
        let never = Stop::default();
        let panicked = catch_unwind(AssertUnwindSafe(|| never.heed(|| resume_unwind(Box::new(3)))));
        assert_eq!(
            panicked.err().and_then(|thrown| thrown.downcast::<i32>().ok()),
            Some(Box::new(3))
        );
        // And nothing is heeded any more, nor is there anything to heed.
        check();
        assert!(!never.0.heeded.load(Ordering::Relaxed));
    }
}
