//! A device, as its driver describes it.

use super::super::limits::Limits;
use super::super::product::is_named;

/// A device that a driver lists, with its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The driver's number.
    pub id: usize,
    pub name: String,
    pub driver: String,
    /// Whether it is a processor, which lacks the builtins for products of matrices and loads of blocks.
    pub is_processor: bool,
    pub limits: Limits,
    /// Whether quotients and square roots of binary32 are correctly rounded where that is asked for.
    pub rounds_correctly: bool,
}

impl Found {
    pub(super) fn serves(&self, product: &str) -> bool {
        self.is_processor || is_named(&self.name, product)
    }
}

/// A driver's text, which ends with a zero.
pub(super) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
}
