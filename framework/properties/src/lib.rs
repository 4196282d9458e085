//! What must hold of any text and of any bytes that are read: one property for each reader.
//!
//! The fuzz targets of `framework/fuzz` call them with inputs that libFuzzer makes, on the nightly
//! toolchain; this crate's test calls them with the committed corpus ([`corpus`]) and with seeded changes of it
//! ([`mutation`]), on the stable one.
//!
//! May import the framework.

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

/// What must hold of everything that one reader is given.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// The name of its fuzz target.
    pub name: &'static str,
    /// Panics where it does not hold.
    pub check: fn(&[u8]),
}

macro_rules! properties {
    ($($name:ident)*) => {
        /// One for each fuzz target, in the order of their names.
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

/// The bytes as text, up to the first that are none.
fn text(bytes: &[u8]) -> &str {
    let end = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}
