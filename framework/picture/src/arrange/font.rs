//! Sizes of texts. A text is measured as one of a fixed-pitch font, 0.6 of its size to a character.

/// Width of a character of a font of size one.
pub(super) const PITCH: f64 = 0.6;
/// Height of a line of text, for a font of size one.
pub(super) const LEADING: f64 = 1.45;

pub(super) const TITLE: f64 = 18.0;
pub(super) const HEADING: f64 = 14.0;
pub(super) const BODY: f64 = 12.0;
pub(super) const OPERATOR: f64 = 30.0;

/// Width of a text.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * PITCH * size
}
