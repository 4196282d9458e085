//! Output of kernel print operations.

use std::fmt;

use super::arithmetic::sign_extend;
use super::rounding::AccumulatorType;
use tilewright_kernel::Type;

/// The values that one lane prints in one execution of a print operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanePrintRecord {
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the warp in its block.
    pub warp: u32,
    /// Index of the lane in its warp.
    pub lane: u32,
    /// Text that is printed before the values.
    pub prefix: String,
    /// The values as text, a vector's elements in brackets.
    pub values: Vec<String>,
    /// The index of the values in their tensor; `None` if they belong to no tensor.
    pub index: Option<Vec<u32>>,
}

impl fmt::Display for LanePrintRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block: [x, y, z], warp, lane, prefix, values, index } = self;
        match index {
            // As Triton prints an element.
            Some(index) => {
                let index: Vec<String> = index.iter().map(u32::to_string).collect();
                write!(f, "pid ({x}, {y}, {z}) idx ({}){prefix}", index.join(", "))?;
            }
            None => write!(f, "block ({x}, {y}, {z}) warp {warp} lane {lane}: {prefix}")?,
        }
        f.write_str(&values.join(", "))
    }
}

/// A receiver of printed values. It is called once for each lane of a print operation, in the order of the lanes; warps
/// and blocks come in the order of execution, which is deterministic.
pub type PrintReceiver<'a> = dyn Fn(LanePrintRecord) + Sync + 'a;

/// Formats a value of type `ty` as text, in hexadecimal if `hex`; `elements` has the bits of each of its elements.
pub(super) fn written(ty: Type, hex: bool, elements: impl Iterator<Item = u64>) -> String {
    let one = |bits: u64| element_text(ty, hex, bits);
    match ty {
        Type::Vector(..) => format!("[{}]", elements.map(one).collect::<Vec<_>>().join(", ")),
        _ => elements.map(one).collect(),
    }
}

fn element_text(ty: Type, hex: bool, bits: u64) -> String {
    let Some(element) = ty.element().filter(|_| !hex) else {
        let digits = ty.element().map_or(ty.bits(), |element| element.bits()).div_ceil(4) as usize;
        return format!("0x{bits:0digits$x}");
    };
    match AccumulatorType::named(element.name()) {
        // A value of at most 32 bits is printed as an `f32`: it takes fewer digits to distinguish `f32` values than
        // `f64` values.
        Some(number) if element.bits() < 64 => (number.decode(bits) as f32).to_string(),
        Some(number) => number.decode(bits).to_string(),
        None if element.bits() == 1 => bits.to_string(),
        None => sign_extend(bits, element.bits()).to_string(),
    }
}
