//! The binary interface for reading a target's tables in pieces: the optional table `pieces`, chained to a plugin's
//! table. Follows the rules of [`abi`](crate::abi).

use std::mem::{offset_of, size_of};

use super::handles::{BlobHandle, ErrorHandle, Extension, Slice, TargetHandle};

/// The name under which a host finds the pieces table in the chain of optional tables.
pub const PIECE_TABLE_NAME: &str = "pieces";

/// Type of the table's only function, which returns the requested pieces of a target's tables.
pub type TargetPieces =
    unsafe extern "C" fn(target: *const TargetHandle, request: Slice, out: *mut *mut BlobHandle) -> *mut ErrorHandle;

/// Optional function that returns pieces of a target's tables (such as only its layout families or only its instruction
/// table), chained to a plugin's table under the name [`PIECE_TABLE_NAME`]. If a plugin lacks it, hosts read all of a
/// target's tables with `target_info`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PieceTable {
    /// Head of the struct: its size in bytes, the next optional table, and the name [`PIECE_TABLE_NAME`].
    pub extension: Extension,
    /// Returns the same message as [`target_info`](super::PluginTable::target_info); only the requested pieces must be
    /// present.
    pub target_pieces: Option<TargetPieces>,
}

/// The least valid `struct_size` of this table, in bytes.
pub const REQUIRED_PIECE_TABLE_SIZE: usize = offset_of!(PieceTable, target_pieces) + size_of::<usize>();

// SAFETY: as for the plugin's table: constants, and a function that may be called from any thread.
#[allow(unsafe_code)]
unsafe impl Sync for PieceTable {}

const _: () = assert!(offset_of!(PieceTable, target_pieces) == 4 * size_of::<usize>());
