//! Exchanges by a constant xor of the lane index, without the path of shared memory: moves whose source is
//! another lane of the row of 16 (DPP), and permutes between the two rows of a half.
//!
//! The controls of DPP are those of the LLVM AMDGPU usage and of AMD's ISA references.

use tilewright_llvm::Emitter;
use tilewright_llvm::values::{BasicValue, IntValue};

use tilewright_plugin::CompileError;

/// How lanes reach the lane that differs by a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Across {
    /// A move with a DPP control.
    Dpp(u32),
    /// `v_permlanex16_b32`: lane `i` of a row reads lane `i` of the other row.
    OtherRow,
    /// `v_permlane64_b32`: each half of a warp of 64 reads the other.
    OtherHalf,
}

/// How lanes that differ by `mask` exchange; `None` where only an index names them. Processors whose
/// registers have 32 lanes have a control for every xor within a row (`row_xmask`); those of 64 lanes
/// have quads (`quad_perm`), mirrors of rows and half rows, and the rotation by half a row.
pub(super) fn across(mask: u32, native_lanes: u32) -> Option<Across> {
    let quad = (0..4).map(|lane| (lane ^ mask) << (2 * lane)).sum::<u32>();
    match (mask, native_lanes) {
        (1..=3, _) => Some(Across::Dpp(quad)),
        (4..=15, 32) => Some(Across::Dpp(0x160 | mask)),
        (16, 32) => Some(Across::OtherRow),
        (32, 32) => Some(Across::OtherHalf),
        (7, _) => Some(Across::Dpp(0x141)),
        (8, _) => Some(Across::Dpp(0x128)),
        (15, _) => Some(Across::Dpp(0x140)),
        _ => None,
    }
}

impl Across {
    /// What the lane across holds of `value`.
    pub(super) fn emit<'ctx>(
        self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let ty = value.get_type();
        // Every lane reads a lane of its own row, so that nothing of the old value is left.
        let old = ty.get_poison();
        let (name, operands) = match self {
            Self::Dpp(control) => {
                let all = emit.i32(0xf);
                ("llvm.amdgcn.update.dpp", vec![old, value, emit.i32(control), all, all, emit.i1(true)])
            }
            Self::OtherRow => {
                let [low, high] = [0x7654_3210, 0xfedc_ba98].map(|lanes| emit.i32(lanes));
                ("llvm.amdgcn.permlanex16", vec![old, value, low, high, emit.i1(false), emit.i1(false)])
            }
            Self::OtherHalf => ("llvm.amdgcn.permlane64", vec![value]),
        };
        let operands: Vec<_> = operands.iter().map(|value| value.as_basic_value_enum()).collect();
        emit.integer(name, emit.call(name, &[ty.into()], &operands)?)
    }
}
