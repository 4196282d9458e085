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

/// Makes the error of an unknown option; `known` are the known ones.
pub(crate) fn unknown(key: &str, known: &[&str]) -> Failure {
    Failure::new(TW_ERROR_OPTION, format!("there is no option `{key}`; there are {}", known.join(", ")))
}

/// Makes the error of an option with an invalid value.
pub(crate) fn wrong(key: &str, value: &str, expected: &str) -> Failure {
    Failure::new(TW_ERROR_OPTION, format!("option `{key}` is `{value}`; expected {expected}"))
}

/// Parses the value of the option `key` as a number.
pub(crate) fn number<Number: std::str::FromStr>(key: &str, value: &str) -> Result<Number, Failure> {
    value.parse().map_err(|_| wrong(key, value, "an integer that fits"))
}
