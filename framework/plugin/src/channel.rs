//! The calls that a host makes of a plugin, as values: the same for a library in this process and
//! for one in another.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::devices::call::DeviceCall;
use super::failure::PluginFailure;
use crate::artifact::byte_string;

/// One call. Targets are numbered by the caller; numbers are never used twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Call {
    /// What the plugin is; answers a `PluginInfo`.
    Describe,
    /// Makes a target; answers nothing.
    Create {
        target: u64,
        #[serde(with = "byte_string")]
        description: Vec<u8>,
    },
    /// Ends a target; answers nothing.
    Destroy { target: u64 },
    /// Requests pieces of the target's description; the answer is a `TargetInfo` with at least these pieces.
    Info {
        target: u64,
        #[serde(with = "byte_string")]
        request: Vec<u8>,
    },
    /// The layout of a family; a `FamilyRequest` is answered by a `FamilyAnswer`.
    Resolve {
        target: u64,
        #[serde(with = "byte_string")]
        request: Vec<u8>,
    },
    /// Code for a module; answers an artifact.
    Compile {
        target: u64,
        #[serde(with = "byte_string")]
        module: Vec<u8>,
        #[serde(with = "byte_string")]
        options: Vec<u8>,
    },
    /// Opens a target's devices as one set; answers `DeviceNames`. Sets are numbered as targets are.
    OpenDevices { target: u64, devices: u64 },
    /// Closes a set; answers nothing.
    CloseDevices { devices: u64 },
    /// A call of one device of a set; answers what the call says.
    Device { devices: u64, device: u32, call: DeviceCall },
}

impl Call {
    /// The target that it is made on.
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

    /// Whether it makes or ends a target, or reads its families and instructions: what takes neither a code generator
    /// nor a driver.
    pub(super) fn reads_tables(&self) -> bool {
        match self {
            Self::Describe | Self::Create { .. } | Self::Destroy { .. } | Self::Info { .. } | Self::Resolve { .. } => {
                true
            }
            Self::Compile { .. } | Self::OpenDevices { .. } | Self::CloseDevices { .. } | Self::Device { .. } => false,
        }
    }

    /// What the plugin is doing meanwhile, for messages.
    pub(super) fn doing(&self) -> &'static str {
        match self {
            Self::Describe => "being loaded",
            Self::Create { .. } => "making a target",
            Self::Destroy { .. } => "ending a target",
            Self::Info { .. } => "listing families and instructions",
            Self::Resolve { .. } => "resolving a layout family",
            Self::Compile { .. } => "compiling",
            Self::OpenDevices { .. } => "opening devices",
            Self::CloseDevices { .. } => "closing devices",
            Self::Device { call: DeviceCall::Load { .. }, .. } => "loading code",
            Self::Device { call: DeviceCall::Launch { .. }, .. } => "running a kernel",
            Self::Device { .. } => "at a device's memory",
        }
    }
}

/// Something that answers calls.
pub(super) trait Channel: Send + Sync {
    /// The plugin's library.
    fn file(&self) -> &Path;

    /// Makes a call; the bytes are what the call says that it answers.
    fn call(&self, call: Call) -> Result<Vec<u8>, PluginFailure>;
}
