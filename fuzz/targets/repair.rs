//! Gives damaged files checksums that fit, so that what lies behind a checksum is reached, too: someone
//! who means harm would do the same.

use std::collections::HashMap;

use flate2::Crc;
use safetensors::SafeTensors;
use serde_json::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The members of a sparse matrix, in the order in which `members` has them.
const MEMBERS: [&str; 5] = ["format.npy", "shape.npy", "indptr.npy", "indices.npy", "data.npy"];

/// A zip archive of the members that `members` has one after the other, each behind its length in
/// two bytes.
pub fn archive(mut members: &[u8]) -> Vec<u8> {
    let (mut file, mut directory, mut n) = (Vec::new(), Vec::new(), 0u16);
    for name in MEMBERS {
        let Some((length, rest)) = members.split_first_chunk() else { break };
        let (member, rest) = rest.split_at(rest.len().min(u16::from_le_bytes(*length).into()));
        members = rest;
        let mut crc = Crc::new();
        crc.update(member);
        let size = (member.len() as u32).to_le_bytes();
        // From "version needed" to the length of the extra field.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend(crc.sum().to_le_bytes());
        common.extend(size);
        common.extend(size);
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(member);
        n += 1;
    }
    let start = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\x00\x00\x00\x00");
    file.extend(n.to_le_bytes());
    file.extend(n.to_le_bytes());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// A converted corpus with the sums of its header, offsets and words set right; `Docs::save` describes
/// the layout.
pub fn corpus(bytes: &[u8]) -> Vec<u8> {
    const HEADER: usize = 88;
    const ENTRIES: u64 = 4096;
    let mut bytes = bytes.to_vec();
    if bytes.len() < HEADER {
        return bytes;
    }
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let (n_docs, n_entries) = (u64_at(16), u64_at(32));
    let offsets = n_entries.checked_mul(8).and_then(|size| size.checked_add(ENTRIES));
    let words = offsets.and_then(|start| n_docs.checked_add(1)?.checked_mul(8)?.checked_add(start));
    if let (Some(offsets), Some(words)) = (offsets, words)
        && let Some(section) = bytes.get(offsets as usize..words as usize)
    {
        let sums = [xxh3_64(&bytes[words as usize..]), xxh3_64(section)];
        for (sum, at) in sums.into_iter().zip([64, 72]) {
            bytes[at..at + 8].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let sum = xxh3_64(&bytes[..HEADER - 8]);
    bytes[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// A checkpoint with its checksum set right; `None` if it is no safetensors file.
pub fn checkpoint(bytes: &[u8]) -> Option<Vec<u8>> {
    let tensors = SafeTensors::deserialize(bytes).ok()?;
    let (length, header) = SafeTensors::read_metadata(bytes).ok()?;
    let metadata: HashMap<String, String> = header.metadata().clone()?;
    let mut hash = Xxh3::new();
    let mut texts: Vec<_> = metadata.iter().filter(|(key, _)| *key != "checksum").collect();
    texts.sort();
    for (key, text) in texts {
        hash.update(format!("{key:?} {text:?}\n").as_bytes());
    }
    let mut views = tensors.tensors();
    views.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, view) in &views {
        hash.update(format!("{name:?} {:?} {:?}\n", view.dtype(), view.shape()).as_bytes());
        hash.update(view.data());
    }
    let sum = format!("{:032x}", hash.digest128());
    let mut json: Value = serde_json::from_slice(&bytes[8..8 + length]).ok()?;
    json.get_mut("__metadata__")?.as_object_mut()?.insert("checksum".into(), sum.into());
    let json = json.to_string();
    let mut fixed = (json.len() as u64).to_le_bytes().to_vec();
    fixed.extend(json.as_bytes());
    fixed.extend(&bytes[8 + length..]);
    Some(fixed)
}
