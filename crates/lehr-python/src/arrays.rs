//! Numbers from and to numpy; the crate's only `unsafe`: rows that numpy owns, read in place.

#![allow(unsafe_code, reason = "numbers that numpy owns are read through a pointer")]

use std::fmt;
use std::sync::Arc;

use lehr::data::{Buffer, Rows};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::data_error;

/// The numbers of an array that Python keeps alive for us.
struct Shared<T> {
    first: *const T,
    n: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the pointer is only read, the array lives as long as `_owner`, and its numbers are plain.
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: as above: readers share nothing but memory that is not written here.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn slice(&self) -> &[T] {
        // SAFETY: `shared` has made sure that `n` aligned numbers lie behind each other from `first` on, and
        // numpy neither moves nor frees them while there is a reference to the array. Every bit pattern is
        // a number. Python code that writes to the array during a fit changes the numbers we see, as it
        // does for every library that works on numpy's memory.
        unsafe { std::slice::from_raw_parts(self.first, self.n) }
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({} numbers)", self.n)
    }
}

impl Buffer for Shared<f64> {
    fn rows(&self) -> Rows<'_> {
        Rows::F64(self.slice())
    }
}

impl Buffer for Shared<f32> {
    fn rows(&self) -> Rows<'_> {
        Rows::F32(self.slice())
    }
}

fn shared<T: Element>(array: &Bound<'_, PyArray2<T>>) -> Option<Shared<T>> {
    let aligned = (array.data() as usize).is_multiple_of(align_of::<T>());
    let whole = array.is_c_contiguous() && array.len() > 0 && aligned;
    whole.then(|| Shared {
        first: array.data(),
        n: array.len(),
        _owner: array.clone().into_any().unbind(),
    })
}

/// A matrix in rows of float64 or float32 as it lies in memory, and its width.
pub fn rows_of(array: &Bound<'_, PyAny>) -> PyResult<(Arc<dyn Buffer>, usize)> {
    let found: Option<(Arc<dyn Buffer>, usize)> = if let Ok(wide) = array.cast::<PyArray2<f64>>() {
        shared(wide).map(|rows| (Arc::new(rows) as Arc<dyn Buffer>, wide.shape()[1]))
    } else if let Ok(narrow) = array.cast::<PyArray2<f32>>() {
        shared(narrow).map(|rows| (Arc::new(rows) as Arc<dyn Buffer>, narrow.shape()[1]))
    } else {
        None
    };
    found.ok_or_else(|| data_error("a matrix must be an array of float64 or float32 in C order"))
}

/// An array with one dimension.
pub fn vector<'py, T: Element>(py: Python<'py>, values: Vec<T>) -> Bound<'py, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

/// An array of this many rows and columns.
pub fn matrix<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any())
}

/// An array of any shape.
pub fn shaped<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let flat = PyArray1::from_vec(py, values);
    flat.as_any().call_method1("reshape", (shape.to_vec(),))
}

/// Sets an entry of a dictionary to a vector.
pub fn set<T: Element>(dict: &Bound<'_, PyDict>, name: &str, values: Vec<T>) -> PyResult<()> {
    dict.set_item(name, vector(dict.py(), values))
}
