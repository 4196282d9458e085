//! Shuffles whose source lane is a constant xor of the lane index, without LDS: DPP moves within a row of 16 lanes, and
//! permutes between the two rows of a half wave.
//!
//! The DPP controls are those of LLVM's AMDGPU usage guide and of AMD's ISA references.

use tilewright_llvm::Emitter;
use tilewright_llvm::values::{BasicValue, IntValue};

use tilewright_plugin::CompileError;

/// The instruction of a xor shuffle: lane `i` reads from lane `i ^ mask`, for a constant mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum XorShuffle {
    /// A move with this DPP control (`dpp_ctrl`), within a row of 16 lanes.
    Dpp(u32),
    /// `v_permlanex16_b32`: lane `i` of a row reads lane `i` of the other row.
    OtherRow,
    /// `v_permlane64_b32`: each half of a wave of 64 reads the other half.
    OtherHalf,
}

/// Selects the instruction of a shuffle from lane `i ^ mask`; `None` if only an indexed shuffle through LDS can do it.
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
    /// Emits the instruction: each lane gets `value` of its source lane.
    pub(super) fn emit<'ctx>(
        self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let ty = value.get_type();
        // Every lane reads a lane of its own row, so the old value does not matter.
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
