//! Composite maps: from the tile of an instruction to the tile of a tensor.

use super::Unsatisfied;
use tilewright_layout::f2::Solver;
use tilewright_layout::{Dim, LinearLayout, Space};

/// The name of the constraint in errors.
const NAME: &str = "composite";

/// `layout . operand^-1`: where the elements of an instruction's tile lie in the tensor. The instruction has the first
/// registers of the layout, all lanes, and the first warps where several issue it together.
///
/// # Errors
/// [`Unsatisfied::Differ`] where a lane or a register that repeats elements of the tile holds others of the tensor;
/// [`Unsatisfied::Sizes`] where the layout has other lanes, or fewer registers or warps.
///
/// ```
/// use tilewright_layout::cute::to_distributed;
/// use tilewright_plan::constraint::composite;
/// use tilewright_layout::Dim;
/// // Seed 003, section 4.2: four 8x8 matrices, one below the other, go to four places of a 16x32 tile.
/// let q = to_distributed(&"((4,8),(2,4)):((64,1),(32,8))".parse()?, &[32, 8], 32)?;
/// let g = to_distributed(&"((4,8,2),(2,2,2)):((32,1,128),(16,8,256))".parse()?, &[16, 32], 32)?;
/// let map = composite(&g, &q)?;
/// let matrix = |number: u64| map.apply(&[(Dim::tensor(0), 8 * number), (Dim::tensor(1), 0)]).map(|at| at.to_vec());
/// assert_eq!(matrix(3)?, [(Dim::tensor(0), 8), (Dim::tensor(1), 16)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn composite(layout: &LinearLayout, operand: &LinearLayout) -> Result<LinearLayout, Unsatisfied> {
    let (places, elements) = instruction_part(layout, operand)?;
    let solver = Solver::new(&elements);
    let at = |unit: u64| {
        let from = solver.solve(unit);
        from.map(|from| {
            places.iter().enumerate().filter(|(bit, _)| from >> bit & 1 == 1).fold(0, |sum, (_, p)| sum ^ p)
        })
    };
    let columns: Option<Vec<u64>> = (0..operand.outs().bits()).map(|bit| at(1 << bit)).collect();
    let columns = columns.ok_or_else(|| Unsatisfied::Instruction {
        instruction: "of the operand".to_owned(),
        reason: "no thread has some of the elements of its tile".to_owned(),
    })?;
    let map = LinearLayout::from_columns(operand.outs().clone(), layout.outs().clone(), &columns)?;
    for (bit, (&element, &place)) in elements.iter().zip(&places).enumerate() {
        let by_map = map.apply_packed(element);
        if by_map != place {
            return Err(differs(
                NAME,
                named(operand, bit),
                ("the layout", place),
                ("the instruction", by_map),
                layout.outs(),
            ));
        }
    }
    Ok(map)
}

/// The columns of the layout that are the instruction's, beside the instruction's own.
fn instruction_part(layout: &LinearLayout, operand: &LinearLayout) -> Result<(Vec<u64>, Vec<u64>), Unsatisfied> {
    let (mut places, mut elements) = (Vec::new(), Vec::new());
    for (dim, bits) in operand.ins().iter() {
        let own = layout.columns_of(dim);
        let fits = if dim == Dim::LANE { own.len() as u32 == bits } else { own.len() as u32 >= bits };
        if !fits {
            let (first, second) = ("the layout".into(), "the instruction".into());
            return Err(Unsatisfied::Sizes {
                constraint: NAME,
                dim,
                first,
                second,
                left: own.len() as u32,
                right: bits,
            });
        }
        places.extend(&own[..bits as usize]);
        elements.extend(operand.columns_of(dim));
    }
    Ok((places, elements))
}

/// The position bit of an operand, in words.
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

/// An element of a tensor, in words.
pub(super) fn element(packed: u64, outs: &Space) -> String {
    let parts: Vec<String> = outs.unpack(packed).map(|(_, at)| at.to_string()).collect();
    format!("({})", parts.join(", "))
}

/// The error that two layouts differ.
pub(super) fn differs(
    constraint: &'static str,
    place: String,
    (first, has): (&str, u64),
    (second, wants): (&str, u64),
    outs: &Space,
) -> Unsatisfied {
    Unsatisfied::Differ {
        constraint,
        place: place.into(),
        first: first.into(),
        second: second.into(),
        has: element(has, outs).into(),
        wants: element(wants, outs).into(),
    }
}
