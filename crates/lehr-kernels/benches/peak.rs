//! Measures the f64 multiply-add peak of one core, the yardstick for the kernels' speed. Prints one
//! JSON line: `cargo bench -p lehr-kernels --bench peak`.

#![allow(unsafe_code, reason = "functions for an instruction set are unsafe to call")]

use std::hint::black_box;
use std::time::Instant;

use lehr_kernels::Isa;

/// Independent chains: enough to hide the latency of a fused multiply-add on any core.
const CHAINS: usize = 12;
/// Numbers of a chain where the compiler makes the vectors; with eight, NEON's registers could not hold all chains.
const LANES: usize = if cfg!(target_arch = "aarch64") { 4 } else { 8 };
const ROUNDS: usize = 2_000_000;

#[inline(always)]
fn chains<const FUSED: bool>(rounds: usize) -> f64 {
    let factor = black_box(0.999_999);
    let mut sums = [[black_box(1.0f64); LANES]; CHAINS];
    for _ in 0..rounds {
        for sum in &mut sums {
            for x in sum {
                *x = if FUSED { x.mul_add(factor, 1e-9) } else { *x * factor + 1e-9 };
            }
        }
    }
    sums.iter().flatten().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(rounds: usize) -> f64 {
    use std::arch::x86_64::*;
    let factor = _mm256_set1_pd(black_box(0.999_999));
    let small = _mm256_set1_pd(1e-9);
    let mut sums = [_mm256_set1_pd(black_box(1.0)); CHAINS];
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm256_fmadd_pd(*sum, factor, small);
        }
    }
    sums.into_iter().map(|s| _mm256_cvtsd_f64(s)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(rounds: usize) -> f64 {
    use std::arch::x86_64::*;
    let factor = _mm512_set1_pd(black_box(0.999_999));
    let small = _mm512_set1_pd(1e-9);
    let mut sums = [_mm512_set1_pd(black_box(1.0)); CHAINS];
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm512_fmadd_pd(*sum, factor, small);
        }
    }
    sums.into_iter().map(|s| _mm512_cvtsd_f64(s)).sum()
}

fn main() {
    let isa = Isa::detect();
    let mut best = f64::INFINITY;
    let mut lanes = LANES;
    for _ in 0..20 {
        let begin = Instant::now();
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => {
                lanes = 4;
                // SAFETY: `Isa::detect` found AVX2 and FMA.
                black_box(unsafe { avx2(ROUNDS) });
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                // SAFETY: `Isa::detect` found AVX-512.
                black_box(unsafe { avx512(ROUNDS) });
            }
            _ => {
                black_box(chains::<{ Isa::Portable.fuses() }>(ROUNDS));
            }
        }
        best = best.min(begin.elapsed().as_secs_f64());
    }
    let gflops = (2 * CHAINS * lanes * ROUNDS) as f64 / best / 1e9;
    let isa = format!("{isa:?}").to_lowercase();
    println!("{{\"gflops_f64_one_core\": {gflops:.1}, \"isa\": \"{isa}\"}}");
}
