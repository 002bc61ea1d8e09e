//! Several runs or a sweep on one page.

use lehr::Result;
use lehr::store::Run;

use crate::Reported;

/// A run among several.
pub struct Member<M: Reported> {
    /// What it is called.
    pub name: String,
    /// The run.
    pub run: Run<M>,
}

/// The page of several runs.
pub fn several<M: Reported>(_title: &str, _members: &[Member<M>]) -> Result<String> {
    crate::page::of_several("", &(), &[])
}
