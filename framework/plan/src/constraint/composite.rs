//! Composite maps from the tile of an instruction to the tile of a tensor.

use super::LayoutConstraintError;
use tilewright_layout::f2::Solver;
use tilewright_layout::{Dim, LinearLayout, Space};

/// The name of this constraint in error messages.
const NAME: &str = "composite";

/// Returns the composite map `layout . operand^-1`: the position in the tensor of each element of an instruction's
/// tile. `operand` is the layout of the instruction's tile. The instruction covers the first registers of `layout`, all
/// lanes, and the first warps if several warps issue it together.
///
/// # Errors
/// [`LayoutConstraintError::Differ`] if a lane or a register that repeats elements of the tile holds other elements of
/// the tensor; [`LayoutConstraintError::Sizes`] if the layout has other lanes, or fewer registers or warps, than the
/// instruction; [`LayoutConstraintError::Instruction`] if no thread holds some element of the tile.
///
/// ```
/// use tilewright_layout::cute::to_distributed;
/// use tilewright_layout::Dim;
/// use tilewright_plan::constraint::find_tile_to_tensor_map;
/// // Hexcute paper, section 4.2: four 8x8 matrices, one below the other, go to four places of a 16x32 tile.
/// let q = to_distributed(&"((4,8),(2,4)):((64,1),(32,8))".parse()?, &[32, 8], 32)?;
/// let g = to_distributed(&"((4,8,2),(2,2,2)):((32,1,128),(16,8,256))".parse()?, &[16, 32], 32)?;
/// let map = find_tile_to_tensor_map(&g, &q)?;
/// let matrix = |number: u64| map.apply(&[(Dim::tensor(0), 8 * number), (Dim::tensor(1), 0)]).map(|at| at.to_vec());
/// assert_eq!(matrix(3)?, [(Dim::tensor(0), 8), (Dim::tensor(1), 16)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find_tile_to_tensor_map(
    layout: &LinearLayout,
    operand: &LinearLayout,
) -> Result<LinearLayout, LayoutConstraintError> {
    let (element_columns, elements) = instruction_columns(layout, operand)?;
    let solver = Solver::new(&elements);
    let at = |unit: u64| {
        let from = solver.solve(unit);
        from.map(|from| {
            element_columns.iter().enumerate().filter(|(bit, _)| from >> bit & 1 == 1).fold(0, |sum, (_, p)| sum ^ p)
        })
    };
    let columns: Option<Vec<u64>> = (0..operand.outs().total_bits()).map(|bit| at(1 << bit)).collect();
    let columns = columns.ok_or_else(|| LayoutConstraintError::Instruction {
        instruction: "of the operand".to_owned(),
        reason: "an element of its tile is in no thread".to_owned(),
    })?;
    let map = LinearLayout::from_columns(operand.outs().clone(), layout.outs().clone(), &columns)?;
    for (bit, (&element, &element_in_registers)) in elements.iter().zip(&element_columns).enumerate() {
        let by_map = map.apply_packed(element);
        if by_map != element_in_registers {
            return Err(differs(
                NAME,
                named(operand, bit),
                ("the layout", element_in_registers),
                ("the instruction", by_map),
                layout.outs(),
            ));
        }
    }
    Ok(map)
}

/// Returns two lists with one entry for each input bit of the instruction's tile `operand`: the column of `layout` at
/// this bit (an element of the tensor), and the column of `operand` (an element of the tile).
fn instruction_columns(
    layout: &LinearLayout,
    operand: &LinearLayout,
) -> Result<(Vec<u64>, Vec<u64>), LayoutConstraintError> {
    let (mut element_columns, mut elements) = (Vec::new(), Vec::new());
    for (dim, bits) in operand.ins().iter() {
        let dim_columns = layout.columns_of(dim);
        let fits = if dim == Dim::LANE { dim_columns.len() as u32 == bits } else { dim_columns.len() as u32 >= bits };
        if !fits {
            let (first, second) = ("the layout".into(), "the instruction".into());
            return Err(LayoutConstraintError::Sizes {
                constraint: NAME,
                dim,
                first,
                second,
                left: dim_columns.len() as u32,
                right: bits,
            });
        }
        element_columns.extend(&dim_columns[..bits as usize]);
        elements.extend(operand.columns_of(dim));
    }
    Ok((element_columns, elements))
}

/// Returns the name of input bit `bit`, counted over all input dims of an operand's layout: the dim and the bit's
/// value, such as `lane 4` for bit 2 of the lane.
pub(super) fn named(operand: &LinearLayout, bit: usize) -> String {
    let mut first = 0;
    for (dim, bits) in operand.ins().iter() {
        if bit < first + bits as usize {
            return format!("{dim} {}", 1u64 << (bit - first));
        }
        first += bits as usize;
    }
    format!("position {bit}")
}

/// Returns an element of a tensor as the text of its coordinates, such as `(3, 8)`; `packed` is its packed coordinate.
pub(super) fn element(packed: u64, outs: &Space) -> String {
    let terms: Vec<String> = outs.unpack(packed).map(|(_, at)| at.to_string()).collect();
    format!("({})", terms.join(", "))
}

/// Builds the error that two layouts map the position `location` to different elements: the layout `first` to `has`,
/// `second` to `wants`, both as packed coordinates.
pub(super) fn differs(
    constraint: &'static str,
    location: String,
    (first, has): (&str, u64),
    (second, wants): (&str, u64),
    outs: &Space,
) -> LayoutConstraintError {
    LayoutConstraintError::Differ {
        constraint,
        location: location.into(),
        first: first.into(),
        second: second.into(),
        has: element(has, outs).into(),
        wants: element(wants, outs).into(),
    }
}
