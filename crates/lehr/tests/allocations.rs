//! A warm local step allocates nothing, with any model: the hot loop never meets the allocator.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{ForModel, for_every_model, start};
use lehr::model::{Ask, Local, Model, RowSet, Shard};
use lehr::run::fit::State;

thread_local! {
    /// Requests of this thread; others (the test harness) do not count.
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every request goes to the system's allocator unchanged; the counter is a plain
// thread-local number whose access does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; `pointer` came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        REQUESTS.with(|count| count.set(count.get() + 1));
        // SAFETY: as above; `pointer` came from `System`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn requests(work: impl FnOnce()) -> u64 {
    let before = REQUESTS.get();
    work();
    REQUESTS.get() - before
}

#[test]
fn a_warm_local_step_does_not_allocate() {
    struct Warm;
    impl ForModel for Warm {
        fn run<M: Model>(&self, name: &str, model: &M, data: &M::Data) {
            let layout = model.layout();
            let mut expect = M::Expect::default();
            let rows = RowSet::all(layout.n_rows);
            model.refresh(&State::at(model, start(model, data)).lambda, &rows, &mut expect);
            let (mut scratch, mut local) = (model.scratch(), M::Local::new(&layout));
            let items: Vec<u32> = (0..512).collect();
            let (weights, mut bounds) = (vec![1.5; 512], vec![0.0; 512]);
            for (pass, ask) in [Ask::TRAIN, Ask::TRAIN, Ask::EVALUATE].into_iter().enumerate() {
                let (items, rows) = (&items[..], &rows);
                let shard = Shard { data, items, weights: &weights, rows, warm: &[] };
                let count = requests(|| {
                    local.clear();
                    model.local_step(&expect, shard, ask, &mut scratch, &mut local, &mut bounds);
                });
                // The first pass warms up.
                assert!(pass == 0 || count == 0, "{name}, pass {pass}: {count} allocations");
            }
        }
    }
    for_every_model(600, &Warm);
    assert_eq!(requests(|| drop(std::hint::black_box(vec![1.0; 100]))), 1, "the counter works");
}
