//! Numbers in messages: all of them at once, as they lie in memory, where they are not to be read; else one by one.
//!
//! Only little-endian machines send each other such messages, as only they read converted corpora.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Pod;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T, S>(numbers: &[T], serializer: S) -> Result<S::Ok, S::Error>
where
    T: Pod + Serialize,
    S: Serializer,
{
    match serializer.is_human_readable() {
        true => numbers.serialize(serializer),
        false => serializer.serialize_bytes(bytemuck::cast_slice(numbers)),
    }
}

pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Pod + Deserialize<'de>,
    D: Deserializer<'de>,
{
    match deserializer.is_human_readable() {
        true => Vec::deserialize(deserializer),
        false => deserializer.deserialize_bytes(Bytes(PhantomData)),
    }
}

struct Bytes<T>(PhantomData<T>);

impl<T: Pod> Visitor<'_> for Bytes<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of numbers")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        let mut numbers = vec![T::zeroed(); bytes.len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(bytes);
        Ok(numbers)
    }
}
