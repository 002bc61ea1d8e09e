//! Why a figure could not become a PNG.

use std::error::Error as Cause;

/// Why a figure could not become a PNG; as SVG it always can.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no memory for this many pixels.
    #[error("a picture of {width} x {height} pixels is too large")]
    TooLarge {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The pixels cannot be packed.
    #[error("cannot encode the picture as PNG")]
    Png(#[source] Box<dyn Cause + Send + Sync>),
}
