//! Errors as handles: a code, a message, a place.

use std::ffi::{CString, c_char};

use tilewright::{LayoutRequestError, PipelineError, ProgramError, SessionError};
use tilewright_layout::text::TextError;
use tilewright_layout::{FamilyError, LayoutError};
use tilewright_plugin::CompileError;
use tilewright_target::CatalogueError;

use crate::handle::{destroy, handle, text};

/// The caller broke a rule of this interface: a null pointer, an index past the end, a text that is no UTF-8.
pub const TW_ERROR_ARGUMENT: u32 = 1;
/// An option is not known, or its value means nothing.
pub const TW_ERROR_OPTION: u32 = 2;
/// A layout, program or request is wrong; where it is a text, the error has the place.
pub const TW_ERROR_INPUT: u32 = 3;
/// There is no such target.
pub const TW_ERROR_TARGET: u32 = 4;
/// A plugin is missing, cannot be loaded, or broke.
pub const TW_ERROR_PLUGIN: u32 = 5;
/// Nothing is wrong, but the target cannot do it.
pub const TW_ERROR_UNSUPPORTED: u32 = 6;
/// The target's code generator failed.
pub const TW_ERROR_COMPILE: u32 = 7;
/// A fault of Tilewright; worth reporting.
pub const TW_ERROR_INTERNAL: u32 = 8;

/// Why there is no answer.
pub struct tw_error {
    code: u32,
    message: CString,
    line: u32,
    column: u32,
}

/// A failure on its way to the caller.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u32,
    pub(crate) message: String,
    /// Line and column, from one; zero where there is no place.
    pub(crate) place: (u32, u32),
}

impl Failure {
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: (0, 0) }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(TW_ERROR_ARGUMENT, message)
    }

    fn at(self, line: usize, column: usize) -> Self {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self { place: (number(line), number(column)), ..self }
    }

    /// The handle.
    pub(crate) fn boxed(self) -> *mut tw_error {
        let (line, column) = self.place;
        let message = text(self.message);
        handle(tw_error { code: self.code, message, line, column })
    }
}

impl From<PipelineError> for Failure {
    fn from(error: PipelineError) -> Self {
        let code = match &error {
            PipelineError::Target(_) => TW_ERROR_TARGET,
            PipelineError::Plugin(_) | PipelineError::Family(FamilyError::Plugin(_)) => TW_ERROR_PLUGIN,
            PipelineError::Lowered(_) => TW_ERROR_INTERNAL,
            PipelineError::Compile(error) => of_compiling(error),
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
        match error.place() {
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

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        Self::new(TW_ERROR_TARGET, error.to_string())
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let code = match error {
            SessionError::Targets(_) => TW_ERROR_TARGET,
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

/// What kind of error it is: one of `TW_ERROR_...`; a host takes numbers that it does not know as
/// `TW_ERROR_INTERNAL`. Zero for null. Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_code(error: *const tw_error) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { error.as_ref() }.map_or(0, |error| error.code)
}

/// What went wrong, and what to do; lives as long as the error. Empty for null. Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_message(error: *const tw_error) -> *const c_char {
    // SAFETY: as the caller promises.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// The line of the text that is wrong, from one; zero where there is none. Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_line(error: *const tw_error) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { error.as_ref() }.map_or(0, |error| error.line)
}

/// The character of that line, from one; zero where there is none. Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_column(error: *const tw_error) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { error.as_ref() }.map_or(0, |error| error.column)
}

/// Frees an error. Available since 1.0.
///
/// # Safety
/// `error` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_error_destroy(error: *mut tw_error) {
    // SAFETY: as the caller promises.
    unsafe { destroy(error) }
}
