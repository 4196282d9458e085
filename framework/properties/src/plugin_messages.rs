//! Property of all messages across the plugin boundary: any bytes give a value or an error.

/// Reads one input as each kind of message between host and plugin; each read gives a value or an error.
///
/// # Panics
/// If reading some message panics, because the property does not hold.
pub fn check(bytes: &[u8]) {
    tilewright_plugin::read_as_every_message(bytes);
}
