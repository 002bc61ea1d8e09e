//! A warm local step allocates nothing, with any model: the hot loop never meets the allocator. And what is known of
//! many items is read out block by block: nothing as large as a row for each of them is ever asked for.

#![allow(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;

use common::{ForSharedModel, clusters, for_every_shared_model, made_ratings, start};
use lehr::Result;
use lehr::data::Docs;
use lehr::engine::Threads;
use lehr::fit::{self, State};
use lehr::model::{Ask, Dataset, Local, Model, RowSet, RowShard, Shard, SharedModel, item_bounds};
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams};
use lehr::write::{Column, TableFormat, rows_of_blocks, table_in_blocks};

thread_local! {
    /// Requests of this thread; others (the test harness) do not count.
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
    /// The bytes of its largest one.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    REQUESTS.with(|count| count.set(count.get() + 1));
    LARGEST.with(|largest| largest.set(largest.get().max(bytes)));
}

struct Counting;

// SAFETY: every request goes to the system's allocator unchanged; the counters are plain
// thread-local numbers whose access does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; `pointer` came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
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

/// The bytes of the largest request of `work`, which has one thread to itself.
fn largest<T: Send>(work: impl FnOnce() -> T + Send) -> (usize, T) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        LARGEST.set(0);
        let done = work();
        (LARGEST.get(), done)
    })
}

/// In a pool of this many threads.
fn on_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(work)
}

#[test]
fn components_of_many_items_are_read_out_without_a_row_for_each() {
    const N: usize = 60_000;
    const K: usize = 64;
    let points = clusters(N, 3, 10, 5.0, 7);
    let some = points.subset(&(0..400).collect::<Vec<_>>());
    let mixture = Mixture::new(MixtureParams::gmm(K), &some).unwrap();
    let lambda = State::at(&mixture, start(&mixture, &some)).lambda;
    let whole = on_threads(2, || mixture.responsibilities(lambda.table(), &points));
    let one_row_each = 8 * N * K;

    let (bytes, labels) = largest(|| mixture.labels(lambda.table(), &points).unwrap());
    assert!(bytes <= 16 * N, "labels: {bytes} bytes at once");
    for (row, &label) in whole.chunks_exact(K).zip(&labels) {
        assert!(row.iter().all(|&r| r <= row[label as usize]));
    }
    let (bytes, bounds) = largest(|| item_bounds(&mixture, &lambda, &points));
    assert!(bytes <= 16 * N, "bounds: {bytes} bytes at once");
    assert_eq!(bounds, on_threads(3, || item_bounds(&mixture, &lambda, &points)));
    let (bytes, _) = largest(|| mixture.mean_log_predictive(&lambda, &points));
    assert!(bytes <= 16 * N, "densities: {bytes} bytes at once");
    let (bytes, _) =
        largest(|| fit::bound(&mixture, &lambda, &mut Threads::new(&mixture, &points)).unwrap());
    assert!(bytes <= 16 * N, "bound: {bytes} bytes at once");

    // As a table, on one thread and on three, whatever the size of the blocks: the same bits.
    let folder = tempfile::tempdir().unwrap();
    let mut expect = Default::default();
    mixture.refresh(&lambda, &RowSet::all(lambda.n_rows()), &mut expect);
    for (threads, rows) in [(1, rows_of_blocks(K)), (3, 1000), (1, 700)] {
        let path = folder.path().join("table.npy");
        let (bytes, ()) = largest(|| {
            let mut block = Vec::new();
            let make = |items: Range<usize>, add: &mut dyn FnMut(&[Column<'_>]) -> Result<()>| {
                block.resize(items.len() * K, 0.0);
                on_threads(threads, || {
                    mixture.fill_responsibilities(&expect, &points, items, &mut block)
                })?;
                add(&[Column::matrix("r", &block, K)])
            };
            table_in_blocks(TableFormat::Npy, &path, N, rows, make).unwrap();
        });
        assert!(bytes < one_row_each * 6 / 10, "{rows} rows: {bytes} of {one_row_each} bytes");
        let file = std::fs::read(&path).unwrap();
        let numbers = file[file.len() - one_row_each..].chunks_exact(8);
        let read = numbers.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        assert!(read.eq(whole.iter().copied()), "{threads} threads, {rows} rows");
    }
    let (bytes, _) = largest(|| mixture.responsibilities(lambda.table(), &points));
    assert!(bytes >= one_row_each, "the counter works");
}

#[test]
fn topics_of_many_documents_are_read_out_block_by_block() {
    const N: usize = 10_000;
    const K: usize = 40;
    let word = |n: usize, i: usize| ((n * 31 + i * 7) % 50) as u32;
    let row = |n| (0..4).map(|i| (word(n, i), 1.0)).collect::<Vec<_>>();
    let rows = (0..N).map(row).collect::<Vec<_>>();
    let docs = Docs::from_rows(rows, 50).unwrap();
    let lda = Lda::new(LdaParams::new(K), &docs).unwrap();
    let lambda = State::at(&lda, start(&lda, &docs)).lambda;
    let one_row_each = 8 * N * K;
    let whole = on_threads(3, || lda.transform(&lambda, &docs));
    let gamma = on_threads(1, || lda.gamma(&lambda, &docs));
    for (shares, gamma) in whole.chunks_exact(K).zip(gamma.chunks_exact(K)) {
        let total: f64 = gamma.iter().sum();
        assert!(shares.iter().zip(gamma).all(|(share, gamma)| *share == gamma / total));
    }
    let (bytes, ()) = largest(|| {
        let (mut block, mut reader) = (Vec::new(), lda.topic_reader(&lambda, &docs));
        for first in (0..N).step_by(900) {
            let items = first..N.min(first + 900);
            block.resize(items.len() * K, 0.0);
            reader.fill(items.clone(), true, &mut block);
            assert_eq!(block, whole[items.start * K..items.end * K]);
        }
    });
    assert!(bytes < one_row_each / 4, "{bytes} of {one_row_each} bytes");
    // Rounded where they are made: there is no wider copy.
    let (bytes, single) = largest(|| {
        let mut single = vec![0f32; N * K];
        lda.topic_reader(&lambda, &docs).fill(0..N, true, &mut single);
        single
    });
    assert_eq!(bytes, one_row_each / 2);
    assert!(single.iter().zip(&whole).all(|(single, whole)| *single == *whole as f32));
    let (bytes, _) = largest(|| lda.score_docs(&lambda, &docs, N));
    assert!(bytes < one_row_each / 4, "scores: {bytes} of {one_row_each} bytes");
    let (bytes, _) = largest(|| fit::bound(&lda, &lambda, &mut Threads::new(&lda, &docs)).unwrap());
    assert!(bytes < one_row_each / 4, "bound: {bytes} of {one_row_each} bytes");
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
