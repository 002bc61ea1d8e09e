//! Large tables on large pages: rows that a batch touches lie scattered, and with small pages most of the time would go
//! into finding them.

use bytemuck::Zeroable;

/// From this size on, in bytes.
const LARGE: usize = 4 << 20;

/// A vector of zeros.
pub fn zeros<T: Zeroable + Copy>(len: usize) -> Vec<T> {
    let mut vec = with_capacity(len);
    vec.resize(len, T::zeroed());
    vec
}

/// Room for `len` numbers in all, and for a few more if it has to move: a caller that asks again and again asks for more.
pub fn reserve<T: Copy>(vec: &mut Vec<T>, len: usize) {
    if vec.capacity() < len {
        // Pages that were touched before they were advised stay small, so this is new memory.
        let mut larger = with_capacity(len + len / 8);
        larger.extend_from_slice(vec);
        *vec = larger;
    }
}

fn with_capacity<T>(len: usize) -> Vec<T> {
    let vec = Vec::with_capacity(len);
    advise(vec.as_ptr() as usize, vec.capacity() * size_of::<T>());
    vec
}

/// Asks for large pages. It is only advice: without them, everything works as it did.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise(address: usize, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let first = address.next_multiple_of(page);
    let end = (address + bytes) / page * page;
    if bytes >= LARGE && end > first {
        // SAFETY: whole pages inside an allocation; the advice does not change what they hold.
        let _ = unsafe { madvise(first as *mut _, end - first, Advice::LinuxHugepage) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_address: usize, _bytes: usize) {
    let _ = LARGE;
}
