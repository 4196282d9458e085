//! The calls from a host to a plugin as values. A library in this process and one in another process take the same
//! values.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::devices::call::DeviceCall;
use super::failure::SerializedError;
use crate::artifact::byte_string;

/// One call to a plugin. The caller numbers the targets that it creates and never reuses a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Call {
    /// Requests the plugin's name, version and architectures; the answer is a `PluginInfo`.
    Describe,
    /// Creates a target under a number; the answer is empty.
    Create {
        target: u64,
        #[serde(with = "byte_string")]
        description: Vec<u8>,
    },
    /// Destroys a target; the answer is empty.
    Destroy { target: u64 },
    /// Requests pieces of a target's tables; the answer is a `TargetInfo` with at least these pieces.
    Info {
        target: u64,
        #[serde(with = "byte_string")]
        request: Vec<u8>,
    },
    /// Requests the layout of a family (a named constructor of layouts); the request is a `FamilyRequest`, the answer a
    /// `FamilyAnswer`.
    Resolve {
        target: u64,
        #[serde(with = "byte_string")]
        request: Vec<u8>,
    },
    /// Compiles a module; the answer is an `Artifact`.
    Compile {
        target: u64,
        #[serde(with = "byte_string")]
        module: Vec<u8>,
        #[serde(with = "byte_string")]
        options: Vec<u8>,
    },
    /// Opens a target's devices as one set; the answer is `DeviceNames`. The caller numbers the sets that it opens and
    /// never reuses a number.
    OpenDevices { target: u64, devices: u64 },
    /// Closes a set of devices; the answer is empty.
    CloseDevices { devices: u64 },
    /// Makes a call on one device of a set; the answer depends on the [`DeviceCall`].
    Device { devices: u64, device: u32, call: DeviceCall },
}

impl Call {
    /// Returns the number of the target that the call is for; `None` if the call names no target.
    pub(super) fn target(&self) -> Option<u64> {
        match self {
            Self::Describe | Self::CloseDevices { .. } | Self::Device { .. } => None,
            Self::Create { target, .. }
            | Self::Destroy { target }
            | Self::Info { target, .. }
            | Self::Resolve { target, .. }
            | Self::Compile { target, .. }
            | Self::OpenDevices { target, .. } => Some(*target),
        }
    }

    /// Whether the call only creates or destroys a target or reads its families and instructions, so that it needs
    /// neither a code generator nor a driver.
    pub(super) fn reads_tables(&self) -> bool {
        match self {
            Self::Describe | Self::Create { .. } | Self::Destroy { .. } | Self::Info { .. } | Self::Resolve { .. } => {
                true
            }
            Self::Compile { .. } | Self::OpenDevices { .. } | Self::CloseDevices { .. } | Self::Device { .. } => false,
        }
    }

    /// Returns the plugin's activity during the call, as a phrase for messages.
    pub(super) fn doing(&self) -> &'static str {
        match self {
            Self::Describe => "being loaded",
            Self::Create { .. } => "creating a target",
            Self::Destroy { .. } => "ending a target",
            Self::Info { .. } => "listing families and instructions",
            Self::Resolve { .. } => "resolving a layout family",
            Self::Compile { .. } => "compiling",
            Self::OpenDevices { .. } => "opening devices",
            Self::CloseDevices { .. } => "closing devices",
            Self::Device { call: DeviceCall::Load { .. }, .. } => "loading code",
            Self::Device { call: DeviceCall::Launch { .. }, .. } => "running a kernel",
            Self::Device { .. } => "accessing a device's memory",
        }
    }
}

/// A receiver of calls to one plugin: the plugin's library in this process, or a process that serves the library.
pub(super) trait Channel: Send + Sync {
    /// Returns the path of the plugin's library.
    fn file(&self) -> &Path;

    /// Makes a call and returns the bytes of its answer.
    fn call(&self, call: Call) -> Result<Vec<u8>, SerializedError>;
}
