//! The binary interface of the extension `pieces`. Follows the rules of [`abi`](crate::abi).

use std::mem::{offset_of, size_of};

use super::handles::{BlobHandle, ErrorHandle, Extension, Slice, TargetHandle};

/// The extension's name.
pub const PIECES: &str = "pieces";

/// The slot of the extension.
pub type TargetPieces =
    unsafe extern "C" fn(target: *const TargetHandle, request: Slice, out: *mut *mut BlobHandle) -> *mut ErrorHandle;

/// The pieces of a target's description: the struct that begins with the extension of the name [`PIECES`]. From a plugin
/// without it, hosts read the whole description at once.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PieceTable {
    /// Size of the whole struct, next extension, name.
    pub extension: Extension,
    /// As `target_info`, but only the pieces that the request names need be there.
    pub target_pieces: Option<TargetPieces>,
}

/// The least `struct_size`, in bytes.
pub const REQUIRED_PIECE_TABLE_SIZE: usize = offset_of!(PieceTable, target_pieces) + size_of::<usize>();

// SAFETY: as that of the plugin's table: constants, and a slot that may be called from any thread.
#[allow(unsafe_code)]
unsafe impl Sync for PieceTable {}

const _: () = assert!(offset_of!(PieceTable, target_pieces) == 4 * size_of::<usize>());
