//! How units of 16 bytes are permuted in shared memory, for products of four warps and for bulk copies alike: rows of
//! 32, 64 or 128 bytes, in which the number of a unit is changed by the number of the 128 bytes.
//!
//! Source: PTX ISA, "Shared Memory Layout" and "Swizzling modes" of tensors; CUTLASS calls them `Swizzle<B, 4, 3>`.

use tilewright_target::XorSwizzle;

/// Bytes of the rows that are swizzled, the widest first; zero for none.
pub(super) const WIDTHS: [u32; 4] = [128, 64, 32, 0];

/// The permutation of rows of so many bytes.
pub(super) fn mix(width: u32) -> XorSwizzle {
    XorSwizzle { shift: 3, mask: u64::from(width.max(16) / 16 - 1) << 4 }
}

/// Bytes after which the permutations repeat, at a multiple of which memory begins.
pub(super) fn repeat(width: u32) -> u32 {
    8 * width.max(16)
}

/// What it is called.
pub(super) fn name(width: u32) -> String {
    if width == 0 { "no swizzle".to_owned() } else { format!("swizzle of {width} bytes") }
}
