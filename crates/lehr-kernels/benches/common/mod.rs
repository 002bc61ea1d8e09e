//! What the benchmarks of kernels share: units of throughput, one measurement per instruction set, synthetic numbers.

#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "every file of benchmarks has its own part"
)]

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, Throughput};
use lehr_kernels::Isa;
use lehr_kernels::rng::{Address, Purpose, Rng};

/// Seconds, from which throughput is reported in what a kernel works on instead of in "elements".
pub struct Rate {
    /// The unit and its thousands, millions and billions.
    pub names: [&'static str; 4],
}

/// The settings of benchmarks whose throughput is reported in this unit; options of the command line go before.
macro_rules! per_second {
    ($unit:literal) => {
        $crate::common::settings($crate::common::Rate {
            names: [
                concat!($unit, "/s"),
                concat!("thousand ", $unit, "/s"),
                concat!("million ", $unit, "/s"),
                concat!("billion ", $unit, "/s"),
            ],
        })
    };
}
pub(crate) use per_second;

/// What every benchmark is run with: kernels take microseconds, so that seconds are enough.
pub fn settings(rate: Rate) -> Criterion<Rate> {
    Criterion::default()
        .with_measurement(rate)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

impl ValueFormatter for Rate {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_values(typical, values)
    }

    fn scale_throughputs(
        &self,
        typical: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str {
        let Throughput::Elements(count) = *throughput else {
            return WallTime.formatter().scale_throughputs(typical, throughput, values);
        };
        // Values are nanoseconds.
        let rate = |nanoseconds: f64| count as f64 * 1e9 / nanoseconds;
        let (size, name) = [1.0, 1e3, 1e6, 1e9]
            .into_iter()
            .zip(self.names)
            .rfind(|(size, _)| rate(typical) >= *size)
            .unwrap_or((1.0, self.names[0]));
        values.iter_mut().for_each(|value| *value = rate(*value) / size);
        name
    }

    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_for_machines(values)
    }
}

impl Measurement for Rate {
    type Intermediate = <WallTime as Measurement>::Intermediate;
    type Value = <WallTime as Measurement>::Value;

    fn start(&self) -> Self::Intermediate {
        WallTime.start()
    }

    fn end(&self, begin: Self::Intermediate) -> Self::Value {
        WallTime.end(begin)
    }

    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        WallTime.add(a, b)
    }

    fn zero(&self) -> Self::Value {
        WallTime.zero()
    }

    fn to_f64(&self, value: &Self::Value) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

/// Measures a kernel that works on `count` units at a time in every instruction set this machine has, as
/// `name/case/set`.
pub fn in_every_set<R>(
    criterion: &mut Criterion<Rate>,
    name: &str,
    case: &str,
    count: usize,
    mut kernel: impl FnMut(Isa) -> R,
) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(count as u64));
    for isa in Isa::available() {
        let set = format!("{isa:?}").to_lowercase();
        group.bench_function(BenchmarkId::new(case, set), |bencher| bencher.iter(|| kernel(isa)));
    }
    group.finish();
}

/// Measures what is compiled once, for all instruction sets, as `name/case`.
pub fn once<R>(
    criterion: &mut Criterion<Rate>,
    name: &str,
    case: &str,
    count: usize,
    mut kernel: impl FnMut() -> R,
) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function(case, |bencher| bencher.iter(&mut kernel));
    group.finish();
}

pub fn rng(seed: u64) -> Rng {
    Address::new(seed, Purpose::Data, 0, 0).rng(0)
}

pub fn normals(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.normal()).collect()
}

/// The packed lower triangle of a positive definite matrix whose condition grows slowly with its size.
pub fn precision(rng: &mut Rng, n_dims: usize) -> Vec<f64> {
    let factors = normals(rng, n_dims * n_dims);
    let row = |i: usize| &factors[i * n_dims..][..n_dims];
    let entry = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum::<f64>();
    let shift = |i: usize, j: usize| if i == j { n_dims as f64 } else { 0.0 };
    (0..n_dims)
        .flat_map(|i| (0..=i).map(move |j| (i, j)))
        .map(|(i, j)| entry(i, j) + shift(i, j))
        .collect()
}
