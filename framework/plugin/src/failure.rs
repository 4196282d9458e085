//! Errors as they cross the plugin boundary: a code from a fixed list and a chain of messages.
//!
//! The code defines the meaning of each message of the chain, so that the host can rebuild the plugin's typed error.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::factory_error::FactoryError;
use super::wire::WireError;
use crate::CompileError;
use tilewright_kernel::DecodeError;
use tilewright_layout::FamilyError;

/// The kind of an error, a number. A host treats numbers that it does not know as [`ErrorCode::INTERNAL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// The plugin failed: a panic or an impossible state. Chain: messages.
    pub const INTERNAL: Self = Self(1);
    /// Bytes from the host cannot be read. Chain: the expected content of the bytes, the fault.
    pub const MALFORMED: Self = Self(2);
    /// The target cannot do this. Chain: the unsupported feature.
    pub const UNSUPPORTED: Self = Self(3);
    /// The module violates a rule. Chain: messages.
    pub const INVALID: Self = Self(4);
    /// An option is not accepted. Chain: the option, the fault.
    pub const OPTION: Self = Self(5);
    /// The code generator failed. Chain: messages.
    pub const BACKEND: Self = Self(6);
    /// The plugin does not serve the architecture. Chain: the architecture.
    pub const ARCHITECTURE: Self = Self(7);
    /// The plugin cannot use the target's description. Chain: the fault.
    pub const DESCRIPTION: Self = Self(8);
    /// The target has no such layout family. Chain: the family, then the known ones.
    pub const FAMILY: Self = Self(9);
    /// A family's parameter is wrong. Chain: the family, the parameter, the fault.
    pub const FAMILY_PARAMETER: Self = Self(10);
    /// The shape does not fit the family. Chain: the family, the shape's sizes with commas, the fault.
    pub const FAMILY_SHAPE: Self = Self(11);
    /// A family's construction is no layout. Chain: the family, the fault.
    pub const FAMILY_LAYOUT: Self = Self(12);
    /// A vendor's runtime is missing. Chain: the runtime, and how to install it.
    pub const NO_RUNTIME: Self = Self(13);
    /// A device has not enough free memory. Chain: the requested bytes.
    pub const OUT_OF_MEMORY: Self = Self(14);
    /// A buffer is of another device, or too small. Chain: messages.
    pub const BUFFER: Self = Self(15);
    /// An artifact or a launch does not fit the device. Chain: messages.
    pub const LAUNCH: Self = Self(16);
    /// A kernel caused a fault. Chain: messages.
    pub const FAULT: Self = Self(17);
    /// A driver failed. Chain: messages.
    pub const DRIVER: Self = Self(18);
}

/// An error as it crosses the boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SerializedError {
    /// The kind of the error.
    pub code: ErrorCode,
    /// Messages, outermost first; the code defines the meaning of each.
    pub chain: Vec<String>,
}

impl fmt::Display for SerializedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.chain.join(": "))
    }
}

impl SerializedError {
    pub(super) fn new(code: ErrorCode, chain: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { code, chain: chain.into_iter().map(Into::into).collect() }
    }

    /// Returns the error for a fault of the plugin, with this message.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INTERNAL, [message])
    }

    /// Returns the error for bytes that cannot be read; `what` is the expected content.
    pub(super) fn malformed(what: &str, error: &WireError) -> Self {
        Self::new(ErrorCode::MALFORMED, [what.to_owned(), error.to_string()])
    }

    /// Returns the error for a caught panic, from the panic's payload.
    pub(super) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("without a message");
        Self::internal(format!("panicked: {text}; report this with its input to the plugin's author"))
    }

    fn at(&self, index: usize) -> String {
        self.chain.get(index).cloned().unwrap_or_default()
    }

    /// Joins all messages from index `index` on.
    fn tail(&self, index: usize) -> String {
        self.chain.get(index..).unwrap_or_default().join(": ")
    }

    /// Converts to a compile error that names the plugin.
    pub(super) fn into_compile_error(self, plugin: &str) -> CompileError {
        match self.code {
            ErrorCode::UNSUPPORTED => CompileError::Unsupported(self.tail(0)),
            ErrorCode::INVALID => CompileError::Invalid(self.tail(0)),
            ErrorCode::OPTION => CompileError::Option { option: self.at(0), message: self.tail(1) },
            ErrorCode::BACKEND => CompileError::Backend(self.tail(0)),
            _ => CompileError::Plugin(format!("{plugin}: {self}")),
        }
    }

    /// Converts to a family error that names the plugin.
    pub(super) fn into_family_error(self, plugin: &str) -> FamilyError {
        match self.code {
            ErrorCode::FAMILY => {
                FamilyError::Unknown { name: self.at(0), known: self.chain.get(1..).unwrap_or_default().to_vec() }
            }
            ErrorCode::FAMILY_PARAMETER => {
                FamilyError::Parameter { family: self.at(0), parameter: self.at(1), message: self.tail(2) }
            }
            ErrorCode::FAMILY_SHAPE => FamilyError::Shape {
                family: self.at(0),
                shape: self.at(1).split(',').filter_map(|size| size.trim().parse().ok()).collect(),
                message: self.tail(2),
            },
            ErrorCode::FAMILY_LAYOUT => FamilyError::Layout { family: self.at(0), message: self.tail(1) },
            _ => FamilyError::Plugin(format!("{plugin}: {self}")),
        }
    }
}

impl From<CompileError> for SerializedError {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Unsupported(message) => Self::new(ErrorCode::UNSUPPORTED, [message]),
            CompileError::Invalid(message) => Self::new(ErrorCode::INVALID, [message]),
            CompileError::Option { option, message } => Self::new(ErrorCode::OPTION, [option, message]),
            CompileError::Backend(message) => Self::new(ErrorCode::BACKEND, [message]),
            CompileError::Plugin(message) => Self::new(ErrorCode::INTERNAL, [message]),
        }
    }
}

impl From<FamilyError> for SerializedError {
    fn from(error: FamilyError) -> Self {
        match error {
            FamilyError::Unknown { name, known } => Self::new(ErrorCode::FAMILY, std::iter::once(name).chain(known)),
            FamilyError::Parameter { family, parameter, message } => {
                Self::new(ErrorCode::FAMILY_PARAMETER, [family, parameter, message])
            }
            FamilyError::Shape { family, shape, message } => {
                let sizes: Vec<_> = shape.iter().map(u64::to_string).collect();
                Self::new(ErrorCode::FAMILY_SHAPE, [family, sizes.join(","), message])
            }
            FamilyError::Layout { family, message } => Self::new(ErrorCode::FAMILY_LAYOUT, [family, message]),
            FamilyError::Plugin(message) => Self::new(ErrorCode::INTERNAL, [message]),
        }
    }
}

impl From<DecodeError> for SerializedError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::UnknownOperation(name) => Self::new(
                ErrorCode::UNSUPPORTED,
                [format!("kernel operation `{name}`, which this plugin does not know")],
            ),
            other => Self::new(ErrorCode::MALFORMED, ["the module".to_owned(), other.to_string()]),
        }
    }
}

impl From<FactoryError> for SerializedError {
    fn from(error: FactoryError) -> Self {
        match error {
            FactoryError::Architecture(name) => Self::new(ErrorCode::ARCHITECTURE, [name]),
            FactoryError::Description(message) => Self::new(ErrorCode::DESCRIPTION, [message]),
            FactoryError::Failed(message) => Self::new(ErrorCode::INTERNAL, [message]),
        }
    }
}

impl SerializedError {
    /// Converts to a factory error that names the plugin.
    pub(super) fn into_factory_error(self, plugin: &str) -> FactoryError {
        match self.code {
            ErrorCode::ARCHITECTURE => FactoryError::Architecture(self.tail(0)),
            ErrorCode::DESCRIPTION => FactoryError::Description(self.tail(0)),
            _ => FactoryError::Failed(format!("{plugin}: {self}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_operation_is_unsupported_and_named() {
        let failure = SerializedError::from(DecodeError::UnknownOperation("warp_drive".to_owned()));
        match failure.into_compile_error("libplugin.so") {
            CompileError::Unsupported(message) => assert!(message.contains("`warp_drive`"), "{message}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_code_of_a_later_version_is_the_plugins_failure() {
        let failure = SerializedError::new(ErrorCode(4711), ["first", "second"]);
        let expected = "libplugin.so: first: second".to_owned();
        assert_eq!(failure.clone().into_compile_error("libplugin.so"), CompileError::Plugin(expected.clone()));
        assert_eq!(failure.into_family_error("libplugin.so"), FamilyError::Plugin(expected));
    }

    #[test]
    fn a_chain_that_is_too_short_is_no_fault_of_the_reader() {
        for code in 0..16 {
            let failure = SerializedError { code: ErrorCode(code), chain: Vec::new() };
            let _ = failure.clone().into_compile_error("libplugin.so");
            let _ = failure.clone().into_family_error("libplugin.so");
            let _ = failure.into_factory_error("libplugin.so");
        }
    }
}
