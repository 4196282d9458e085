//! Options as keys and values, so that new ones need no new function.

use std::ffi::c_char;

use crate::boundary::{read_array, read_text};
use crate::error::{Failure, TW_ERROR_OPTION};

/// One option.
#[repr(C)]
pub struct tw_option {
    /// Its name.
    pub key: *const c_char,
    /// Its value as text.
    pub value: *const c_char,
}

/// The options of a call, as texts.
///
/// # Safety
/// `options` is null, or begins `count` options whose texts end with a zero byte, and all live as long as the call.
pub(crate) unsafe fn read_options<'a>(
    options: *const tw_option,
    count: usize,
) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    // SAFETY: as the caller promises.
    let options = unsafe { read_array("options", options, count) }?;
    options
        .iter()
        .map(|option| {
            // SAFETY: as the caller promises.
            let key = unsafe { read_text("option.key", option.key) }?;
            // SAFETY: as the caller promises.
            Ok((key, unsafe { read_text(key, option.value) }?))
        })
        .collect()
}

/// The failure of an option that nobody knows.
pub(crate) fn unknown(key: &str, known: &[&str]) -> Failure {
    Failure::new(TW_ERROR_OPTION, format!("there is no option `{key}`; there are {}", known.join(", ")))
}

/// The failure of a value that means nothing.
pub(crate) fn wrong(key: &str, value: &str, expected: &str) -> Failure {
    Failure::new(TW_ERROR_OPTION, format!("option `{key}` is `{value}`; expected {expected}"))
}

/// A number.
pub(crate) fn number<Number: std::str::FromStr>(key: &str, value: &str) -> Result<Number, Failure> {
    value.parse().map_err(|_| wrong(key, value, "a whole number that fits"))
}
