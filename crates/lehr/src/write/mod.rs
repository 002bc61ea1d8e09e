//! Results to files.
