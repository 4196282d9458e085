//! Properties that every parser of the framework must have for arbitrary text and bytes.
//!
//! The fuzz targets of `framework/fuzz` check the properties on inputs from libFuzzer, with a nightly toolchain. The
//! test of this crate checks them on the committed corpus ([`corpus`]) and on seeded mutations of it ([`mutation`]),
//! with the stable toolchain.
//!
//! This crate may depend on all crates of the framework.

pub mod corpus;
pub mod cute_text;
pub mod kernel_bytes;
pub mod kernel_text;
pub mod layout_json;
pub mod layout_text;
pub mod mutation;
pub mod plugin_manifest;
pub mod plugin_messages;
pub mod target_toml;
pub mod tile_text;

/// A property of one parser; the fuzz target of the same name checks it.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// Name of the fuzz target, e.g. `cute_text`.
    pub name: &'static str,
    /// Checks the property on one input; panics if it does not hold.
    pub check: fn(&[u8]),
}

macro_rules! properties {
    ($($name:ident)*) => {
        /// The properties of all fuzz targets, in alphabetical order of their names.
        pub const PROPERTIES: &[Property] = &[$(Property { name: stringify!($name), check: $name::check }),*];
    };
}

properties! {
    cute_text
    kernel_bytes
    kernel_text
    layout_json
    layout_text
    plugin_manifest
    plugin_messages
    target_toml
    tile_text
}

/// Returns the longest prefix of `bytes` that is valid UTF-8, for parsers that take text.
fn text(bytes: &[u8]) -> &str {
    let end = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}
