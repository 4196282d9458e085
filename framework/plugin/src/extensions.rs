//! Finds an optional table by name in the chain that starts at a plugin's table.

#![allow(unsafe_code)]

use super::abi::Extension;
use super::failure::SerializedError;
use super::plugin_functions::{MOST_ITEMS, text};

/// Finds the optional table of this name, which must have at least `required_bytes` bytes; `None` if the chain lacks
/// it.
///
/// # Errors
/// [`SerializedError`] if a table of the chain is misaligned or too small, its name is not valid text, or the chain has
/// no end.
pub(super) fn find_extension(
    first: *const Extension,
    name: &str,
    required_bytes: usize,
) -> Result<Option<*const Extension>, SerializedError> {
    let mut extension = first;
    for _ in 0..MOST_ITEMS {
        if extension.is_null() {
            return Ok(None);
        }
        if !extension.is_aligned() {
            return Err(broken("one is not aligned"));
        }
        // SAFETY: every extension begins with its size.
        let size = unsafe { (&raw const (*extension).struct_size).read() };
        if size < size_of::<Extension>() {
            return Err(broken(&format!("one has {size} bytes, where {} are needed", size_of::<Extension>())));
        }
        // SAFETY: `size` covers it.
        let head = unsafe { extension.read() };
        if text("the name of an extension", head.name)? == name {
            if size < required_bytes {
                return Err(broken(&format!("`{name}` has {size} bytes, where {required_bytes} are needed")));
            }
            return Ok(Some(extension));
        }
        extension = head.next;
    }
    Err(broken("they have no end"))
}

/// Returns the error for a chain that violates a rule of the interface.
pub(super) fn broken(what: &str) -> SerializedError {
    SerializedError::internal(format!("its extensions are broken: {what}"))
}
