//! The family `tmem_reg`: layouts of the registers of one load or store of tensor memory (`tcgen05.ld`, `tcgen05.st`).
//!
//! The instruction shape fixes the rows and 32-bit columns that a warp's lanes and first registers access; further
//! warps and registers access further columns. Composed with the layout of the tensor memory, this gives the layout of
//! the registers.

use tilewright_layout::f2::Columns;
use tilewright_layout::families::cluster::cluster_layout;
use tilewright_layout::{
    Dim, Families, FamilyError, FamilyParameterValue, FamilySpec, Layout, LayoutError, LinearLayout, Space,
};

/// Number of rows of tensor memory.
const ROWS: u64 = 128;

/// The atom of an instruction shape: bases of one warp's registers and lanes in tensor memory, as (row, 32-bit column).
pub(crate) struct Atom {
    pub(crate) registers: &'static [[u64; 2]],
    pub(crate) lanes: [[u64; 2]; 5],
    pub(crate) columns: u64,
    /// Whether one instruction accesses all 32 rows of a warp; if false, 16 of them.
    pub(crate) all_rows: bool,
}

/// Returns the atom of an instruction shape, such as `16x64b`, by its name in the PTX ISA; `None` for other names.
pub(crate) fn atom(variant: &str) -> Option<Atom> {
    let (registers, lanes, columns): (&[[u64; 2]], _, _) = match variant {
        "32x32b" => (&[], [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], 1),
        "16x64b" => (&[], [[8, 0], [0, 1], [1, 0], [2, 0], [4, 0]], 2),
        "16x128b" => (&[[8, 0]], [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], 4),
        "16x256b" => (&[[0, 1], [8, 0]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], 8),
        _ => return None,
    };
    Some(Atom { registers, lanes, columns, all_rows: variant == "32x32b" })
}

/// Returns the layout of the registers that access a tensor of this shape in tensor memory. `all` resolves the
/// tensor-memory layout, which is the parameter `memory` of `spec`.
pub(super) fn registers(spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let FamilyParameterValue::Spec(memory) = read.required(&["memory"])? else {
        return Err(read.invalid_value_error("memory", "must be a layout of tensor memory"));
    };
    let bits = read.power_of_two(&["element_bits"])?;
    let warps = read.power_of_two(&["num_warps"])?;
    let variant = match read.required(&["instr_variant"])? {
        FamilyParameterValue::Text(word) => atom(word),
        _ => None,
    };
    let variant = variant
        .ok_or_else(|| read.invalid_value_error("instr_variant", "is none of 32x32b, 16x64b, 16x128b and 16x256b"))?;
    if let Some(given) = read.optional(&["shape"]).map(|_| read.numbers(&["shape"])).transpose()?
        && given[..] != *shape
    {
        return Err(read.invalid_value_error("shape", &format!("{given:?}, yet the tensor is {shape:?}")));
    }
    read.check_all_read()?;
    if ![8, 16, 32].contains(&bits) {
        return Err(read.invalid_value_error("element_bits", &format!("{bits} is none of 8, 16 and 32")));
    }
    if !(4..=64).contains(&warps) {
        return Err(read.invalid_value_error("num_warps", &format!("{warps} is not from 4 to 64")));
    }
    let Layout::TensorMemory(memory) = all.resolve(memory, shape, all)? else {
        return Err(read.invalid_value_error("memory", "is not a layout of tensor memory"));
    };
    let failed = |error: LayoutError| FamilyError::from_layout_error(&spec.name, &error);
    // The same parameters may be valid for another shape, so the error names the shape.
    let unfit = |message: String| FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message };
    let (neighbours, words) = in_words(&memory, bits).map_err(failed)?.ok_or_else(|| {
        unfit(format!("columns of `memory` have elements of {bits} bits neither packed nor one per word"))
    })?;
    let reached = through(&words, &variant, warps).map_err(failed)?.ok_or_else(|| {
        unfit("`instr_variant` accesses locations without an element, or more columns than there are".to_owned())
    })?;
    let packed = LinearLayout::identity(neighbours, Dim::REGISTER, Dim::tensor(1));
    let cluster = cluster_layout(spec, &[], 2)?;
    let clustered = packed.and_then(|packed| packed.direct_sum(&reached)?.direct_sum(&cluster));
    let dims = [Dim::tensor(0), Dim::tensor(1)];
    clustered.and_then(|clustered| clustered.transpose_outs(&dims)).map_err(failed)
}

/// Splits a tensor-memory layout into 32-bit words. Returns how many adjacent elements of `bits` bits one register
/// packs, and the layout with one column for each register. Returns `None` if no instruction moves elements at the
/// stride that they have.
fn in_words(memory: &LinearLayout, bits: u64) -> Result<Option<(u64, LinearLayout)>, LayoutError> {
    let column = Dim::tensor(1);
    let mut packed = 1;
    let mut rest = memory.clone();
    while bits * packed < 32 {
        match rest.divide_left(&LinearLayout::identity(2, Dim::COL, column)?) {
            Some(quotient) => rest = quotient,
            None => break,
        }
        packed *= 2;
    }
    let column_stride = 32 / (bits * packed);
    // A layout with a single column has no stride, so its word needs no check.
    if column_stride == 1 || rest.in_bits(Dim::COL) == 0 {
        return Ok(Some((packed, rest)));
    }
    let empty = LinearLayout::zeros(column_stride, Dim::COL, column, 1)?;
    // The instruction can pack 16-bit elements of two consecutive 32-bit columns into one register.
    if column_stride == 2 {
        let pair = empty.direct_sum(&LinearLayout::identity(2, Dim::COL, column)?)?;
        if let Some(quotient) = rest.divide_left(&pair) {
            return Ok(Some((packed * 2, quotient)));
        }
    }
    Ok(rest.divide_left(&empty).map(|quotient| (packed, quotient)))
}

/// Returns the layout of the elements that each register, lane and warp accesses if the instruction `atom` is repeated
/// over all columns of the memory. Returns `None` if the instruction does not fit the memory.
fn through(memory: &LinearLayout, atom: &Atom, warps: u64) -> Result<Option<LinearLayout>, LayoutError> {
    let columns = 1u64.checked_shl(memory.in_bits(Dim::COL)).unwrap_or(0);
    // Rows and columns are packed in one index, which must fit 64 bits.
    Space::from_sizes(&[(Dim::ROW, ROWS), (Dim::COL, columns)])?;
    if columns < atom.columns {
        return Ok(None);
    }
    let upper_rows_are_empty = memory.columns_of(Dim::ROW).get(4).is_none_or(|&column| column == 0);
    let pack_columns = |coordinates: &[[u64; 2]]| -> Columns {
        coordinates.iter().map(|&[row, column]| row | (column * ROWS)).collect()
    };
    let (mut registers, mut lanes) = (pack_columns(atom.registers), pack_columns(&atom.lanes));
    let mut warp_columns = pack_columns(&[[32, 0], [64, 0]]);
    let checked = registers.iter().chain(&lanes[..if atom.all_rows { 4 } else { 5 }]).copied().collect();
    let outs: Vec<_> = memory.outs().dims().collect();
    let of_block = memory.sublayout(&[Dim::ROW, Dim::COL], &outs)?;
    if !layout_to_locations([(Dim::LANE, checked)], columns)?.compose(&of_block)?.is_injective() {
        return Ok(None);
    }
    let mut groups = warps / 4;
    let upper_rows_left = !atom.all_rows && !upper_rows_are_empty;
    let upper_rows_to_registers = upper_rows_left && groups == 1;
    if upper_rows_left && !upper_rows_to_registers {
        warp_columns.push(16);
        groups /= 2;
    }
    let missing = columns / atom.columns;
    let tiled = groups.min(missing);
    let own = missing / tiled;
    let mut more: Columns = column_positions(atom.columns, own).collect();
    // If rows 16 to 31 of each warp hold no elements, lanes 16 to 31 access the upper half of the columns (`16x32bx2`).
    if atom.all_rows
        && upper_rows_are_empty
        && let Some(top) = more.pop()
    {
        lanes[4] = top;
    }
    registers.extend(more);
    registers.extend(upper_rows_to_registers.then_some(16));
    warp_columns.extend(column_positions(atom.columns * own, tiled));
    warp_columns.extend((0..(groups / tiled).trailing_zeros()).map(|_| 0));
    let layout =
        layout_to_locations([(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warp_columns)], columns)?;
    // Each block of a cluster reads its own memory.
    let own = LinearLayout::identity(1 << memory.in_bits(Dim::BLOCK), Dim::BLOCK, Dim::BLOCK)?;
    let layout = if memory.ins().contains(Dim::BLOCK) { layout.direct_sum(&own)? } else { layout };
    layout.compose(memory).map(Some)
}

/// Returns the bases for `count` columns from column `first` on, both powers of two. A location is packed as row + 128
/// * column.
fn column_positions(first: u64, count: u64) -> impl Iterator<Item = u64> {
    (0..count.trailing_zeros()).map(move |bit| (ROWS * first) << bit)
}

/// Returns the layout that maps the given dims to locations (row and column) of a memory with `columns` columns.
fn layout_to_locations<const N: usize>(
    columns_by_dim: [(Dim, Columns); N],
    columns: u64,
) -> Result<LinearLayout, LayoutError> {
    let mut ins = Space::default();
    for (dim, columns_by_dim) in &columns_by_dim {
        ins.push(*dim, columns_by_dim.len() as u32)?;
    }
    let all: Columns = columns_by_dim.into_iter().flat_map(|(_, columns_by_dim)| columns_by_dim).collect();
    LinearLayout::from_columns(ins, Space::from_sizes(&[(Dim::ROW, ROWS), (Dim::COL, columns)])?, &all)
}
