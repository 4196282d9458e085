//! What must hold of any text and of any bytes that are read: one property for each reader.
//!
//! The fuzz targets of `framework/fuzz` call [`check`] with inputs that libFuzzer makes, on the nightly
//! toolchain; this crate's test calls it with the committed corpus ([`corpus`]) and with seeded changes of it
//! ([`mutation`]), on the stable one.
//!
//! May import the framework.

pub mod corpus;
mod cute_text;
mod kernel_bytes;
mod kernel_text;
mod layout_json;
mod layout_text;
pub mod mutation;
mod plugin_manifest;
mod plugin_messages;
mod target_toml;
mod tile_text;

/// What must hold of everything that one reader is given.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// The name of its fuzz target.
    pub name: &'static str,
    /// Panics where it does not hold.
    pub check: fn(&[u8]),
}

/// One for each fuzz target, in the order of their names.
pub const PROPERTIES: [Property; 9] = [
    Property { name: "cute_text", check: |bytes| cute_text::check(text(bytes)) },
    Property { name: "kernel_bytes", check: kernel_bytes::check },
    Property { name: "kernel_text", check: |bytes| kernel_text::check(text(bytes)) },
    Property { name: "layout_json", check: |bytes| layout_json::check(text(bytes)) },
    Property { name: "layout_text", check: |bytes| layout_text::check(text(bytes)) },
    Property { name: "plugin_manifest", check: plugin_manifest::check },
    Property { name: "plugin_messages", check: plugin_messages::check },
    Property { name: "target_toml", check: |bytes| target_toml::check(text(bytes)) },
    Property { name: "tile_text", check: |bytes| tile_text::check(text(bytes)) },
];

/// Checks the property of that name.
///
/// # Panics
/// Where it does not hold of `bytes`, or where there is no such property.
pub fn check(name: &str, bytes: &[u8]) {
    let Some(property) = PROPERTIES.iter().find(|property| property.name == name) else {
        panic!("no property is called {name}");
    };
    (property.check)(bytes);
}

/// The bytes as text, up to the first that are none.
fn text(bytes: &[u8]) -> &str {
    let end = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}
