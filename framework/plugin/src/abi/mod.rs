//! The binary interface: the C structs and error codes that a host and a plugin share.
//!
//! Only scalars, (pointer, length) pairs and function pointers cross. Every table of functions begins with its size in
//! bytes (`struct_size`) and a pointer to optional tables. Fields are only ever appended, and a reader accesses a field
//! only if `struct_size` covers it.
//! `include/tilewright_plugin.h` is the same interface in C; a test compares the two.

mod device_table;
mod handles;
mod piece_table;
mod plugin_table;

pub use device_table::{DEVICE_TABLE_NAME, DeviceTable, DevicesHandle, REQUIRED_DEVICE_TABLE_SIZE};
pub use handles::{BlobHandle, ErrorHandle, Extension, Slice, TargetHandle};
pub use piece_table::{PIECE_TABLE_NAME, PieceTable, REQUIRED_PIECE_TABLE_SIZE, TargetPieces};
pub use plugin_table::{
    ABI_MAJOR, ABI_MINOR, ENTRY_SYMBOL, HostTable, PluginTable, QueryFunction, REQUIRED_TABLE_SIZE,
};
