//! The traits behind which vendors' code lives, and the plugin boundary.
//!
//! A plugin is a shared library that serves targets behind a table of C functions ([`abi`]). Its
//! author writes a library crate that registers a [`TargetFactory`] with
//! [`register_targets!`](crate::register_targets), and beside it a crate of type `cdylib` that
//! calls [`export_plugin!`](crate::export_plugin); or writes it in C, from
//! `include/tilewright_plugin.h`. A host asks a [`Registry`] for targets and cannot tell plugins
//! that are linked in from those that were loaded, here or in a process of their own ([`serve`]).
//! Their devices come the same ways.
//! `docs/plugin-abi.md` has the rules.
//!
//! Contract: a plugin that panics, lies or is of another version gives an error, and so does one
//! that aborts or hangs where it is isolated. Nothing unwinds across the boundary, and no library
//! is ever closed.

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
mod extensions;
mod external_tool;
mod factory;
mod factory_error;
mod failure;
mod frame;
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
mod plugin_slots;
mod proxy;
mod registry;
mod slots;
mod vendor;
mod vendor_target;
pub mod wire;

pub use artifact::{Artifact, CompileOptions, Emit, EncodedMap, KernelMetadata, Payload};
pub use child_process::{ChildEnd, ChildEvent, ChildProcess};
pub use device::{
    Device, DeviceBuffer, DeviceError, LaunchArgument, LaunchGrid, LaunchRequest, Launched, LoadedCode, Sectors,
};
pub use discovery::{DEBUG_VARIABLE, Discovery, PATH_VARIABLE};
pub use export::query;
pub use external_tool::{ExternalTool, ToolError};
pub use factory::TargetFactory;
pub use factory_error::FactoryError;
pub use failure::{ErrorCode, PluginFailure};
pub use handles::HandleTable;
pub use host::{serve, serve_streams};
pub use isolated::HostCommand;
pub use issue::{check_maps, issued_row};
pub use listener::{Listener, LogLevel, listen, listening, log, progress};
pub use load_error::LoadError;
pub use manifest::{MANIFEST_SUFFIX, Manifest};
pub use message::read_every_message;
pub use registry::{Duplicate, Plugin, PluginOrigin, RefusedPlugin, Registry, RegistryError};
pub use vendor::{TablePart, Vendor, VendorTarget, instruction_table};
pub use vendor_target::{CompileError, Target};

/// The layers that a plugin is written with, so that it depends on this crate alone.
pub use {tilewright_kernel as kernel, tilewright_layout as layout, tilewright_target as target};

/// The crate behind [`register_targets!`](crate::register_targets), so that plugins need not name it.
pub use inventory;
