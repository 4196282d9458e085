//! Laws of instruction rows: operands cover their tiles, contractions compute every product once.

use std::collections::BTreeSet;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{DescriptorMatch, arranged};
use tilewright_target::{CanonicalLayout, Instruction, InstructionKind, MemoryOperand, Operand, TensorOperand};
use tilewright_verify::kernels::IsolatedTile;

use super::super::law::{Checked, broken, case, require, word};
use super::super::walk::covers_evenly;
use crate::{Case, Context};

pub(super) fn cases(context: &Context) -> Vec<Case> {
    let mut cases = vec![case("layouts/instructions/names".to_owned(), unique_names)];
    for row in context.target().instructions() {
        let name = word(&row.name);
        for (index, operand) in row.operands.iter().enumerate() {
            let (label, row) = (label(operand, index), row.clone());
            let check = move |context: &Context| operand_law(context, &row, &row.operands[index]);
            cases.push(case(format!("layouts/instructions/operand/{name}/{label}"), check));
        }
        if row.semantics.multiplies() && ["a", "b", "d"].iter().all(|role| register(row, role).is_some()) {
            let row = row.clone();
            cases.push(case(format!("layouts/instructions/products/{name}"), move |_| products(&row)));
        }
    }
    cases
}

fn label(operand: &Operand, index: usize) -> String {
    match operand {
        Operand::Register { role, .. } => format!("{index}-{}", word(role)),
        Operand::Access { .. } => format!("{index}-access"),
        Operand::Memory(memory) => format!("{index}-{}", word(&memory.role)),
        Operand::Global { .. } => format!("{index}-global"),
        Operand::Tensor(tile) => format!("{index}-{}", word(&tile.role)),
        _ => index.to_string(),
    }
}

/// The layout of the register operand of a role.
pub(super) fn register<'a>(row: &'a Instruction, requested: &str) -> Option<&'a LinearLayout> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, layout, .. } if role == requested => Some(layout),
        _ => None,
    })
}

fn unique_names(context: &Context) -> Checked {
    let mut seen = BTreeSet::new();
    let twice = context.target().instructions().iter().find(|row| !seen.insert(&row.name));
    require(twice.is_none(), || format!("two rows are named `{}`", twice.map_or("", |row| &row.name)))
}

fn operand_law(context: &Context, row: &Instruction, operand: &Operand) -> Checked {
    match operand {
        Operand::Register { bits, layout, .. } => {
            // Elements of six bits lie side by side too.
            require(bits.is_power_of_two() || *bits == 6, || format!("elements of {bits} bits"))?;
            // Warps are there where several issue it together.
            let warps = (layout.in_bits(Dim::WARP) > 0).then_some(Dim::WARP);
            has_dims(layout, &[Some(Dim::REGISTER), Some(Dim::LANE), warps].into_iter().flatten().collect::<Vec<_>>())?;
            lanes_of(context, layout)?;
            covers_evenly(layout).map(drop).map_err(broken)
        }
        Operand::Access { data, address, alignment } | Operand::Global { data, address, alignment } => {
            // A copy goes past the registers.
            let copies = row.kind == InstructionKind::AsyncCopy;
            let dims: &[Dim] = if copies { &[Dim::LANE] } else { &[Dim::REGISTER, Dim::LANE] };
            access(context, dims, (data, address), *alignment)
        }
        Operand::Memory(memory) => arrangements(context, memory),
        Operand::Tensor(tile) => tensor_tile(context, tile),
        Operand::Constant { bits, value, .. } => {
            let fits = value.checked_shr(*bits).unwrap_or(0) == 0;
            require(fits, || format!("{value:#x} does not fit into {bits} bits"))
        }
        _ => Ok(()),
    }
}

/// Every element has one place, within the target's tensor memory; none straddles two columns.
fn tensor_tile(context: &Context, tile: &TensorOperand) -> Checked {
    let memory = context.target().description().tensor.as_ref();
    let memory = memory.ok_or_else(|| broken("the target has no tensor memory".to_owned()))?;
    require(tile.bits.is_power_of_two() && tile.bits <= 32, || format!("places of {} bits", tile.bits))?;
    has_dims(&tile.layout, &[Dim::ROW, Dim::COL])?;
    let (rows, columns) = (u64::from(memory.rows), u64::from(memory.columns) * 32 / u64::from(tile.bits));
    let places = tile.places();
    for (([row, place], element), copy) in
        places.iter().flat_map(|place| tile.copy_rows().into_iter().map(move |copy| (place, copy)))
    {
        let row = row + copy;
        require(row < rows && *place < columns, || format!("{element:?} is at row {row}, place {place} of it"))?;
    }
    let elements: BTreeSet<_> = places.iter().map(|(_, element)| element).collect();
    let all = 1usize << tile.layout.outs().bits();
    require(elements.len() == all && places.len() == all, || {
        format!("{} places hold {} of {all} elements", places.len(), elements.len())
    })
}

/// Each arrangement has a place of its own for every element of a tile, at which its descriptor says it is, and the
/// operand reads the memory layout that it makes, also of a matrix of several tiles that a block has room for.
fn arrangements(context: &Context, memory: &MemoryOperand) -> Checked {
    let room = u64::from(context.target().description().shared.bytes);
    require(!memory.arrangements.is_empty(), || "there is no arrangement".to_owned())?;
    let mut modes = BTreeSet::new();
    for arrangement in &memory.arrangements {
        let name = &arrangement.name;
        require(modes.insert(arrangement.mode), || format!("{name}: another has the same mode"))?;
        lone(memory, arrangement).map_err(|message| broken(format!("{name}: {message}")))?;
        let mut filled = false;
        for times in [[1, 1], [1, 4], [4, 1], [8, 8]] {
            let shape = [0, 1].map(|axis| memory.shape[axis] * times[axis]);
            if shape[0] * shape[1] * u64::from(memory.bits / 8) > room {
                continue;
            }
            let layout = arranged(memory, arrangement, shape).map_err(|error| broken(format!("{name}: {error}")))?;
            let Some(layout) = layout else { continue };
            filled = true;
            described(memory, &layout, times).map_err(|message| broken(format!("{name}, {shape:?}: {message}")))?;
        }
        // What is no power of two of bytes is in no memory layout.
        let is_layout = memory.bits >= 8 && memory.shape.iter().all(|size| size.is_power_of_two());
        require(filled || !is_layout, || format!("{name}: no matrix of some tiles fills it"))?;
    }
    Ok(())
}

/// A tile by itself has bits of its own for each element, in memory that begins as aligned as the arrangement says.
fn lone(memory: &MemoryOperand, arrangement: &CanonicalLayout) -> Result<(), String> {
    let tile = IsolatedTile::arranged(memory, arrangement)?;
    let mut seen = BTreeSet::new();
    for element in (0..memory.shape[0]).flat_map(|row| (0..memory.shape[1]).map(move |column| [row, column])) {
        let bit = tile.bit(element);
        if !bit.is_multiple_of(memory.bits.into()) || bit >= 8 * tile.bytes || !seen.insert(bit) {
            return Err(format!("element {element:?} has no bits of its own: it begins at bit {bit:#x}"));
        }
    }
    let fields = memory.descriptor.decode(tile.descriptor()?);
    if fields != tile.fields || memory.of_mode(fields.mode) != Some(arrangement) {
        return Err(format!("its descriptor says {fields:?}, not {:?}", tile.fields));
    }
    Ok(())
}

/// Every element of every tile is where the tile's descriptor says.
fn described(memory: &MemoryOperand, layout: &LinearLayout, tiles: [u64; 2]) -> Result<(), String> {
    let descriptor_match = DescriptorMatch::of(layout, memory)?;
    let places = layout.invert().map_err(|error| error.to_string())?;
    let bytes = u64::from(memory.bits / 8);
    for (row_tile, column_tile) in (0..tiles[0]).flat_map(|row| (0..tiles[1]).map(move |column| (row, column))) {
        let tile = [row_tile, column_tile];
        let bits = descriptor_match
            .descriptor(memory, tile)
            .ok_or_else(|| format!("no descriptor says where tile {tile:?} is"))?;
        let fields = memory.descriptor.decode(bits);
        let arrangement = memory.of_mode(fields.mode).ok_or("its descriptor says another mode")?;
        for (row, column) in (0..memory.shape[0]).flat_map(|row| (0..memory.shape[1]).map(move |column| (row, column)))
        {
            let at = [row_tile * memory.shape[0] + row, column_tile * memory.shape[1] + column];
            let at = [(Dim::tensor(0), at[0]), (Dim::tensor(1), at[1])];
            let place = places.apply(&at).map_err(|error| error.to_string())?;
            let expected = place.first().map_or(0, |place| place.1) * bytes;
            let found = arrangement.address(&fields, [row, column]);
            if found != expected {
                return Err(format!("element {row}, {column} of tile {tile:?} is at {expected:#x}, not at {found:#x}"));
            }
        }
    }
    Ok(())
}

/// Every byte of every slot is moved, every slot has its address, and addresses are no more
/// aligned than slots are long.
fn access(context: &Context, dims: &[Dim], (data, address): (&LinearLayout, &LinearLayout), alignment: u32) -> Checked {
    let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
    has_dims(data, &[dims, &[byte]].concat())?;
    lanes_of(context, data)?;
    covers_evenly(data).map_err(broken)?;
    has_dims(address, &[Dim::LANE])?;
    covers_evenly(address).map_err(broken)?;
    let (moved, addressed) = (data.out_bits(slot), address.out_bits(slot));
    require(moved == addressed, || format!("2^{moved} slots are moved, 2^{addressed} addressed"))?;
    let length = 1u64 << data.out_bits(byte);
    require(alignment.is_power_of_two() && length.is_multiple_of(u64::from(alignment)), || {
        format!("slots of {length} bytes cannot follow each other at an alignment of {alignment}")
    })
}

fn has_dims(layout: &LinearLayout, expected: &[Dim]) -> Checked {
    let found: Vec<_> = layout.ins().dims().collect();
    require(found == expected, || format!("its inputs are {found:?}, not {expected:?}"))
}

fn lanes_of(context: &Context, layout: &LinearLayout) -> Checked {
    let choices = &context.target().description().lanes.choices;
    let lanes = 1u64 << layout.in_bits(Dim::LANE);
    require(choices.iter().any(|&choice| u64::from(choice) == lanes), || {
        format!("{lanes} lanes, but a warp of the target has one of {choices:?}")
    })
}

/// The tiles fit each other, so that (m, n, k) means one product; each result is held in one place
/// only, so that each product is added once; and both factors of every product are held.
fn products(row: &Instruction) -> Checked {
    let operand = |role| register(row, role).ok_or_else(|| broken(format!("there is no operand `{role}`")));
    let (a, b, d) = (operand("a")?, operand("b")?, operand("d")?);
    let (first, second, block) = (Dim::tensor(0), Dim::tensor(1), Dim::tensor(2));
    let sides = [
        ("M", a.out_bits(first), d.out_bits(first)),
        ("N", b.out_bits(second), d.out_bits(second)),
        ("K", a.out_bits(second), b.out_bits(first)),
        ("blocks of a", a.out_bits(block), d.out_bits(block)),
        ("blocks of b", b.out_bits(block), d.out_bits(block)),
    ];
    for (side, left, right) in sides {
        require(left == right, || format!("{side} is 2^{left} on one side and 2^{right} on the other"))?;
    }
    for (role, layout) in [("a", a), ("b", b)] {
        covers_evenly(layout).map_err(|message| broken(format!("factor {role}: {message}")))?;
    }
    let copies = covers_evenly(d).map_err(broken)?;
    require(copies == 1, || format!("each result is held {copies} times"))?;
    match register(row, "c") {
        Some(c) => require(c == d, || format!("the result lies elsewhere than what it is added to\n{c}\nand\n{d}")),
        None => Ok(()),
    }
}
