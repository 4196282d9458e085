//! Lists of names.

use std::ffi::{CString, c_char};

/// A list of names in a deterministic order.
pub struct tw_names {
    names: Vec<CString>,
}

impl tw_names {
    pub(crate) fn of(names: impl IntoIterator<Item = String>) -> Self {
        Self { names: names.into_iter().map(crate::handle::text).collect() }
    }
}

/// Returns the number of names in a list. Zero for null. Available since 1.0.
///
/// # Safety
/// `names` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_names_count(names: *const tw_names) -> usize {
    // SAFETY: the caller promises that `names` is null or a handle that was not destroyed.
    unsafe { names.as_ref() }.map_or(0, |names| names.names.len())
}

/// Returns the name at `index`, counted from zero; null past the last. Lives as long as the list. Available since 1.0.
///
/// # Safety
/// `names` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_names_at(names: *const tw_names, index: usize) -> *const c_char {
    // SAFETY: the caller promises that `names` is null or a handle that was not destroyed.
    let name = unsafe { names.as_ref() }.and_then(|names| names.names.get(index));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Frees a list of names. Available since 1.0.
///
/// # Safety
/// `names` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_names_destroy(names: *mut tw_names) {
    // SAFETY: the caller promises that `names` is null or a handle that nothing else uses.
    unsafe { crate::handle::destroy(names) }
}
