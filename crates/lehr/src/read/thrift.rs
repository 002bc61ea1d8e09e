//! Walks over Thrift's compact protocol, in which Parquet writes its headers, keeping nothing.

use std::io::{self, Read};

/// Structures and lists within each other; Parquet's own headers have half a dozen.
const DEEPEST: usize = 32;

/// A value on the way; the rest is skipped.
pub(super) enum Seen {
    /// The integer of a field of the structure that is reached by these fields' numbers.
    Integer(i64),
    /// A list of so many elements begins.
    List(u64),
    /// An element of a list ends.
    Element,
}

/// Reads one structure and shows its integers and lists, each with the numbers of the fields that
/// lead to it; what `see` finds wrong ends it.
pub(super) fn walk(
    from: &mut impl Read,
    see: &mut impl FnMut(&[i16], Seen) -> Result<(), String>,
) -> Result<(), String> {
    structure(from, 0, &mut Vec::new(), see)
}

fn structure(
    from: &mut impl Read,
    depth: usize,
    path: &mut Vec<i16>,
    see: &mut impl FnMut(&[i16], Seen) -> Result<(), String>,
) -> Result<(), String> {
    let mut field = 0i16;
    loop {
        let head = byte(from)?;
        if head == 0 {
            return Ok(());
        }
        field = match head >> 4 {
            0 => unzigzag(varint(from)?) as i16,
            step => field.wrapping_add(step.into()),
        };
        path.push(field);
        // In a field, a boolean is its own type.
        if !matches!(head & 15, 1 | 2) {
            value(head & 15, from, depth, path, see)?;
        }
        path.pop();
    }
}

fn value(
    kind: u8,
    from: &mut impl Read,
    depth: usize,
    path: &mut Vec<i16>,
    see: &mut impl FnMut(&[i16], Seen) -> Result<(), String>,
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err("its headers are nested too deeply".into());
    }
    match kind {
        1..=3 => byte(from).map(drop),
        4..=6 => {
            let number = unzigzag(varint(from)?);
            see(path, Seen::Integer(number))
        }
        7 => skip(from, 8),
        8 => {
            let length = varint(from)?;
            skip(from, length)
        }
        9 | 10 => {
            let head = byte(from)?;
            let length = if head >> 4 == 15 { varint(from)? } else { (head >> 4).into() };
            see(path, Seen::List(length))?;
            for _ in 0..length {
                value(head & 15, from, depth + 1, path, see)?;
                see(path, Seen::Element)?;
            }
            Ok(())
        }
        12 => structure(from, depth + 1, path, see),
        _ => Err(format!("its headers hold a value of the unknown kind {kind}")),
    }
}

fn byte(from: &mut impl Read) -> Result<u8, String> {
    let mut byte = [0];
    from.read_exact(&mut byte).map_err(|_| "its headers end too early".to_string())?;
    Ok(byte[0])
}

fn varint(from: &mut impl Read) -> Result<u64, String> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(from)?;
        number |= u64::from(next & 0x7f) << shift;
        if next < 0x80 {
            return Ok(number);
        }
    }
    Err("a number in its headers does not end".into())
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

fn skip(from: &mut impl Read, length: u64) -> Result<(), String> {
    let skipped = io::copy(&mut from.by_ref().take(length), &mut io::sink());
    match skipped {
        Ok(skipped) if skipped == length => Ok(()),
        _ => Err("its headers end too early".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(bytes: &[u8]) -> Result<Vec<(Vec<i16>, i64)>, String> {
        let mut found = Vec::new();
        walk(&mut &*bytes, &mut |path, seen| {
            if let Seen::Integer(number) = seen {
                found.push((path.to_vec(), number));
            }
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn integers_are_found_by_their_fields() {
        // 1: i32 -1, 3: struct { 2: i64 150 }, 4: true, 5: "ab", 6: list of i32 [1], 20: i32 3
        let bytes = [
            0x15, 1, 0x2c, 0x26, 0xac, 2, 0, 0x11, 0x18, 2, b'a', b'b', 0x19, 0x15, 2, 0x05, 40, 6,
            0,
        ];
        let expected = [(vec![1], -1), (vec![3, 2], 150), (vec![6], 1), (vec![20], 3)];
        assert_eq!(integers(&bytes).unwrap(), expected);
    }

    #[test]
    fn what_does_not_end_is_refused() {
        assert!(integers(&[]).unwrap_err().contains("end too early"));
        assert!(integers(&[0x15, 0xff]).unwrap_err().contains("end too early"));
        assert!(integers(&[0x18, 200, b'a']).unwrap_err().contains("end too early"));
        assert!(integers(&[&[0x15][..], &[0xff; 11]].concat()).unwrap_err().contains("not end"));
        assert!(integers(&[0x1c; 100]).unwrap_err().contains("nested too deeply"));
        let lists = [0x19; 100_000];
        assert!(integers(&lists).unwrap_err().contains("nested too deeply"));
        assert!(integers(&[0x1f]).unwrap_err().contains("unknown kind 15"));
    }
}
