//! Opcodes of the OpenCL extended instructions that this plugin emits (OpenCL Extended Instruction Set Specification).

use rspirv::spirv::Word;

pub(super) const CEIL: Word = 12;
pub(super) const EXP2: Word = 20;
pub(super) const FABS: Word = 23;
pub(super) const FLOOR: Word = 25;
pub(super) const FMA: Word = 26;
pub(super) const FMAX: Word = 27;
pub(super) const FMIN: Word = 28;
pub(super) const LOG2: Word = 38;
pub(super) const RINT: Word = 53;
pub(super) const RSQRT: Word = 56;
pub(super) const SQRT: Word = 61;
pub(super) const TRUNC: Word = 66;
pub(super) const CLZ: Word = 151;
pub(super) const S_MUL_HI: Word = 160;
pub(super) const POPCOUNT: Word = 166;
pub(super) const U_MUL_HI: Word = 203;
