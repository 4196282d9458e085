//! MMA operands in shared memory, which the instruction reads through a matrix descriptor.
//!
//! In a canonical layout, rows of 16, 32, 64 or 128 bytes go along K ("K-major") or along the other axis ("MN-major").
//! Eight rows form a block; the descriptor's strides give the distances of the blocks.
//!
//! Source: PTX ISA, "Shared Memory Layout" and "Matrix Descriptor Format".

use tilewright_target::{
    CanonicalLayout, CanonicalLayoutStride, CanonicalMode, DescriptorField, DescriptorFormat, MemoryOperand,
};

use super::swizzle;

/// Indices of the descriptor's two stride fields: leading dimension byte offset (`LEADING`), stride dimension byte
/// offset.
const LEADING: u32 = 0;
const STRIDE: u32 = 1;

/// Whether an MMA operand is in shared memory and, if it is, the axis along which it is contiguous.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandLocation {
    /// Not in shared memory: in registers or in tensor memory.
    NotShared,
    /// In shared memory, contiguous along K (K-major).
    KMajor,
    /// In shared memory, contiguous along the other axis (MN-major).
    MnMajor,
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

/// The descriptor format of an instruction, and the value of its swizzle field for each swizzle width in bytes.
pub(super) struct DescriptorEncoding {
    pub descriptor: DescriptorFormat,
    pub mode: fn(u64) -> u64,
}

/// Returns the operand with the role `role` ("a" or "b") in shared memory, with all canonical layouts that the
/// instruction accepts. `shape` is the tile's number of rows and columns; `side` is the operand's majorness.
pub(super) fn memory(
    role: &str,
    element: &str,
    shape: [u64; 2],
    side: OperandLocation,
    encoding: &DescriptorEncoding,
) -> MemoryOperand {
    let k_axis = if role == "a" { 1 } else { 0 };
    let (k, other) = (shape[k_axis], shape[1 - k_axis]);
    let bits = bits(element);
    let widths = swizzle::WIDTHS.into_iter().map(u64::from);
    let canonical_layout = |width: u64| {
        let (along_k, across) = match side {
            OperandLocation::MnMajor => across_k(width, u64::from(bits / 8), k, other),
            _ => along_k(width, u64::from(bits), k, other),
        };
        let axes = if k_axis == 0 { [along_k, across] } else { [across, along_k] };
        CanonicalLayout {
            name: swizzle::name(width as u32),
            mode: (encoding.mode)(width),
            axes,
            swizzle: swizzle::swizzle(width as u32),
            alignment: swizzle::repeat(width as u32),
        }
    };
    MemoryOperand {
        role: role.to_owned(),
        element: element.to_owned(),
        bits,
        shape,
        // An MN-major tile consists of complete rows as wide as the swizzle.
        layouts: widths
            .filter(|width| {
                side == OperandLocation::KMajor || (other * u64::from(bits / 8)).is_multiple_of((*width).max(16))
            })
            .map(canonical_layout)
            .collect(),
        descriptor: encoding.descriptor.clone(),
    }
}

/// Returns the format of a 64-bit matrix descriptor, which stores addresses and strides in units of 16 bytes. `mode` is
/// the bit field of the swizzle mode; `fixed` has the bits that are constant for the instruction.
pub(super) fn descriptor(mode: DescriptorField, fixed: u64) -> DescriptorFormat {
    let bytes = |at| DescriptorField { at, width: 14, granularity: 16 };
    DescriptorFormat { bits: 64, start: bytes(0), strides: vec![bytes(16), bytes(32)], mode, fixed }
}

fn fixed(count: u64, bytes: u64) -> CanonicalMode {
    CanonicalMode { count, stride: CanonicalLayoutStride::Bytes(bytes) }
}

fn free(count: u64, field: u32) -> CanonicalMode {
    CanonicalMode { count, stride: CanonicalLayoutStride::Field(field) }
}

/// Returns the steps (count and distance in bytes) over `count` adjacent elements of `bits` bits. For elements narrower
/// than a byte, the first step goes over the elements that share a byte.
fn side_by_side(count: u64, bits: u64) -> Vec<CanonicalMode> {
    let shared = 8 / bits.min(8);
    let within = (shared > 1).then(|| fixed(shared, 0));
    within.into_iter().chain([fixed(count / shared, bits.div_ceil(8))]).collect()
}

/// Returns the steps along K, and the steps along M or N, of the K-major layout with this swizzle width in bytes. `k`
/// and `other` are the sizes of the tile along these axes.
fn along_k(width: u64, bits: u64, k: u64, other: u64) -> (Vec<CanonicalMode>, Vec<CanonicalMode>) {
    let unit = 128 / bits;
    match width {
        0 => {
            let along = side_by_side(unit, bits).into_iter().chain([free(k / unit, LEADING)]);
            (along.collect(), vec![fixed(8, 16), free(other / 8, STRIDE)])
        }
        _ => (side_by_side(k, bits), vec![fixed(8, width), free(other / 8, STRIDE)]),
    }
}

/// Returns the steps along K, and the steps along M or N, of the MN-major layout with this swizzle width in bytes.
/// Elements have `bytes` bytes; `k` and `other` are the sizes of the tile along these axes.
fn across_k(width: u64, bytes: u64, k: u64, other: u64) -> (Vec<CanonicalMode>, Vec<CanonicalMode>) {
    let row = width.max(16) / bytes;
    match width {
        0 => (vec![fixed(8, 16), free(k / 8, LEADING)], vec![fixed(row, bytes), free(other / row, STRIDE)]),
        _ => (vec![fixed(8, width), free(k / 8, STRIDE)], vec![fixed(row, bytes), free(other / row, LEADING)]),
    }
}
