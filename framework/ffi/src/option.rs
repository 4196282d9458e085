//! Options as keys and values, so that new options need no new function.

use std::ffi::c_char;

use crate::boundary::{read_array, read_text};
use crate::error::{Failure, TW_ERROR_OPTION};

/// An option of a call, as a key and a value.
#[repr(C)]
pub struct tw_option {
    /// The name of the option.
    pub key: *const c_char,
    /// The value of the option as text.
    pub value: *const c_char,
}

/// Returns the options of a call as texts: keys and values.
///
/// # Safety
/// `options` is null, or points to `count` options whose texts end with a zero byte; all live as long as the call.
pub(crate) unsafe fn read_options<'a>(
    options: *const tw_option,
    count: usize,
) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    // SAFETY: the caller promises that `options` is null or points to `count` options.
    let options = unsafe { read_array("options", options, count) }?;
    options
        .iter()
        .map(|option| {
            // SAFETY: the caller promises that the key of each option is a C string.
            let key = unsafe { read_text("option.key", option.key) }?;
            // SAFETY: the caller promises that the value of each option is a C string.
            Ok((key, unsafe { read_text(key, option.value) }?))
        })
        .collect()
}

/// Builds the error for the unknown option `key`; `known` are the keys that exist.
pub(crate) fn unknown(key: &str, known: &[&str]) -> Failure {
    Failure::new(TW_ERROR_OPTION, format!("there is no option `{key}`; there are {}", known.join(", ")))
}

/// Builds the error for an option with an invalid value; `expected` describes the valid values.
pub(crate) fn wrong(key: &str, value: &str, expected: &str) -> Failure {
    Failure::new(TW_ERROR_OPTION, format!("option `{key}` is `{value}`; expected {expected}"))
}

/// Parses the value of the option `key` as an integer; an error if it is none or out of range.
pub(crate) fn number<Number: std::str::FromStr>(key: &str, value: &str) -> Result<Number, Failure> {
    value.parse().map_err(|_| wrong(key, value, "an integer that fits"))
}
