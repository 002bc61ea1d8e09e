//! Numbers that begin at a cache line: a vector of 64 bytes that lies across two lines takes twice as long to load.

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::pages;

/// A cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// f32 numbers from the beginning of a cache line on.
#[derive(Debug, Clone, Default)]
pub struct Aligned {
    lines: Vec<Line>,
    len: usize,
}

impl Aligned {
    /// Changes their number, keeping the memory; new ones are 0.
    pub fn resize(&mut self, len: usize) {
        let lines = len.div_ceil(16);
        pages::reserve(&mut self.lines, lines);
        let before = self.len;
        self.lines.resize(lines, Line([0.0; 16]));
        self.len = len;
        if before < len {
            self[before..].fill(0.0);
        }
    }

    /// Becomes a copy of these.
    pub fn copy_from(&mut self, numbers: &[f32]) {
        self.resize(numbers.len());
        self.copy_from_slice(numbers);
    }

    /// Forgets all, keeping the memory.
    pub fn clear(&mut self) {
        self.resize(0);
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl Serialize for Aligned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => self[..].serialize(serializer),
            // All at once, as they lie in memory: only little-endian machines send each other such messages.
            false => serializer.serialize_bytes(bytemuck::cast_slice(&self[..])),
        }
    }
}

impl<'de> Deserialize<'de> for Aligned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return deserializer.deserialize_bytes(Bytes);
        }
        let mut out = Aligned::default();
        out.copy_from(&Vec::<f32>::deserialize(deserializer)?);
        Ok(out)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Aligned;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of numbers")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Aligned, E> {
        if !bytes.len().is_multiple_of(size_of::<f32>()) {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        let mut out = Aligned::default();
        out.resize(bytes.len() / size_of::<f32>());
        bytemuck::cast_slice_mut(&mut out[..]).copy_from_slice(bytes);
        Ok(out)
    }
}
