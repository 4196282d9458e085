//! Errors as handles: an error has a code, a message, and line and column if it is an error in a text.

use std::ffi::{CString, c_char};

use tilewright::{LayoutRequestError, ProgramError, SessionError, SessionOpenError};
use tilewright_layout::text::TextError;
use tilewright_layout::{FamilyError, LayoutError};
use tilewright_plugin::CompileError;
use tilewright_target::TargetCatalogueError;

use crate::handle::{destroy, handle, text};

/// The caller violated a rule of this interface: a null pointer, an index past the end, text that is not UTF-8.
pub const TW_ERROR_ARGUMENT: u32 = 1;
/// An option of a call is unknown, or its value is invalid.
pub const TW_ERROR_OPTION: u32 = 2;
/// A layout, program or request is invalid; if it is text, the error has the place in the text.
pub const TW_ERROR_INPUT: u32 = 3;
/// No target has this name.
pub const TW_ERROR_TARGET: u32 = 4;
/// A plugin is missing, cannot be loaded, or failed.
pub const TW_ERROR_PLUGIN: u32 = 5;
/// The input is valid, but the target does not support it.
pub const TW_ERROR_UNSUPPORTED: u32 = 6;
/// The target's code generator failed.
pub const TW_ERROR_COMPILE: u32 = 7;
/// Tilewright itself has a defect; please report it.
pub const TW_ERROR_INTERNAL: u32 = 8;
/// The emulator stopped the kernel: an illegal operation, or more operations than the limit.
pub const TW_ERROR_FAULT: u32 = 9;

/// The error of a failed call: its code, message and place in the text.
pub struct tw_error {
    code: u32,
    message: CString,
    line: u32,
    column: u32,
}

/// An error of a call, before it becomes a handle for the caller.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u32,
    pub(crate) message: String,
    /// Line and column of the error in the input text, counted from one; zero if the error has no place in a text.
    pub(crate) location: (u32, u32),
}

impl Failure {
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), location: (0, 0) }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(TW_ERROR_ARGUMENT, message)
    }

    fn at(self, line: usize, column: usize) -> Self {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self { location: (number(line), number(column)), ..self }
    }

    /// Converts the error to a handle for the caller.
    pub(crate) fn boxed(self) -> *mut tw_error {
        let (line, column) = self.location;
        let message = text(self.message);
        handle(tw_error { code: self.code, message, line, column })
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let code = match &error {
            SessionError::Target(_) => TW_ERROR_TARGET,
            SessionError::Plugin(_) | SessionError::Family(FamilyError::Plugin(_)) => TW_ERROR_PLUGIN,
            SessionError::Lowered(_) => TW_ERROR_INTERNAL,
            SessionError::Compile(error) => of_compiling(error),
            _ => TW_ERROR_INPUT,
        };
        Self::new(code, error.to_string())
    }
}

fn of_compiling(error: &CompileError) -> u32 {
    match error {
        CompileError::Plugin(_) => TW_ERROR_PLUGIN,
        CompileError::Unsupported(_) => TW_ERROR_UNSUPPORTED,
        _ => TW_ERROR_COMPILE,
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        let code = match &error {
            _ if error.is_unsupported() => TW_ERROR_UNSUPPORTED,
            ProgramError::Kernel(_) => TW_ERROR_INTERNAL,
            _ => TW_ERROR_INPUT,
        };
        let failure = Self::new(code, error.to_string());
        match error.location() {
            Some(TextError { line, column, .. }) => failure.at(*line, *column),
            None => failure,
        }
    }
}

impl From<LayoutRequestError> for Failure {
    fn from(error: LayoutRequestError) -> Self {
        let failure = Self::new(TW_ERROR_INPUT, error.to_string());
        match error {
            LayoutRequestError::Notation(TextError { line, column, .. }) => failure.at(line, column),
            _ => failure,
        }
    }
}

impl From<TargetCatalogueError> for Failure {
    fn from(error: TargetCatalogueError) -> Self {
        Self::new(TW_ERROR_TARGET, error.to_string())
    }
}

impl From<SessionOpenError> for Failure {
    fn from(error: SessionOpenError) -> Self {
        let code = match error {
            SessionOpenError::Targets(_) => TW_ERROR_TARGET,
            _ => TW_ERROR_PLUGIN,
        };
        Self::new(code, error.to_string())
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Self::new(TW_ERROR_INPUT, error.to_string())
    }
}

/// Returns the kind of error, one of `TW_ERROR_...`; treat unknown numbers like `TW_ERROR_INTERNAL`. Zero for null.
/// Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_code(error: *const tw_error) -> u32 {
    // SAFETY: the caller promises that `error` is null or a handle that was not destroyed.
    unsafe { error.as_ref() }.map_or(0, |error| error.code)
}

/// Returns the description of the error and its remedy; lives as long as the error. Empty for null. Available since
/// 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_message(error: *const tw_error) -> *const c_char {
    // SAFETY: the caller promises that `error` is null or a handle that was not destroyed.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// Returns the line of the error in the text, counted from one; zero if the error has no place. Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_line(error: *const tw_error) -> u32 {
    // SAFETY: the caller promises that `error` is null or a handle that was not destroyed.
    unsafe { error.as_ref() }.map_or(0, |error| error.line)
}

/// Returns the column (character in the line) of the error, counted from one; zero if the error has no place. Available
/// since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_column(error: *const tw_error) -> u32 {
    // SAFETY: the caller promises that `error` is null or a handle that was not destroyed.
    unsafe { error.as_ref() }.map_or(0, |error| error.column)
}

/// Frees an error. Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_destroy(error: *mut tw_error) {
    // SAFETY: the caller promises that `error` is null or a handle that nothing else uses.
    unsafe { destroy(error) }
}
