//! Walks over Thrift's compact protocol, in which Parquet writes its headers, keeping nothing.

use std::io::{self, Read};

/// Structures and lists within each other; Parquet's own headers have half a dozen.
const DEEPEST: usize = 32;

/// What a field of a known structure must be. The library reads a field as what it should be, whatever
/// its own type says: only if both agree do the two of us see the same file.
pub(super) enum Type {
    Bool,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List(&'static Type),
    Struct(&'static Fields),
}

/// The fields of a structure that are known, by their numbers; the others are skipped.
pub(super) type Fields = [(i16, Type)];

impl Type {
    /// Whether a value of this kind is of the type.
    fn is(&self, kind: u8) -> bool {
        match self {
            Type::Bool => matches!(kind, 1 | 2),
            Type::Byte => kind == 3,
            Type::I16 => kind == 4,
            Type::I32 => kind == 5,
            Type::I64 => kind == 6,
            Type::Double => kind == 7,
            Type::Binary => kind == 8,
            Type::List(_) => kind == 9,
            Type::Struct(_) => kind == 12,
        }
    }
}

/// A value on the way; the rest is skipped.
pub(super) enum Seen {
    /// The integer of a field of the structure that is reached by these fields' numbers.
    Integer(i64),
    /// A list of this many elements starts.
    List(u64),
    /// An element of a list ends.
    Element,
}

/// Reads one structure and shows its integers and lists, each with the numbers of the fields that
/// lead to it; what `see` finds wrong ends it.
pub(super) fn walk(
    from: &mut impl Read,
    fields: &'static Fields,
    see: &mut impl FnMut(&[i16], Seen) -> Result<(), String>,
) -> Result<(), String> {
    structure(from, fields, 0, &mut Vec::new(), see)
}

fn structure(
    from: &mut impl Read,
    fields: &'static Fields,
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
            0 => i16::try_from(unzigzag(varint(from)?)).map_err(|_| wrong())?,
            step => field.checked_add(step.into()).ok_or_else(wrong)?,
        };
        let known = fields.iter().find(|(number, _)| *number == field).map(|(_, known)| known);
        path.push(field);
        // In a field, a boolean is its own type.
        match (head & 15, known) {
            (kind, Some(known)) if !known.is(kind) => return Err(wrong()),
            (1 | 2, _) => {}
            (kind, known) => value(kind, known, from, depth, path, see)?,
        }
        path.pop();
    }
}

fn value(
    kind: u8,
    known: Option<&'static Type>,
    from: &mut impl Read,
    depth: usize,
    path: &mut Vec<i16>,
    see: &mut impl FnMut(&[i16], Seen) -> Result<(), String>,
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err("its headers are nested too deeply".into());
    }
    match kind {
        3 => byte(from).map(drop),
        4..=6 => {
            let number = unzigzag(varint(from)?);
            see(path, Seen::Integer(number))
        }
        7 => skip(from, 8),
        8 => {
            let length = varint(from)?;
            skip(from, length)
        }
        9 => {
            let head = byte(from)?;
            let length = if head >> 4 == 15 { varint(from)? } else { (head >> 4).into() };
            let known = match known {
                Some(Type::List(element)) => Some(*element),
                _ => None,
            };
            // Nothing that Parquet's headers have is a list of booleans, which readers disagree on.
            if known.is_some_and(|known| !known.is(head & 15)) || matches!(head & 15, 1 | 2) {
                return Err(wrong());
            }
            see(path, Seen::List(length))?;
            for _ in 0..length {
                value(head & 15, known, from, depth + 1, path, see)?;
                see(path, Seen::Element)?;
            }
            Ok(())
        }
        12 => {
            let fields = match known {
                Some(Type::Struct(fields)) => *fields,
                _ => &[],
            };
            structure(from, fields, depth + 1, path, see)
        }
        _ => Err(format!("its headers hold a value of the unknown kind {kind}")),
    }
}

fn wrong() -> String {
    "its headers are damaged".into()
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

    static FIELDS: &Fields = &[(1, Type::I32), (6, Type::List(&Type::I32))];

    fn integers(bytes: &[u8]) -> Result<Vec<(Vec<i16>, i64)>, String> {
        let mut found = Vec::new();
        walk(&mut &*bytes, FIELDS, &mut |path, seen| {
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
    fn a_known_field_of_another_type_is_refused() {
        for bytes in [&[0x11, 2, 0][..], &[0x16, 2, 0], &[0x69, 0x16, 2, 0], &[0x19, 0x11, 1, 0]] {
            assert_eq!(integers(bytes).unwrap_err(), "its headers are damaged");
        }
    }

    #[test]
    fn what_does_not_end_is_refused() {
        assert!(integers(&[]).unwrap_err().contains("end too early"));
        assert!(integers(&[0x15, 0xff]).unwrap_err().contains("end too early"));
        assert!(integers(&[0x28, 200, b'a']).unwrap_err().contains("end too early"));
        assert!(integers(&[&[0x15][..], &[0xff; 11]].concat()).unwrap_err().contains("not end"));
        assert!(integers(&[0x2c; 100]).unwrap_err().contains("nested too deeply"));
        let lists = [0x29; 100_000];
        assert!(integers(&lists).unwrap_err().contains("nested too deeply"));
        assert!(integers(&[0x2f]).unwrap_err().contains("unknown kind 15"));
    }
}
