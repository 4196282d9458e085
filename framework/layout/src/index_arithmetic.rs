//! Integer arithmetic that computes a layout on index values of a kernel, such as the lane index, in any IR.
//!
//! A layout is a matrix over F2. Its product with an index is an xor of masked and shifted copies of the index: columns
//! with an equal distance between input and output bit share one mask and one shift, so a layout that moves groups of
//! bits costs three operations for each group.

use smallvec::SmallVec;

use crate::f2::multiply_vector;

use super::{Dim, LayoutError, LinearLayout};

/// A builder of integer operations in a caller's IR; [`apply_layout`] emits through it.
///
/// Values are unsigned integers wide enough for the layout's coordinates.
pub trait IndexBuilder {
    /// A value of the IR.
    type Value: Clone;

    /// Emits a constant.
    fn constant(&mut self, value: u64) -> Self::Value;

    /// Emits `value & mask`.
    fn and(&mut self, value: Self::Value, mask: u64) -> Self::Value;

    /// Emits `a ^ b`.
    fn xor(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;

    /// Emits `value << bits`.
    fn shift_left(&mut self, value: Self::Value, bits: u32) -> Self::Value;

    /// Emits `value >> bits`, without sign.
    fn shift_right(&mut self, value: Self::Value, bits: u32) -> Self::Value;
}

/// An index along an input dim: a number known when the operations are emitted, or a value of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexOperand<V> {
    /// A number that is known when the operations are emitted; it costs at most one operation.
    Constant(u64),
    /// A value of the caller's IR, below the size of its dim.
    Value(V),
}

/// Emits the operations that apply a layout to index values, and returns one value for each out dim in the layout's
/// order (Triton `applyLinearLayout`). Input dims that `inputs` does not name are at zero.
///
/// ```
/// use tilewright_layout::{Dim, IndexOperand, IndexBuilder, LinearLayout, apply_layout};
///
/// struct Text(Vec<String>);
///
/// impl Text {
///     fn line(&mut self, operation: String) -> String {
///         self.0.push(format!("%{} = {operation}", self.0.len()));
///         format!("%{}", self.0.len() - 1)
///     }
/// }
///
/// impl IndexBuilder for Text {
///     type Value = String;
///     fn constant(&mut self, value: u64) -> String {
///         value.to_string()
///     }
///     fn and(&mut self, value: String, mask: u64) -> String {
///         self.line(format!("and {value}, {mask:#x}"))
///     }
///     fn xor(&mut self, a: String, b: String) -> String {
///         self.line(format!("xor {a}, {b}"))
///     }
///     fn shift_left(&mut self, value: String, bits: u32) -> String {
///         self.line(format!("shl {value}, {bits}"))
///     }
///     fn shift_right(&mut self, value: String, bits: u32) -> String {
///         self.line(format!("shr {value}, {bits}"))
///     }
/// }
///
/// // The offset of a row-major 8x4 tensor whose columns are swizzled by the low two bits of the row.
/// let bases = vec![vec![1], vec![2], vec![4 ^ 1], vec![8 ^ 2], vec![16]];
/// let offsets = LinearLayout::from_bases(&[(Dim::LANE, bases)], &[(Dim::OFFSET, 32)])?;
/// let mut text = Text(Vec::new());
/// let found = apply_layout(&mut text, &offsets, &[(Dim::LANE, IndexOperand::Value("%lane".to_owned()))])?;
/// assert_eq!(text.0, ["%0 = and %lane, 0x1f", "%1 = and %lane, 0xc", "%2 = shr %1, 2", "%3 = xor %0, %2"]);
/// assert_eq!(found, [(Dim::OFFSET, "%3".to_owned())]);
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
///
/// # Errors
/// `inputs` names a dim that is not an input dim, a dim twice, or a constant beyond the dim's size.
#[doc(alias = "applyLinearLayout")]
pub fn apply_layout<B: IndexBuilder>(
    builder: &mut B,
    layout: &LinearLayout,
    inputs: &[(Dim, IndexOperand<B::Value>)],
) -> Result<Vec<(Dim, B::Value)>, LayoutError> {
    check_inputs(layout, inputs)?;
    let along = |dim: Dim, columns: &[u64]| -> SmallVec<[u64; 16]> {
        columns.iter().map(|&column| layout.outs().coordinate(column, dim)).collect()
    };
    let result = layout.outs().dims().map(|out| {
        let mut constant = 0;
        let mut sum = None;
        for (dim, index) in inputs {
            let columns = along(out, layout.columns_of(*dim));
            match index {
                IndexOperand::Constant(at) => constant ^= multiply_vector(&columns, *at),
                IndexOperand::Value(value) => emit_f2_product_into_sum(builder, &mut sum, value, &columns),
            }
        }
        (out, emit_xor_constant(builder, sum, constant))
    });
    Ok(result.collect())
}

fn check_inputs<V>(layout: &LinearLayout, inputs: &[(Dim, IndexOperand<V>)]) -> Result<(), LayoutError> {
    for (at, (dim, index)) in inputs.iter().enumerate() {
        let bits = layout.in_bits(*dim);
        if !layout.ins().contains(*dim) {
            return Err(LayoutError::NoSuchDim { dim: *dim });
        }
        if inputs[..at].iter().any(|(before, _)| before == dim) {
            return Err(LayoutError::DuplicateDim { dim: *dim });
        }
        if let IndexOperand::Constant(value) = *index
            && value.checked_shr(bits).unwrap_or(0) != 0
        {
            return Err(LayoutError::CoordinateTooLarge { dim: *dim, value, bits });
        }
    }
    Ok(())
}

/// Emits the xor of a value and a constant; `sum` is `None` for a value of zero.
pub fn emit_xor_constant<B: IndexBuilder>(builder: &mut B, sum: Option<B::Value>, constant: u64) -> B::Value {
    match sum {
        Some(sum) if constant == 0 => sum,
        Some(sum) => {
            let constant = builder.constant(constant);
            builder.xor(sum, constant)
        }
        None => builder.constant(constant),
    }
}

/// Emits the product over F2 of the matrix with these columns and the bits of `index`, and adds it to `sum` by xor; a
/// `sum` of `None` is zero.
pub fn emit_f2_product_into_sum<B: IndexBuilder>(
    builder: &mut B,
    sum: &mut Option<B::Value>,
    index: &B::Value,
    columns: &[u64],
) {
    for (mask, distance) in diagonals(columns) {
        let bits = builder.and(index.clone(), mask);
        let term = match distance {
            0 => bits,
            1.. => builder.shift_left(bits, distance.unsigned_abs()),
            _ => builder.shift_right(bits, distance.unsigned_abs()),
        };
        *sum = Some(match sum.take() {
            None => term,
            Some(before) => builder.xor(before, term),
        });
    }
}

/// Splits a matrix into diagonals: for each distance between output and input bit, the mask of the input bits that move
/// by this distance.
fn diagonals(columns: &[u64]) -> Vec<(u64, i32)> {
    let mut diagonals: Vec<(u64, i32)> = Vec::new();
    for (bit, &column) in columns.iter().enumerate() {
        let mut rest = column;
        while rest != 0 {
            let distance = rest.trailing_zeros() as i32 - bit as i32;
            rest &= rest - 1;
            match diagonals.iter_mut().find(|(_, d)| *d == distance) {
                Some((mask, _)) => *mask |= 1 << bit,
                None => diagonals.push((1 << bit, distance)),
            }
        }
    }
    diagonals
}
