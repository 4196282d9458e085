//! Everything that the two sides of the plugin boundary read from each other, from anybody.

/// Checks it.
///
/// # Panics
/// Where it does not hold.
pub fn check(bytes: &[u8]) {
    tilewright_plugin::read_every_message(bytes);
}
