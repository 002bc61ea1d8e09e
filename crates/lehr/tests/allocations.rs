//! A warm local step allocates nothing, with any model: the hot loop never meets the allocator.

#![allow(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{ForSharedModel, for_every_shared_model, made_ratings, start};
use lehr::fit::State;
use lehr::model::{Ask, Dataset, Local, Model, RowSet, RowShard, Shard, SharedModel};
use lehr::models::{Pmf, PmfParams};

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
    impl ForSharedModel for Warm {
        fn run<M: SharedModel>(&self, name: &str, model: &M, data: &M::Data) {
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
    for_every_shared_model(600, &Warm);
    assert_eq!(requests(|| drop(std::hint::black_box(vec![1.0; 100]))), 1, "the counter works");
}

#[test]
fn a_warm_row_step_does_not_allocate() {
    let made = made_ratings((40, 30, 2), 600, (1.0, 0.5, 0.5), 7);
    for exact in [false, true] {
        let model = Pmf::new(PmfParams { exact, ..PmfParams::new(3) }, &made.ratings).unwrap();
        let layout = model.layout();
        let mut expect = Default::default();
        let lambda = State::at(&model, start(&model, &made.ratings)).lambda;
        model.refresh(&lambda, &RowSet::all(layout.n_rows), &mut expect);
        let (mut scratch, rows) = (model.scratch(), (0..40).collect::<Vec<u32>>());
        let (mut stats, mut bounds) = (vec![0.0; 40 * layout.raw_width], vec![0.0; 40]);
        let starts = made.ratings.groups(0);
        let items: Vec<u32> = (0..made.ratings.n_ratings() as u32).collect();
        let weights = vec![0.5; items.len()];
        for pass in 0..4 {
            let noisy = pass % 2 == 0;
            let shard = RowShard {
                data: &made.ratings,
                phase: 0,
                rows: &rows,
                starts,
                items: noisy.then_some(&items),
                weights: noisy.then_some(&weights),
            };
            let ask = Ask { bound: !noisy, ..Ask::TRAIN };
            let count = requests(|| {
                model.local_step(&expect, shard, ask, &mut scratch, &mut stats, &mut bounds);
            });
            // The first two passes warm up.
            assert!(pass < 2 || count == 0, "exact {exact}, pass {pass}: {count} allocations");
        }
    }
}
