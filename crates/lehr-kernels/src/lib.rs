//! The arithmetic of lehr: SIMD kernels, each with a scalar twin in the tests, the choice of instruction
//! set, and the numbers that they need: counter-based random numbers, special functions and small
//! symmetric matrices.
//!
//! A crate of its own, so that its loops go without overflow checks in release builds, which all else has,
//! and so that it can be run under Miri and valgrind by itself. Use it through `lehr::math`.
//!
//! Every f64 kernel puts independent results into the lanes (items, components or draws), never parts
//! of one sum. So AVX2, AVX-512 and NEON give the same bits, and no sum depends on the vector's width. So
//! do the f32 sums over ratings and the f32 normals. The f32 kernels of topics do sum over lanes: there,
//! instruction sets agree to rounding, and AVX2 and NEON, whose vectors have as many lanes here, in all bits.

#![allow(
    unsafe_code,
    reason = "vector instructions, and loads whose bounds were checked once outside the loop"
)]

pub mod packed;
pub mod rng;
pub mod special;
pub mod stop;

mod aligned;
mod blend;
mod lanes;
mod lanes32;
mod words32;
#[cfg(target_arch = "aarch64")]
mod neon;
mod digamma;
mod gaussian;
mod lists;
mod sparse;
mod normal;
mod normal32;
mod rows;
mod topics;
mod pages;

pub use aligned::Aligned;
pub use blend::{advance_row, decay_row, replace_row, step_row};
pub use digamma::{digamma_f64, exp_digamma_f32, exp_digamma_f64, ln_gamma_f64};
pub use gaussian::{
    GaussianBlock, Second, TILE, accumulate, accumulate_scatter, log_densities, pad_to_lanes,
    softmax, whitened,
};
pub use lists::{LIST_ITEMS, LIST_USERS, reach};
pub use normal::fill_normal;
pub use normal32::{NORMAL_BLOCK_F32, fill_normal_f32};
pub use pages::{reserve, zeros};
pub use rows::{
    Factors, MIXED, SLAB_WIDTHS, WIDEST_MIXED, centre_f32, centre_f64, congruence,
    is_positive_definite, moments, narrow, posterior, sum_slab_f32, sum_slab_f64,
};
pub use sparse::{accumulate_sparse, is_sparse, pad_features};
pub use topics::{
    Decay, DocumentScratch, RowFormat, RowsMut, Share, Solve, Solved, ThetaList, Thetas, TopicRows,
    WIDE, gather_word, gather_word_of_lists, inverse_totals, pad_topics, solve_document,
    solve_document_exact,
};

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// The instruction sets for which kernels are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// Whatever the target guarantees.
    Portable,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F and BW.
    Avx512,
    /// aarch64, all of which has NEON.
    Neon,
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
        })
    }
}

/// The environment variable that makes [`Isa::detect`] choose a lesser instruction set, to measure and compare.
pub const ISA_VARIABLE: &str = "LEHR_ISA";

impl Isa {
    /// The one to use: the best this CPU has, or the lesser one that the environment asks for ([`ISA_VARIABLE`],
    /// read once). A wrong value counts for nothing here; [`Isa::check_environment`] complains of it.
    #[inline]
    pub fn detect() -> Isa {
        static CHOSEN: OnceLock<Isa> = OnceLock::new();
        *CHOSEN.get_or_init(|| Isa::asked().ok().flatten().unwrap_or_else(Isa::best))
    }

    /// All up to the one to use, for tests that compare them.
    pub fn available() -> Vec<Isa> {
        Isa::detect().and_lesser()
    }

    /// Complains of an [`ISA_VARIABLE`] that names no instruction set of this CPU. For programs, before they start.
    pub fn check_environment() -> Result<(), String> {
        Isa::asked().map(|_| ())
    }

    fn asked() -> Result<Option<Isa>, String> {
        let Some(value) = std::env::var_os(ISA_VARIABLE) else { return Ok(None) };
        let has = Isa::best().and_lesser();
        let found = has.iter().find(|isa| value.to_str() == Some(&isa.to_string()));
        found.copied().map(Some).ok_or_else(|| {
            let names: Vec<String> = has.iter().map(Isa::to_string).collect();
            format!(
                "{ISA_VARIABLE}={}: not an instruction set of this CPU that lehr has kernels for; those are {}. \
                 Unset it to use the best",
                value.to_string_lossy(),
                names.join(", ")
            )
        })
    }

    /// The best one this CPU has, whatever the environment says.
    fn best() -> Isa {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 =
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            if avx2 && avx512 {
                return Isa::Avx512;
            }
            if avx2 {
                return Isa::Avx2;
            }
        }
        if cfg!(target_arch = "aarch64") { Isa::Neon } else { Isa::Portable }
    }

    /// Whether a multiply-add is rounded once. Sets that do so give the same f64 bits; portable kernels do where every
    /// CPU of the architecture has the instruction.
    pub const fn fuses(self) -> bool {
        !matches!(self, Isa::Portable) || cfg!(target_arch = "aarch64")
    }

    fn and_lesser(self) -> Vec<Isa> {
        match self {
            Isa::Portable => vec![Isa::Portable],
            Isa::Avx2 => vec![Isa::Portable, Isa::Avx2],
            Isa::Avx512 => vec![Isa::Portable, Isa::Avx2, Isa::Avx512],
            Isa::Neon => vec![Isa::Portable, Isa::Neon],
        }
    }
}

/// Components and dimensions are fewer: what is made of two such sizes can still be counted.
pub(crate) const MOST: usize = 1 << (usize::BITS / 2 - 1);

/// Whether `n` rows of `width` numbers are at most `len`. For the doors of kernels: there are no overflow checks here,
/// and a product that wraps must not let anyone in.
pub(crate) fn fits(n: usize, width: usize, len: usize) -> bool {
    n.checked_mul(width).is_some_and(|size| size <= len)
}

/// What is asked for ahead of its use, at most: the CPU follows a longer stretch by itself.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const AHEAD_BYTES: usize = 2048;

/// Asks for the cache lines of something that will be needed soon, or the first of them.
pub fn prefetch<T>(soon: &[T]) {
    // Miri does not know it.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in (0..size_of_val(soon).min(AHEAD_BYTES)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let at = soon.as_ptr().cast::<i8>().wrapping_add(line);
        // SAFETY: every x86-64 CPU has the instruction, and it never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = soon;
}

/// Writes the public face of a kernel: checks that the CPU has `isa`, then enters the generic body
/// compiled for it.
macro_rules! dispatch {
    ($(#[$meta:meta])* $name:ident => $body:ident ( $($arg:ident : $ty:ty),* $(,)? )) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        pub fn $name(isa: $crate::Isa, $($arg: $ty),*) {
            use $crate::{Isa, lanes};
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn avx2($($arg: $ty),*) {
                    $body::<lanes::Avx2>($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn avx512($($arg: $ty),*) {
                    $body::<lanes::Avx512>($($arg),*)
                }
                match isa {
                    Isa::Avx512 if Isa::detect() == Isa::Avx512 => {
                        // SAFETY: `Isa::detect` never chooses more than the CPU has.
                        return unsafe { avx512($($arg),*) };
                    }
                    Isa::Avx2 | Isa::Avx512 if Isa::detect() != Isa::Portable => {
                        // SAFETY: where it is not `Portable`, the CPU has AVX2 and FMA.
                        return unsafe { avx2($($arg),*) };
                    }
                    _ => {}
                }
            }
            #[cfg(target_arch = "aarch64")]
            if isa == Isa::Neon {
                return $body::<$crate::neon::Neon>($($arg),*);
            }
            let _ = isa;
            $body::<lanes::Portable<{ Isa::Portable.fuses() }>>($($arg),*)
        }
    };
}
use dispatch;
