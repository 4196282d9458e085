//! The traits that vendors implement, and the plugin boundary.
//!
//! A plugin is a shared library that serves targets (GPU models) through a table of C functions ([`abi`]). The author
//! of a plugin writes a library crate that registers a [`TargetFactory`] with
//! [`register_targets!`](crate::register_targets), and a crate of type `cdylib` that calls
//! [`export_plugin!`](crate::export_plugin); or writes the plugin in C, from `include/tilewright_plugin.h`. A host
//! requests targets from a [`Registry`] and cannot distinguish plugins linked into the program from loaded ones,
//! whether they run in this process or in another ([`serve_plugin`]). The same holds for their devices.
//! `docs/plugin-abi.md` has the rules.
//!
//! Contract: a plugin that panics, gives wrong answers or has another version causes an error; so does one in another
//! process that aborts or hangs. Nothing unwinds across the boundary, and no library is ever closed.

pub mod abi;
mod artifact;
mod bytes;
mod channel;
mod child_process;
mod claims;
pub mod codegen;
mod device;
mod devices;
mod discovery;
mod export;
mod exported_handles;
mod extensions;
mod external_tool;
mod factory;
mod factory_error;
mod failure;
mod frame;
mod functions;
mod handles;
mod host;
mod image;
mod isolated;
mod issue;
mod library;
mod listener;
mod load_error;
mod manifest;
mod message;
mod open_target;
mod plugin_functions;
mod proxy;
mod registry;
mod remote;
mod vendor;
mod vendor_target;
pub mod wire;

pub use artifact::{Artifact, CodeFormat, CodePayload, CompileOptions, KernelMetadata, TensorMapParameter};
pub use child_process::{ChildEvent, ChildExit, ChildProcess};
pub use device::{
    Device, DeviceBufferId, DeviceError, LaunchArgument, LaunchGrid, LaunchRequest, LaunchStats, LoadedCodeId,
    SectorCounts,
};
pub use discovery::{DEBUG_VARIABLE, PATH_VARIABLE, PluginSearchPath};
pub use export::connect_plugin_to_host;
pub use external_tool::{ExternalTool, ToolError};
pub use factory::TargetFactory;
pub use factory_error::FactoryError;
pub use failure::{ErrorCode, SerializedError};
pub use handles::DeviceObjectMap;
pub use host::{serve_plugin, serve_plugin_on_streams};
pub use isolated::PluginHostCommand;
pub use issue::{check_module_tensor_maps, find_and_check_instruction};
pub use listener::{LogLevel, PluginMessageListener, log, report_progress, set_plugin_message_listener, with_listener};
pub use load_error::LoadError;
pub use manifest::{MANIFEST_SUFFIX, PluginManifest};
pub use message::read_as_every_message;
pub use registry::{PluginOrigin, RegisteredPlugin, Registry, RegistryError, RejectedPlugin, ShadowedPlugin};
pub use vendor::{
    InstructionGroup, TablesOnly, VendorBackend, VendorTables, VendorTarget, concatenate_instruction_groups,
};
pub use vendor_target::{CompileError, Target};

/// The crates that a plugin needs, re-exported so that it depends on this crate alone.
pub use {tilewright_kernel as kernel, tilewright_layout as layout, tilewright_target as target};

/// The crate that [`register_targets!`](crate::register_targets) uses, re-exported for plugins.
pub use inventory;
