//! Sizes of text, for a fixed-pitch font whose characters are 0.6 em wide.

/// Width of a character, relative to the font size.
pub(super) const PITCH: f64 = 0.6;
/// Height of a line, relative to the font size.
pub(super) const LEADING: f64 = 1.45;

pub(super) const TITLE: f64 = 18.0;
pub(super) const HEADING: f64 = 14.0;
pub(super) const BODY: f64 = 12.0;
pub(super) const OPERATOR: f64 = 30.0;

/// Returns the width of a text at font size `size`, in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * PITCH * size
}
