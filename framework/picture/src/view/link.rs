//! The links that all views agree on.

use tilewright_layout::Dim;

/// The link of a tensor's element, by its coordinates along `dim0`, `dim1`, ...: `element 3,5`.
#[must_use]
pub fn element_link(coordinates: &[u64]) -> String {
    let numbers: Vec<_> = coordinates.iter().map(u64::to_string).collect();
    format!("element {}", numbers.join(","))
}

/// The link of a position of an input space: `lane 3 register 1`, dims of size one left out by the
/// caller or not, but always alike.
#[must_use]
pub fn position_link(place: &[(Dim, u64)]) -> String {
    let parts: Vec<_> = place.iter().map(|(dim, index)| format!("{dim} {index}")).collect();
    parts.join(" ")
}
