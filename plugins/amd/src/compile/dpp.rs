//! Shuffles whose source lane is a constant xor of the lane index, without LDS: DPP moves within a row of 16 lanes,
//! `v_permlanex16_b32` between the two rows of 32 lanes, and `v_permlane64_b32` between the halves of a wave of 64.
//!
//! The DPP controls are those of LLVM's AMDGPU usage guide and of AMD's ISA references.

use tilewright_llvm::Emitter;
use tilewright_llvm::values::{BasicValue, IntValue};

use tilewright_plugin::CompileError;

/// The instruction for a shuffle by a constant mask: lane `i` reads from lane `i ^ mask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum XorShuffle {
    /// A move with this DPP control (operand `dpp_ctrl`), which reads within a row of 16 lanes.
    Dpp(u32),
    /// `v_permlanex16_b32`: each lane reads the same lane of the other row of 16 in its group of 32 lanes.
    OtherRow,
    /// `v_permlane64_b32`: each lane of a wave of 64 reads the same lane of the other half.
    OtherHalf,
}

/// Selects the instruction by which lane `i` reads lane `i ^ mask`; `None` if the shuffle must go through LDS.
/// Processors with 32 native lanes have a DPP control for every xor within a row of 16 (`row_xmask`). Processors with
/// 64 native lanes have only xors within four lanes (`quad_perm`), mirrors of rows and half rows, and the rotation by
/// half a row.
pub(super) fn across(mask: u32, native_lanes: u32) -> Option<XorShuffle> {
    let quad = (0..4).map(|lane| (lane ^ mask) << (2 * lane)).sum::<u32>();
    match (mask, native_lanes) {
        (1..=3, _) => Some(XorShuffle::Dpp(quad)),
        (4..=15, 32) => Some(XorShuffle::Dpp(0x160 | mask)),
        (16, 32) => Some(XorShuffle::OtherRow),
        (32, 32) => Some(XorShuffle::OtherHalf),
        (7, _) => Some(XorShuffle::Dpp(0x141)),
        (8, _) => Some(XorShuffle::Dpp(0x128)),
        (15, _) => Some(XorShuffle::Dpp(0x140)),
        _ => None,
    }
}

impl XorShuffle {
    /// Emits the instruction and returns, in each lane, `value` of the source lane.
    pub(super) fn emit<'ctx>(
        self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let ty = value.get_type();
        // No lane keeps its old value, because every source lane is valid.
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
        emit.expect_integer_result(name, emit.call_intrinsic(name, &[ty.into()], &operands)?)
    }
}
