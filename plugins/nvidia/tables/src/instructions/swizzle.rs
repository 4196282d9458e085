//! XOR swizzles of 16-byte chunks in shared memory, for warpgroup MMAs and bulk tensor copies. In rows of 32, 64 or 128
//! bytes, the index of the 128-byte line that contains a row permutes the row's chunks.
//!
//! Source: PTX ISA, "Shared Memory Layout" and "Swizzling modes" of tensors; CuTe calls them `Swizzle<B, 4, 3>`.

use tilewright_target::XorSwizzle;

/// Widths of the swizzled rows in bytes, the widest first; zero stands for no swizzle.
pub(super) const WIDTHS: [u32; 4] = [128, 64, 32, 0];

/// Returns the swizzle of rows of `width` bytes.
pub(super) fn swizzle(width: u32) -> XorSwizzle {
    XorSwizzle { shift: 3, mask: u64::from(width.max(16) / 16 - 1) << 4 }
}

/// Returns the period in bytes after which the swizzle repeats; the memory must be aligned to it.
pub(super) fn repeat(width: u32) -> u32 {
    8 * width.max(16)
}

/// Returns the display name of the swizzle of this width in bytes.
pub(super) fn name(width: u32) -> String {
    if width == 0 { "no swizzle".to_owned() } else { format!("swizzle of {width} bytes") }
}
