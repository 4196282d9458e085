//! Evaluates layouts by enumeration: visits every position, computing its element from the bases alone, so that the
//! layout algebra under test does not check itself.

use tilewright_layout::{Dim, LinearLayout};

/// Log2 of the max number of positions of a layout that is evaluated, to limit the time.
const MOST_POSITIONS_BITS: u32 = 22;

/// Calls `visit(position, element)` for every position; both are packed as in the layout, with the first dim in the
/// lowest bits.
pub(super) fn walk(layout: &LinearLayout, mut visit: impl FnMut(u64, u64)) -> Result<(), String> {
    let bits = layout.ins().total_bits();
    if bits > MOST_POSITIONS_BITS {
        return Err(format!("2^{bits} positions are too many to visit"));
    }
    let columns = columns(layout)?;
    // A Gray code: each step changes one input bit, so it changes the element by one column.
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

/// Returns, for each input bit, the packed element that it alone is mapped to, computed from the coordinates of the
/// bases.
pub(super) fn columns(layout: &LinearLayout) -> Result<Vec<u64>, String> {
    let mut columns = Vec::new();
    for dim in layout.ins().dims() {
        for basis in layout.bases_of(dim) {
            columns.push(packed(layout, dim, &basis)?);
        }
    }
    if columns.len() != layout.ins().total_bits() as usize {
        return Err(format!("{} bases for {} bits of input", columns.len(), layout.ins().total_bits()));
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

/// Returns the element at each position, by enumeration.
pub(super) fn element_table(layout: &LinearLayout) -> Result<Vec<u64>, String> {
    let mut table = vec![0; 1 << layout.ins().total_bits().min(MOST_POSITIONS_BITS)];
    walk(layout, |position, element| table[position as usize] = element)?;
    Ok(table)
}

/// Returns the number of positions that hold each element.
pub(super) fn holders(layout: &LinearLayout) -> Result<Vec<u32>, String> {
    let bits = layout.outs().total_bits();
    if bits > MOST_POSITIONS_BITS {
        return Err(format!("2^{bits} elements are too many to count"));
    }
    let mut holders = vec![0; 1 << bits];
    walk(layout, |_, element| holders[element as usize] += 1)?;
    Ok(holders)
}

/// Checks that every element is held by the same number of positions; returns that number.
pub(super) fn covers_evenly(layout: &LinearLayout) -> Result<u32, String> {
    let holders = holders(layout)?;
    let first = holders.first().copied().unwrap_or(0);
    match holders.iter().position(|&count| count == 0 || count != first) {
        None => Ok(first),
        Some(element) => {
            let at: Vec<_> = layout.outs().unpack(element as u64).map(|(dim, c)| format!("{dim} {c}")).collect();
            Err(format!(
                "{} positions have the element at {}, but {first} have the first element",
                holders[element],
                at.join(", ")
            ))
        }
    }
}
