//! Files to data.
