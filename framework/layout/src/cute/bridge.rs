//! CuTe layouts as linear layouts over F2, and back.
//!
//! A layout whose sizes are powers of two is linear exactly if the columns `stride << i` of all its modes have pairwise
//! disjoint bits, so that no sum carries. The opposite direction clears bits of the columns by row operations until
//! they are disjoint; each operation is a `Swizzle<1,M,S>`.

use crate::{AffineLayout, Dim, LinearLayout, Space};

use super::{ComposedLayout, CuteError, CuteLayout, CuteLeaf, Swizzle, Tree, TupleView};

/// The columns of a CuTe layout as a linear map: entry `i` is the value at the integer coordinate `2^i`.
fn columns(layout: &CuteLayout) -> Result<Vec<u64>, CuteError> {
    let (mut columns, mut seen): (Vec<u64>, Vec<(u64, String)>) = Default::default();
    for (path, CuteLeaf { shape, stride }) in named_modes(layout) {
        let wrong = |reason| CuteError::NotLinear { mode: path.clone(), shape, stride, reason };
        if !shape.is_power_of_two() {
            return Err(wrong("its size is not a power of two".to_owned()));
        }
        for bit in 0..shape.ilog2() {
            // `2^bit` is at most half the mode's size, so the column is below the cosize and the shift loses no bit.
            let column = stride << bit;
            if let Some((other, whose)) = seen.iter().find(|(other, _)| other & column != 0) {
                let reason =
                    format!("its column {column:#b} shares bits with {other:#b} of mode {whose}, so a sum carries");
                return Err(wrong(reason));
            }
            columns.push(column);
            seen.push((column, path.clone()));
        }
    }
    Ok(columns)
}

fn named_modes(layout: &CuteLayout) -> Vec<(String, CuteLeaf)> {
    fn walk(tree: &Tree<CuteLeaf>, path: &str, found: &mut Vec<(String, CuteLeaf)>) {
        match tree.view() {
            TupleView::Leaf(mode) => found.push((if path.is_empty() { "0" } else { path }.to_owned(), *mode)),
            TupleView::Tuple(modes) => modes.iter().enumerate().for_each(|(at, mode)| {
                let path = if path.is_empty() { at.to_string() } else { format!("{path}.{at}") };
                walk(mode, &path, found);
            }),
        }
    }
    let mut found = Vec::new();
    walk(layout.tree(), "", &mut found);
    found
}

/// Converts a CuTe layout, possibly composed with swizzles, to a linear layout from the dim `input` (the integer
/// coordinate) to the dim `output` (the value, as wide as the values need).
///
/// # Errors
/// [`CuteError::NotLinear`] with the mode that is not linear; [`CuteError::Offset`] if the layout has an offset.
///
/// ```
/// use tilewright_layout::cute::to_linear;
/// use tilewright_layout::Dim;
/// let swizzled = "Swizzle<1,0,1> o 0 o (2,2):(2,1)".parse()?;
/// assert_eq!(to_linear(&swizzled, Dim::LANE, Dim::OFFSET)?.columns(), [3, 1]);
/// let carries = "(2,2):(1,1)".parse()?;
/// assert!(to_linear(&carries, Dim::LANE, Dim::OFFSET).is_err());
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn to_linear(layout: &ComposedLayout, input: Dim, output: Dim) -> Result<LinearLayout, CuteError> {
    let columns = linear_columns(layout)?;
    let bits = 64 - columns.iter().fold(0, |all, column| all | column).leading_zeros();
    let mut outs = Space::default();
    outs.push(output, bits)?;
    let mut ins = Space::default();
    ins.push(input, columns.len() as u32)?;
    Ok(LinearLayout::from_columns(ins, outs, &columns)?)
}

/// Converts a CuTe layout with an offset, possibly composed with swizzles, to an affine map of its integer coordinate.
///
/// # Errors
/// As [`to_linear`]; [`CuteError::Offset`] if the offset shares bits with the layout's values,
/// so that adding it carries.
///
/// ```
/// use tilewright_layout::cute::to_affine;
/// use tilewright_layout::Dim;
/// let moved = to_affine(&"Swizzle<1,0,2> o 4 o 4:1".parse()?, Dim::LANE, Dim::OFFSET)?;
/// assert_eq!(moved.apply_packed(2), 7);
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn to_affine(layout: &ComposedLayout, input: Dim, output: Dim) -> Result<AffineLayout, CuteError> {
    let reached = columns(layout.layout())?.into_iter().fold(0, |all, column| all | column);
    if reached & layout.offset() != 0 {
        return Err(CuteError::Offset { offset: layout.offset() });
    }
    let columns = swizzled_columns(layout)?;
    let offset = swizzled(layout, layout.offset());
    let bits = 64 - columns.iter().fold(offset, |all, column| all | column).leading_zeros();
    let (mut ins, mut outs) = (Space::default(), Space::default());
    ins.push(input, columns.len() as u32)?;
    outs.push(output, bits)?;
    Ok(AffineLayout::new(LinearLayout::from_columns(ins, outs, &columns)?, &[(output, offset)])?)
}

/// Converts a CuTe layout, possibly composed with swizzles, to a linear layout with one in dim of `ins` for each mode
/// (such as thread and value). The out dims `outs` split the value, the first one fastest.
///
/// # Errors
/// As [`to_linear`]; [`CuteError::NotCongruent`] if there is not one dim for each mode;
/// [`CuteError::Linear`] if the values do not fit the out dims.
pub fn to_linear_modes(layout: &ComposedLayout, ins: &[Dim], outs: &[(Dim, u64)]) -> Result<LinearLayout, CuteError> {
    let modes = layout.layout().modes();
    if modes.len() != ins.len() {
        return Err(CuteError::NotCongruent {
            left: layout.to_string(),
            right: format!("{} dims", ins.len()),
            remedy: "name one in dim for each mode",
        });
    }
    let columns = linear_columns(layout)?;
    let mut space = Space::default();
    for (mode, &dim) in modes.iter().zip(ins) {
        space.push(dim, mode.size().ilog2())?;
    }
    Ok(LinearLayout::from_columns(space, Space::from_sizes(outs)?, &columns)?)
}

fn linear_columns(layout: &ComposedLayout) -> Result<Vec<u64>, CuteError> {
    let columns = swizzled_columns(layout)?;
    if layout.offset() != 0 {
        return Err(CuteError::Offset { offset: layout.offset() });
    }
    Ok(columns)
}

fn swizzled_columns(layout: &ComposedLayout) -> Result<Vec<u64>, CuteError> {
    Ok(columns(layout.layout())?.into_iter().map(|column| swizzled(layout, column)).collect())
}

fn swizzled(layout: &ComposedLayout, value: u64) -> u64 {
    layout.swizzles().iter().rev().fold(value, |x, swizzle| swizzle.apply(x))
}

/// Converts a linear layout to swizzles over a CuTe layout of powers of two. The CuTe layout has one mode for each in
/// dim, and its values are the packed outputs.
///
/// # Errors
/// [`CuteError::DependentBasis`] if the nonzero bases are not independent: swizzles over a layout cannot express such a
/// map. [`CuteError::Overflow`] at a size of 2^64.
///
/// ```
/// use tilewright_layout::cute::{from_linear, to_linear};
/// use tilewright_layout::Dim;
/// let text = "Swizzle<2,0,3> o 0 o (4,8):(8,1)";
/// let linear = to_linear(&text.parse()?, Dim::LANE, Dim::OFFSET)?;
/// assert_eq!(from_linear(&linear)?.to_string(), "Swizzle<2,0,3> o 0 o (4,8):(8,1)");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn from_linear(linear: &LinearLayout) -> Result<ComposedLayout, CuteError> {
    let mut columns = linear.columns().to_vec();
    let operations = make_disjoint(&mut columns).map_err(|column| dependent(linear, column))?;
    let mut rest = columns.as_slice();
    let mut modes = Vec::new();
    for (_, bits) in linear.ins().iter() {
        let (mode, behind) = rest.split_at(bits as usize);
        rest = behind;
        modes.push(mode_of(mode)?);
    }
    let layout = if modes.len() == 1 { modes.remove(0) } else { CuteLayout::from_modes(modes)? };
    ComposedLayout::new(operations_to_swizzles(operations)?, 0, layout)
}

fn dependent(linear: &LinearLayout, column: usize) -> CuteError {
    let mut basis = column;
    for (dim, bits) in linear.ins().iter() {
        if basis < bits as usize {
            return CuteError::DependentBasis { dim: dim.to_string(), basis };
        }
        basis -= bits as usize;
    }
    CuteError::DependentBasis { dim: String::new(), basis: column }
}

/// Builds the CuTe mode of one in dim from the dim's columns, which have disjoint bits: neighbouring columns that each
/// double the previous one become one leaf (size and stride).
fn mode_of(columns: &[u64]) -> Result<CuteLayout, CuteError> {
    let bits: Vec<_> = columns.iter().map(|&stride| CuteLeaf { shape: 2, stride }).collect();
    CuteLayout::from_flat_modes(&super::coalesce::coalesce_modes(&bits))
}

/// The row operation that flips bit `dst` of a value if bit `src` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowOperation {
    src: u32,
    dst: u32,
}

impl RowOperation {
    fn shift(self) -> i32 {
        self.src as i32 - self.dst as i32
    }

    fn commutes(self, other: Self) -> bool {
        self.src != other.dst && self.dst != other.src
    }
}

/// Makes the bits of the columns disjoint by row operations, and returns the operations in order; `Err` with the index
/// of a column that depends on others.
fn make_disjoint(columns: &mut [u64]) -> Result<Vec<RowOperation>, usize> {
    let (mut operations, mut used) = (Vec::new(), 0u64);
    let mut left: Vec<usize> = (0..columns.len()).filter(|&at| columns[at] != 0).collect();
    while !are_disjoint(columns) {
        // The column with the fewest bits outside of `used` needs the fewest operations, so it is cleared first.
        let free = |at: usize| columns[at] & !used;
        let Some(index) = (0..left.len()).min_by_key(|&index| free(left[index]).count_ones()) else { break };
        let at = left.remove(index);
        if free(at) == 0 {
            return Err(at);
        }
        // The highest bit becomes the source bit of the swizzles.
        let src = free(at).ilog2();
        used |= 1 << src;
        let cleared = columns[at] & !(1 << src);
        for dst in (0..64).filter(|dst| cleared >> dst & 1 == 1) {
            operations.push(RowOperation { src, dst });
            for column in columns.iter_mut() {
                *column ^= (*column >> src & 1) << dst;
            }
        }
    }
    Ok(operations)
}

fn are_disjoint(columns: &[u64]) -> bool {
    let mut seen = 0;
    columns.iter().all(|column| {
        let is_disjoint = seen & column == 0;
        seen |= column;
        is_disjoint
    })
}

/// Turns row operations into swizzles, the first operation outermost; operations on neighbouring bits with the same
/// shift form one swizzle.
fn operations_to_swizzles(operations: Vec<RowOperation>) -> Result<Vec<Swizzle>, CuteError> {
    let mut groups: Vec<Vec<RowOperation>> = Vec::new();
    for operation in operations {
        // All operations of a group have one shift. The operation joins an earlier group of its shift if it commutes
        // with all operations of that group and of the later groups.
        let free = groups.iter().rev().take_while(|group| group.iter().all(|other| other.commutes(operation))).count();
        let from = groups.len() - free;
        match groups[from..].iter_mut().find(|group| group[0].shift() == operation.shift()) {
            Some(group) => group.push(operation),
            None => groups.push(vec![operation]),
        }
    }
    groups.into_iter().map(runs).collect::<Result<Vec<_>, _>>().map(|swizzles| swizzles.concat())
}

/// Turns commuting row operations with the same shift into swizzles, one for each range of neighbouring bits.
fn runs(mut group: Vec<RowOperation>) -> Result<Vec<Swizzle>, CuteError> {
    group.sort_by_key(|operation| operation.src);
    let mut swizzles: Vec<(u32, u32, i32)> = Vec::new();
    for operation in group {
        let (base, shift) = (operation.src.min(operation.dst), operation.shift());
        match swizzles.last_mut() {
            Some((bits, from, _)) if *from + *bits == base && *bits < shift.unsigned_abs() => *bits += 1,
            _ => swizzles.push((1, base, shift)),
        }
    }
    swizzles.into_iter().map(|(bits, base, shift)| Swizzle::new(bits, base, shift)).collect()
}
