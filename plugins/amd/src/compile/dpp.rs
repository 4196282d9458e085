//! Shuffles and swaps whose source lane is a constant xor of the lane index, without LDS: DPP moves within a row of 16
//! lanes, `v_permlanex16_b32` between the two rows of 32 lanes, and `v_permlane64_b32` between the halves of a wave of
//! 64.
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

/// All four banks of a row of 16 lanes; a bank is four neighbouring lanes.
const ALL_BANKS: u32 = 0xf;

impl XorShuffle {
    /// Emits the instruction and returns, in each lane, `value` of the source lane.
    pub(super) fn emit<'ctx>(
        self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        // No lane keeps its old value, because every source lane is valid.
        let old = value.get_type().get_poison();
        let (name, operands) = match self {
            Self::Dpp(control) => return emit_dpp(emit, control, ALL_BANKS, value, old),
            Self::OtherRow => {
                let [low, high] = [0x7654_3210, 0xfedc_ba98].map(|lanes| emit.i32(lanes));
                ("llvm.amdgcn.permlanex16", vec![old, value, low, high, emit.i1(false), emit.i1(false)])
            }
            Self::OtherHalf => ("llvm.amdgcn.permlane64", vec![value]),
        };
        emit_overloaded(emit, name, &operands)
    }
}

/// Emits the swap of the word `a` of the lanes whose index has the bit `lane` with the word `b` of the lanes without it:
/// each move leaves the banks without its lanes as they are. `None` if the banks of a row do not divide into such lanes,
/// or if no DPP control reads across them.
pub(super) fn emit_swap<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    [a, b]: [IntValue<'ctx>; 2],
    lane: u32,
    native_lanes: u32,
) -> Result<Option<[IntValue<'ctx>; 2]>, CompileError> {
    let (Some([from_below, from_above]), Some(above)) = (swap_controls(lane, native_lanes), banks_above(lane)) else {
        return Ok(None);
    };
    let swapped_a = emit_dpp(emit, from_below, above, b, a)?;
    Ok(Some([swapped_a, emit_dpp(emit, from_above, ALL_BANKS ^ above, a, b)?]))
}

/// Returns the DPP controls by which lanes whose index has the bit `lane` read the lanes without it, and the reverse.
fn swap_controls(lane: u32, native_lanes: u32) -> Option<[u32; 2]> {
    const ROW_SHIFT_LEFT: u32 = 0x100;
    const ROW_SHIFT_RIGHT: u32 = 0x110;
    match (across(lane, native_lanes), lane) {
        (Some(XorShuffle::Dpp(control)), _) => Some([control; 2]),
        (None, 4) => Some([ROW_SHIFT_RIGHT | lane, ROW_SHIFT_LEFT | lane]),
        _ => None,
    }
}

/// Returns the banks (operand `bank_mask`) of the lanes of a row whose index has the bit `lane`; `None` if these lanes are
/// no whole banks.
fn banks_above(lane: u32) -> Option<u32> {
    match lane {
        4 => Some(0b1010),
        8 => Some(0b1100),
        _ => None,
    }
}

/// Emits a DPP move of `value` in the lanes of some `banks`; the others keep `old`.
fn emit_dpp<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    control: u32,
    banks: u32,
    value: IntValue<'ctx>,
    old: IntValue<'ctx>,
) -> Result<IntValue<'ctx>, CompileError> {
    let (all_rows, bound_control) = (emit.i32(0xf), emit.i1(banks == ALL_BANKS));
    let operands = [old, value, emit.i32(control), all_rows, emit.i32(banks), bound_control];
    emit_overloaded(emit, "llvm.amdgcn.update.dpp", &operands)
}

/// Emits an intrinsic that is overloaded by the type of its first operand.
fn emit_overloaded<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    name: &str,
    operands: &[IntValue<'ctx>],
) -> Result<IntValue<'ctx>, CompileError> {
    let types: Vec<_> = operands.iter().take(1).map(|value| value.get_type().into()).collect();
    let operands: Vec<_> = operands.iter().map(|value| value.as_basic_value_enum()).collect();
    emit.expect_integer_result(name, emit.call_intrinsic(name, &types, &operands)?)
}
