//! Factors of products in shared memory, for every instruction that reads them there.
//!
//! Canonical layouts: rows of 16, 32, 64 or 128 bytes along K ("K-major") or along the other axis ("MN-major"), eight of
//! which are a block that repeats by strides that the descriptor says.
//!
//! Source: PTX ISA, "Shared Memory Layout" and "Matrix Descriptor Format".

use tilewright_target::{CanonicalLayout, Descriptor, Field, MemoryOperand, Step, Stride};

use super::swizzle;

/// Numbers of the descriptor's strides.
const LEADING: u32 = 0;
const STRIDE: u32 = 1;

/// Where a factor lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Not in shared memory: in registers or in tensor memory.
    Held,
    /// In shared memory, K contiguous.
    AlongK,
    /// In shared memory, the other axis contiguous.
    AcrossK,
}

pub(super) fn bits(element: &str) -> u32 {
    match element {
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "e2m1" => 4,
        "b1" => 1,
        _ => 8,
    }
}

/// How an instruction is told where a factor lies: the mode of each width of swizzle is its own.
pub(super) struct Told {
    pub descriptor: Descriptor,
    pub mode: fn(u64) -> u64,
}

/// A factor in shared memory.
pub(super) fn memory(role: &str, element: &str, shape: [u64; 2], side: Side, told: &Told) -> MemoryOperand {
    let k_axis = if role == "a" { 1 } else { 0 };
    let (k, other) = (shape[k_axis], shape[1 - k_axis]);
    let bits = bits(element);
    let widths = swizzle::WIDTHS.into_iter().map(u64::from);
    let arrangement = |width: u64| {
        let (along_k, across) = match side {
            Side::AcrossK => across_k(width, u64::from(bits / 8), k, other),
            _ => along_k(width, u64::from(bits), k, other),
        };
        let axes = if k_axis == 0 { [along_k, across] } else { [across, along_k] };
        CanonicalLayout {
            name: swizzle::name(width as u32),
            mode: (told.mode)(width),
            axes,
            mix: swizzle::mix(width as u32),
            alignment: swizzle::repeat(width as u32),
        }
    };
    MemoryOperand {
        role: role.to_owned(),
        element: element.to_owned(),
        bits,
        shape,
        // Across K, the tile is of whole rows of the swizzle.
        arrangements: widths
            .filter(|width| side == Side::AlongK || (other * u64::from(bits / 8)).is_multiple_of((*width).max(16)))
            .map(arrangement)
            .collect(),
        descriptor: told.descriptor.clone(),
    }
}

/// The matrix descriptor: addresses and offsets without their lowest four bits. Where the mode stands, and what is always
/// set, is the instruction's.
pub(super) fn descriptor(mode: Field, fixed: u64) -> Descriptor {
    let bytes = |at| Field { at, width: 14, grain: 16 };
    Descriptor { bits: 64, start: bytes(0), strides: vec![bytes(16), bytes(32)], mode, fixed }
}

fn fixed(count: u64, bytes: u64) -> Step {
    Step { count, stride: Stride::Bytes(bytes) }
}

fn free(count: u64, field: u32) -> Step {
    Step { count, stride: Stride::Free(field) }
}

/// Elements side by side: those of a byte first where they are narrower.
fn side_by_side(count: u64, bits: u64) -> Vec<Step> {
    let shared = 8 / bits.min(8);
    let within = (shared > 1).then(|| fixed(shared, 0));
    within.into_iter().chain([fixed(count / shared, bits.div_ceil(8))]).collect()
}

/// Steps along K and across it, of rows along K.
fn along_k(width: u64, bits: u64, k: u64, other: u64) -> (Vec<Step>, Vec<Step>) {
    let unit = 128 / bits;
    match width {
        0 => {
            let along = side_by_side(unit, bits).into_iter().chain([free(k / unit, LEADING)]);
            (along.collect(), vec![fixed(8, 16), free(other / 8, STRIDE)])
        }
        _ => (side_by_side(k, bits), vec![fixed(8, width), free(other / 8, STRIDE)]),
    }
}

/// Steps along K and across it, of rows across K.
fn across_k(width: u64, bytes: u64, k: u64, other: u64) -> (Vec<Step>, Vec<Step>) {
    let row = width.max(16) / bytes;
    match width {
        0 => (vec![fixed(8, 16), free(k / 8, LEADING)], vec![fixed(row, bytes), free(other / row, STRIDE)]),
        _ => (vec![fixed(8, width), free(k / 8, STRIDE)], vec![fixed(row, bytes), free(other / row, LEADING)]),
    }
}
