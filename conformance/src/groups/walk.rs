//! Layouts by brute force: every position visited from the bases alone, so that the algebra under
//! test is not asked about itself.

use tilewright_layout::{Dim, LinearLayout};

/// Layouts of more positions than this are not walked.
const MOST_POSITIONS_BITS: u32 = 22;

/// Calls `visit(position, element)` for every position; both are packed as the layout packs them,
/// the first dim in the lowest bits.
pub(super) fn walk(layout: &LinearLayout, mut visit: impl FnMut(u64, u64)) -> Result<(), String> {
    let bits = layout.ins().bits();
    if bits > MOST_POSITIONS_BITS {
        return Err(format!("2^{bits} positions are too many to visit"));
    }
    let columns = columns(layout)?;
    // A Gray code: each step changes one input bit, so it adds one column.
    let (mut position, mut element) = (0u64, 0u64);
    visit(0, 0);
    for step in 1u64..1 << bits {
        let bit = step.trailing_zeros();
        position ^= 1 << bit;
        element ^= columns[bit as usize];
        visit(position, element);
    }
    Ok(())
}

/// The packed image of each input bit, from the coordinates of the bases.
pub(super) fn columns(layout: &LinearLayout) -> Result<Vec<u64>, String> {
    let mut columns = Vec::new();
    for dim in layout.ins().dims() {
        for basis in layout.bases_of(dim) {
            columns.push(packed(layout, dim, &basis)?);
        }
    }
    if columns.len() != layout.ins().bits() as usize {
        return Err(format!("{} bases for {} bits of input", columns.len(), layout.ins().bits()));
    }
    Ok(columns)
}

fn packed(layout: &LinearLayout, dim: Dim, basis: &[u64]) -> Result<u64, String> {
    let (mut packed, mut shift) = (0, 0);
    for ((out, bits), &coordinate) in layout.outs().iter().zip(basis) {
        if coordinate >> bits != 0 {
            return Err(format!("a basis of {dim} has coordinate {coordinate} in {out}, which has 2^{bits} positions"));
        }
        packed |= coordinate << shift;
        shift += bits;
    }
    Ok(packed)
}

/// The element of each position, by brute force.
pub(super) fn table(layout: &LinearLayout) -> Result<Vec<u64>, String> {
    let mut table = vec![0; 1 << layout.ins().bits().min(MOST_POSITIONS_BITS)];
    walk(layout, |position, element| table[position as usize] = element)?;
    Ok(table)
}

/// How many positions hold each element.
pub(super) fn holders(layout: &LinearLayout) -> Result<Vec<u32>, String> {
    let bits = layout.outs().bits();
    if bits > MOST_POSITIONS_BITS {
        return Err(format!("2^{bits} elements are too many to count"));
    }
    let mut holders = vec![0; 1 << bits];
    walk(layout, |_, element| holders[element as usize] += 1)?;
    Ok(holders)
}

/// Checks that every element is held, all by equally many positions; says by how many.
pub(super) fn covers_evenly(layout: &LinearLayout) -> Result<u32, String> {
    let holders = holders(layout)?;
    let first = holders.first().copied().unwrap_or(0);
    match holders.iter().position(|&count| count == 0 || count != first) {
        None => Ok(first),
        Some(element) => {
            let at: Vec<_> = layout.outs().unpack(element as u64).map(|(dim, c)| format!("{dim} {c}")).collect();
            Err(format!(
                "{} positions hold the element at {}, but {first} hold the first element",
                holders[element],
                at.join(", ")
            ))
        }
    }
}
