//! Types that every call across the plugin boundary uses: bytes, opaque handles, and the head of an optional table.

use std::mem::{offset_of, size_of};

/// Borrowed bytes; `data` may be null if `length` is zero.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// Pointer to the first byte.
    pub data: *const u8,
    /// Number of bytes from `data` on.
    pub length: usize,
}

/// Head of an optional table of functions. Optional tables form a chain, and a reader finds one by its name.
///
/// The name `devices` marks a [`DeviceTable`](super::DeviceTable); the name `pieces` marks a
/// [`PieceTable`](super::PieceTable). Readers skip unknown names.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Extension {
    /// Size in bytes of the whole optional table, which begins with this head.
    pub struct_size: usize,
    /// The next optional table of the chain, or null.
    pub next: *const Extension,
    /// The name of the optional table, UTF-8.
    pub name: Slice,
}

/// A target (one GPU model) that a plugin owns; opaque to the host.
#[repr(C)]
#[derive(Debug)]
pub struct TargetHandle {
    private: [u8; 0],
}

/// Bytes that a plugin owns; opaque to the host.
#[repr(C)]
#[derive(Debug)]
pub struct BlobHandle {
    private: [u8; 0],
}

/// An error that a plugin owns; opaque to the host.
#[repr(C)]
#[derive(Debug)]
pub struct ErrorHandle {
    private: [u8; 0],
}

impl Slice {
    /// A slice of no bytes.
    pub const EMPTY: Self = Self { data: std::ptr::null(), length: 0 };

    /// A slice that borrows the given bytes; the receiver may read it as long as they live.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), length: bytes.len() }
    }
}

const WORD: usize = size_of::<usize>();

// Fields keep their offsets of version 1.0.
const _: () = assert!(offset_of!(Slice, data) == 0 && offset_of!(Slice, length) == WORD);
const _: () = assert!(offset_of!(Extension, struct_size) == 0 && offset_of!(Extension, next) == WORD);
const _: () = assert!(offset_of!(Extension, name) == 2 * WORD);
