//! Property of all messages across the plugin boundary: any bytes give a value or an error.

/// Checks the property of the readers of plugin messages on one input.
///
/// # Panics
/// The property does not hold.
pub fn check(bytes: &[u8]) {
    tilewright_plugin::read_every_message(bytes);
}
