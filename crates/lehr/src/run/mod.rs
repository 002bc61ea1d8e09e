//! The loop: climbs, restarts around them, when to stop, and what is observed on the way.

pub mod trace;
