//! The files of a run by name: those in a folder, or those packed into one value.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use safetensors::tensor::SafeTensors;

use crate::{Error, Result};

pub(super) const CONFIG: &str = "config.json";
pub(super) const TRACE: &str = "trace.jsonl";
pub(super) const RESULT: &str = "result.json";
pub(super) const NEWEST: &str = "checkpoint.safetensors";
pub(super) const BEFORE: &str = "checkpoint.previous.safetensors";

/// Where the files of a run are read from.
pub trait Files {
    /// The run that they belong to, for messages.
    fn place(&self) -> &Path;

    /// What a file holds; [`NotFound`](io::ErrorKind::NotFound) if there is none of this name.
    fn find(&self, name: &str) -> io::Result<Cow<'_, [u8]>>;

    /// Where a file is, for messages.
    fn path(&self, name: &str) -> PathBuf {
        self.place().join(name)
    }

    /// What a file holds; an error that names it if that cannot be known.
    fn read(&self, name: &str) -> Result<Cow<'_, [u8]>> {
        self.find(name).map_err(|error| Error::io(self.path(name), "cannot read", error))
    }
}

/// The files of a folder.
#[derive(Debug, Clone, Copy)]
pub struct Folder<'a>(pub &'a Path);

impl Files for Folder<'_> {
    fn place(&self) -> &Path {
        self.0
    }

    fn find(&self, name: &str) -> io::Result<Cow<'_, [u8]>> {
        Ok(Cow::Owned(std::fs::read(self.0.join(name))?))
    }
}

/// Files that are the tensors of one safetensors container.
pub(super) struct Packed<'a>(SafeTensors<'a>);

impl<'a> Packed<'a> {
    /// `None` if the bytes are no such container.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        SafeTensors::deserialize(bytes).ok().map(Packed)
    }
}

impl Files for Packed<'_> {
    fn place(&self) -> &Path {
        Path::new("packed run")
    }

    fn find(&self, name: &str) -> io::Result<Cow<'_, [u8]>> {
        match self.0.tensor(name) {
            Ok(view) => Ok(Cow::Borrowed(view.data())),
            Err(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
