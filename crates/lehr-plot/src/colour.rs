//! The colour-blind-safe palette of Okabe and Ito.

use std::fmt;

/// An sRGB colour, written as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Blue.
    pub const BLUE: Self = Self(0x00, 0x72, 0xb2);
    /// Vermilion.
    pub const VERMILION: Self = Self(0xd5, 0x5e, 0x00);
    /// Bluish green.
    pub const GREEN: Self = Self(0x00, 0x9e, 0x73);
    /// Reddish purple.
    pub const PURPLE: Self = Self(0xcc, 0x79, 0xa7);
    /// Orange.
    pub const ORANGE: Self = Self(0xe6, 0x9f, 0x00);
    /// Sky blue.
    pub const SKY: Self = Self(0x56, 0xb4, 0xe9);
    /// Black.
    pub const BLACK: Self = Self(0x00, 0x00, 0x00);
    /// Yellow, last because it is faint on white.
    pub const YELLOW: Self = Self(0xf0, 0xe4, 0x42);
    /// Neutral grey for what stays in the background, such as raw data.
    pub const GREY: Self = Self(0x77, 0x77, 0x77);

    /// The palette in the order in which series take their colours.
    pub const PALETTE: [Self; 8] = [
        Self::BLUE,
        Self::VERMILION,
        Self::GREEN,
        Self::PURPLE,
        Self::ORANGE,
        Self::SKY,
        Self::BLACK,
        Self::YELLOW,
    ];

    /// The palette's colour number `index`, starting again after the last.
    pub fn nth(index: usize) -> Self {
        Self::PALETTE[index % Self::PALETTE.len()]
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}
