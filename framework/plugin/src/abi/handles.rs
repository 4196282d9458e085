//! Types of every call across the boundary: bytes, opaque handles, and the head of an extension.

use std::mem::{offset_of, size_of};

/// Bytes that somebody else owns; `data` may be null where `length` is zero.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// The first byte.
    pub data: *const u8,
    /// How many.
    pub length: usize,
}

/// An optional group of slots, found by name; tables hold the first of a chain.
///
/// `devices` is a [`DeviceTable`](super::DeviceTable), `pieces` a [`PieceTable`](super::PieceTable). Readers skip names that they do not know.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Extension {
    /// Size of the struct that begins here, in bytes.
    pub struct_size: usize,
    /// The next extension, or null.
    pub next: *const Extension,
    /// Its name, UTF-8.
    pub name: Slice,
}

/// A target that a plugin made; opaque.
#[repr(C)]
#[derive(Debug)]
pub struct TargetHandle {
    private: [u8; 0],
}

/// Bytes that a plugin made; opaque.
#[repr(C)]
#[derive(Debug)]
pub struct BlobHandle {
    private: [u8; 0],
}

/// An error that a plugin made; opaque.
#[repr(C)]
#[derive(Debug)]
pub struct ErrorHandle {
    private: [u8; 0],
}

impl Slice {
    /// No bytes.
    pub const EMPTY: Self = Self { data: std::ptr::null(), length: 0 };

    /// The given bytes; the receiver may use them as long as they live.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), length: bytes.len() }
    }
}

const WORD: usize = size_of::<usize>();

// Fields lie where version 1.0 put them.
const _: () = assert!(offset_of!(Slice, data) == 0 && offset_of!(Slice, length) == WORD);
const _: () = assert!(offset_of!(Extension, struct_size) == 0 && offset_of!(Extension, next) == WORD);
const _: () = assert!(offset_of!(Extension, name) == 2 * WORD);
