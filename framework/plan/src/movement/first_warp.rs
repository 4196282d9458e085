//! Code that only one warp of a block, or of a group of warps, executes.

use tilewright_kernel::{Binary, Builder, Compare, SpecialRegister};

/// Emits `body` so that only the first warp of the block executes it or, if `of` is given, the first of every `of`
/// warps (a power of two).
pub fn emit_on_first_warp(builder: &mut Builder, of: Option<u32>, body: impl FnOnce(&mut Builder)) {
    let mut warp = builder.special(SpecialRegister::Warp);
    if let Some(warps) = of {
        warp = builder.binary_const(Binary::And, warp, warps - 1);
    }
    let zero = builder.i32(0);
    let is_first = builder.compare(Compare::Eq, warp, zero);
    builder.if_then(Some(is_first), body);
}
