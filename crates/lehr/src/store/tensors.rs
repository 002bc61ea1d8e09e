//! Arrays in safetensors files: numbers to bytes and back, with errors that name the file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use bytemuck::Pod;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, View};

use crate::{Error, Result};

/// Numbers that such files hold.
pub(crate) trait Number: Pod {
    const DTYPE: Dtype;
    fn from_le(bytes: &[u8]) -> Self;
    fn extend_le(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($Type:ty, $DTYPE:ident;)*) => {$(
        impl Number for $Type {
            const DTYPE: Dtype = Dtype::$DTYPE;

            fn from_le(bytes: &[u8]) -> Self {
                <$Type>::from_le_bytes(bytes.try_into().expect("a chunk of its size"))
            }

            fn extend_le(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}
numbers! { f64, F64; f32, F32; i64, I64; i32, I32; u8, U8; }

/// An array to be written.
pub(crate) struct Array<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    /// Little-endian.
    bytes: Cow<'a, [u8]>,
}

impl<'a> Array<'a> {
    /// Numbers in this shape; slowest dimension first.
    pub(crate) fn new<T: Number>(shape: Vec<usize>, values: &'a [T]) -> Self {
        let bytes = if cfg!(target_endian = "little") {
            Cow::Borrowed(bytemuck::cast_slice(values))
        } else {
            let mut bytes = Vec::with_capacity(size_of_val(values));
            values.iter().for_each(|&x| x.extend_le(&mut bytes));
            Cow::Owned(bytes)
        };
        Array { dtype: T::DTYPE, shape, bytes }
    }

    /// A list of numbers.
    pub(crate) fn list<T: Number>(values: &'a [T]) -> Self {
        Array::new(vec![values.len()], values)
    }

    /// Type, shape and bytes.
    pub(crate) fn parts(&self) -> (Dtype, &[usize], &[u8]) {
        (self.dtype, &self.shape, &self.bytes)
    }
}

impl View for &Array<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// The bytes of a file with these arrays.
pub(crate) fn pack<N: AsRef<str>>(
    arrays: &[(N, Array<'_>)],
    metadata: Option<HashMap<String, String>>,
) -> Result<Vec<u8>> {
    let views = arrays.iter().map(|(name, array)| (name.as_ref(), array));
    safetensors::serialize(views, metadata).map_err(not_packed)
}

/// A file with arrays as the pieces that it is made of, one after the other: its header, then the arrays' own bytes,
/// which are not copied.
pub(crate) fn pieces<N: AsRef<str>, T>(
    arrays: &[(N, Array<'_>)],
    metadata: Option<HashMap<String, String>>,
    then: impl FnOnce(&[&[u8]]) -> Result<T>,
) -> Result<T> {
    let order = RefCell::new(Vec::new());
    let views = arrays.iter().map(|(name, array)| (name.as_ref(), Noted { array, order: &order }));
    // All but the arrays' bytes.
    let header = safetensors::serialize(views, metadata).map_err(not_packed)?;
    let mut all: Vec<&[u8]> = vec![&header];
    all.extend(order.into_inner());
    then(&all)
}

/// An array that notes when its bytes are asked for, and gives none.
struct Noted<'a, 'b, 'order> {
    array: &'a Array<'b>,
    order: &'order RefCell<Vec<&'a [u8]>>,
}

impl View for Noted<'_, '_, '_> {
    fn dtype(&self) -> Dtype {
        self.array.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.array.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        self.order.borrow_mut().push(&self.array.bytes);
        Cow::Borrowed(&[])
    }
    fn data_len(&self) -> usize {
        self.array.bytes.len()
    }
}

fn not_packed(error: safetensors::SafeTensorError) -> Error {
    Error::data(format!("the arrays cannot be packed: {error}"))
}

/// The arrays of a file, which is called `path` in messages.
pub(crate) struct Tensors<'a> {
    tensors: SafeTensors<'a>,
    /// The strings in its header.
    pub metadata: HashMap<String, String>,
    path: &'a Path,
}

impl<'a> Tensors<'a> {
    pub(crate) fn open(bytes: &'a [u8], path: &'a Path) -> Result<Self> {
        let damaged = |error: safetensors::SafeTensorError| Error::damaged(path, error.to_string());
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        Ok(Tensors { tensors, metadata: header.metadata().clone().unwrap_or_default(), path })
    }

    /// The error of a file that does not hold what it must.
    pub(crate) fn damaged(&self, what: impl Into<String>) -> Error {
        Error::damaged(self.path, what)
    }

    /// All arrays by name.
    pub(crate) fn views(&self) -> Vec<(String, TensorView<'a>)> {
        self.tensors.tensors()
    }

    /// Whether there is an array of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// An array's shape and numbers, if there is one of this name.
    pub(crate) fn find<T: Number>(&self, name: &str) -> Result<Option<(Vec<usize>, Vec<T>)>> {
        let Ok(view) = self.tensors.tensor(name) else { return Ok(None) };
        if view.dtype() != T::DTYPE {
            return Err(self.damaged(format!("{name} is not {:?}", T::DTYPE)));
        }
        let numbers = view.data().chunks_exact(size_of::<T>()).map(T::from_le);
        Ok(Some((view.shape().to_vec(), numbers.collect())))
    }

    /// An array's numbers.
    pub(crate) fn list<T: Number>(&self, name: &str) -> Result<Vec<T>> {
        let found = self.find(name)?;
        found
            .map(|(_, values)| values)
            .ok_or_else(|| self.damaged(format!("there is no {name} in it")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_file_are_its_bytes() {
        let (singles, doubles, bytes) = ([1.5_f32, -2.0, 0.25], [1.0 / 3.0, 7.0], [1_u8, 2, 3]);
        let arrays = [
            ("bytes", Array::list(&bytes)),
            ("singles", Array::new(vec![3, 1], &singles)),
            ("z", Array::list(&doubles)),
            ("a", Array::list(&doubles[..1])),
            ("none", Array::list::<f64>(&[])),
        ];
        let metadata = || Some(HashMap::from([("model".to_string(), "gmm".to_string())]));
        let whole = pack(&arrays, metadata()).unwrap();
        let joined = pieces(&arrays, metadata(), |pieces| Ok(pieces.concat())).unwrap();
        assert_eq!(joined, whole);
        // The arrays are not copied.
        let address = doubles.as_ptr().cast::<u8>();
        let found = |pieces: &[&[u8]]| Ok(pieces.iter().any(|piece| piece.as_ptr() == address));
        assert!(cfg!(target_endian = "big") || pieces(&arrays, None, found).unwrap());
    }
}
