//! Laws of instruction tables: operands cover their tiles, and an MMA multiplies each pair of elements exactly once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{DescriptorMatch, build_operand_memory_layout};
use tilewright_target::{
    CanonicalLayout, Instruction, InstructionKind, InstructionOperand, MemoryOperand, TensorMemoryOperand,
};
use tilewright_verify::kernels::SharedOperandTile;

use super::super::law::{LawResult, case, case_name_part, law_failure, require};
use super::super::walk::{covers_evenly, walk};
use crate::{Case, Context};

pub(super) fn cases(context: &Context) -> Vec<Case> {
    let mut cases = vec![case("layouts/instructions/names".to_owned(), unique_names)];
    let tiles: Arc<CheckedTiles> = Arc::default();
    for row in context.target().instructions() {
        let (name, row) = (case_name_part(&row.name), Arc::new(row.clone()));
        for (index, operand) in row.operands.iter().enumerate() {
            let (label, row, tiles) = (label(operand, index), Arc::clone(&row), Arc::clone(&tiles));
            let check = move |context: &Context| operand_law(context, &row, &row.operands[index], &tiles);
            cases.push(case(format!("layouts/instructions/operand/{name}/{label}"), check));
        }
        if row.semantics.is_mma() && ["a", "b", "d"].iter().all(|role| register(&row, role).is_some()) {
            cases.push(case(format!("layouts/instructions/products/{name}"), move |_| check_mma_tiles(&row)));
        }
    }
    cases
}

fn label(operand: &InstructionOperand, index: usize) -> String {
    match operand {
        InstructionOperand::Register { role, .. } => format!("{index}-{}", case_name_part(role)),
        InstructionOperand::Access { .. } => format!("{index}-access"),
        InstructionOperand::Memory(memory) => format!("{index}-{}", case_name_part(&memory.role)),
        InstructionOperand::Global { .. } => format!("{index}-global"),
        InstructionOperand::Tensor(tile) => format!("{index}-{}", case_name_part(&tile.role)),
        _ => index.to_string(),
    }
}

/// Returns the layout of the operand with the role `requested`; `None` if no register operand has it.
pub(super) fn register<'a>(row: &'a Instruction, requested: &str) -> Option<&'a LinearLayout> {
    row.find_register_operand(requested).map(|(.., layout)| layout)
}

fn unique_names(context: &Context) -> LawResult {
    let mut seen = BTreeSet::new();
    let twice = context.target().instructions().iter().find(|row| !seen.insert(&row.name));
    require(twice.is_none(), || format!("two rows are named `{}`", twice.map_or("", |row| &row.name)))
}

/// The results for tiles in shared memory that were checked already: the rows of one shape and width have equal tiles.
#[derive(Default)]
struct CheckedTiles(Mutex<Vec<(MemoryOperand, LawResult)>>);

impl CheckedTiles {
    fn check(&self, context: &Context, memory: &MemoryOperand) -> LawResult {
        // Tiles are compared without the role and the name of the element type, on which no result depends.
        let tile = MemoryOperand { role: String::new(), element: String::new(), ..memory.clone() };
        let checked = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = checked().iter().find(|(known, _)| *known == tile).map(|(_, result)| result.clone());
        known.unwrap_or_else(|| {
            let result = check_canonical_layouts(context, &tile);
            checked().push((tile, result.clone()));
            result
        })
    }
}

fn operand_law(context: &Context, row: &Instruction, operand: &InstructionOperand, tiles: &CheckedTiles) -> LawResult {
    match operand {
        InstructionOperand::Register { bits, layout, .. } => {
            // Elements of six bits are packed too, although the width is no power of two.
            require(bits.is_power_of_two() || *bits == 6, || format!("elements of {bits} bits"))?;
            // The layout has a warp dim if several warps issue the instruction together.
            let warps = (layout.in_bits(Dim::WARP) > 0).then_some(Dim::WARP);
            has_dims(layout, &[Some(Dim::REGISTER), Some(Dim::LANE), warps].into_iter().flatten().collect::<Vec<_>>())?;
            lanes_of(context, layout)?;
            covers_evenly(layout).map(drop).map_err(law_failure)
        }
        InstructionOperand::Access { data, address, alignment }
        | InstructionOperand::Global { data, address, alignment } => {
            // An asynchronous copy bypasses the registers, so its operand has no register dim.
            let copies = row.kind == InstructionKind::AsyncCopy;
            let dims: &[Dim] = if copies { &[Dim::LANE] } else { &[Dim::REGISTER, Dim::LANE] };
            access(context, dims, (data, address), *alignment)
        }
        InstructionOperand::Memory(memory) => tiles.check(context, memory),
        InstructionOperand::Tensor(tile) => tensor_tile(context, tile),
        InstructionOperand::Constant { bits, value, .. } => {
            let fits = value.checked_shr(*bits).unwrap_or(0) == 0;
            require(fits, || format!("{value:#x} does not fit into {bits} bits"))
        }
        _ => Ok(()),
    }
}

/// Checks that every element of a tile has one location within the target's tensor memory, and that none straddles two
/// columns of it.
fn tensor_tile(context: &Context, tile: &TensorMemoryOperand) -> LawResult {
    let memory = context.target().description().tensor.as_ref();
    let memory = memory.ok_or_else(|| law_failure("the target has no tensor memory".to_owned()))?;
    require(tile.bits.is_power_of_two() && tile.bits <= 32, || format!("positions of {} bits", tile.bits))?;
    has_dims(&tile.layout, &[Dim::ROW, Dim::COL])?;
    let (rows, columns) = (u64::from(memory.rows), u64::from(memory.columns) * 32 / u64::from(tile.bits));
    let element_positions = tile.element_positions();
    for (([row, element_position], element), copy) in element_positions
        .iter()
        .flat_map(|element_position| tile.copy_row_offsets().into_iter().map(move |copy| (element_position, copy)))
    {
        let row = row + copy;
        require(row < rows && *element_position < columns, || {
            format!("{element:?} is at row {row}, position {element_position} of it")
        })?;
    }
    let elements: BTreeSet<_> = element_positions.iter().map(|(_, element)| element).collect();
    let all = 1usize << tile.layout.outs().total_bits();
    require(elements.len() == all && element_positions.len() == all, || {
        format!("{} positions have {} of {all} elements", element_positions.len(), elements.len())
    })
}

/// Checks each canonical layout (such as a swizzle mode) of an operand in shared memory. Every element of a tile must
/// have a distinct address, and the matrix descriptor (which gives instructions the operand's location) must encode the
/// layout.
///
/// The operand must match the memory layout that is built for it, also for a matrix of several tiles if it fits a
/// block's memory.
fn check_canonical_layouts(context: &Context, memory: &MemoryOperand) -> LawResult {
    let room = u64::from(context.target().description().shared.bytes);
    require(!memory.layouts.is_empty(), || "the operand has no canonical layout".to_owned())?;
    let mut modes = BTreeSet::new();
    for canonical_layout in &memory.layouts {
        let name = &canonical_layout.name;
        require(modes.insert(canonical_layout.mode), || format!("{name}: another has the same mode"))?;
        check_isolated_tile(memory, canonical_layout).map_err(|message| law_failure(format!("{name}: {message}")))?;
        let mut filled = false;
        for times in [[1, 1], [1, 4], [4, 1], [8, 8]] {
            let shape = [0, 1].map(|axis| memory.shape[axis] * times[axis]);
            if shape[0] * shape[1] * u64::from(memory.bits / 8) > room {
                continue;
            }
            let layout = build_operand_memory_layout(memory, canonical_layout, shape)
                .map_err(|error| law_failure(format!("{name}: {error}")))?;
            let Some(layout) = layout else { continue };
            filled = true;
            check_descriptors(memory, &layout, times)
                .map_err(|message| law_failure(format!("{name}, {shape:?}: {message}")))?;
        }
        // A size in bytes that is not a power of two fits no memory layout.
        let is_layout = memory.bits >= 8 && memory.shape.iter().all(|size| size.is_power_of_two());
        require(filled || !is_layout, || format!("{name}: no matrix of some tiles fills it"))?;
    }
    Ok(())
}

/// Checks that an isolated tile has distinct bits for each element, in memory aligned as the canonical layout requires.
fn check_isolated_tile(memory: &MemoryOperand, canonical_layout: &CanonicalLayout) -> Result<(), String> {
    let tile = SharedOperandTile::with_layout(memory, canonical_layout).map_err(|error| error.to_string())?;
    let width = u64::from(memory.bits);
    let mut taken = vec![false; (8 * tile.bytes / width) as usize];
    for element in (0..memory.shape[0]).flat_map(|row| (0..memory.shape[1]).map(move |column| [row, column])) {
        let bit = tile.bit_offset(element);
        let place = taken.get_mut((bit / width) as usize).filter(|_| bit.is_multiple_of(width));
        if place.is_none_or(|taken| std::mem::replace(taken, true)) {
            return Err(format!("element {element:?} shares bits with another: it begins at bit {bit:#x}"));
        }
    }
    let fields = memory.descriptor.decode(tile.descriptor().map_err(|error| error.to_string())?);
    if fields != tile.fields || memory.find_layout_by_mode(fields.mode) != Some(canonical_layout) {
        return Err(format!("its descriptor encodes {fields:?}, not {:?}", tile.fields));
    }
    Ok(())
}

/// Checks that every element of every tile is at the address that the tile's matrix descriptor encodes. Each position
/// of the memory layout must be the address of its own element, so no element has two positions.
fn check_descriptors(memory: &MemoryOperand, layout: &LinearLayout, tiles: [u64; 2]) -> Result<(), String> {
    let descriptor_match = DescriptorMatch::find(layout, memory).map_err(|error| error.to_string())?;
    let encoded = |tile: [u64; 2]| {
        let bits = descriptor_match
            .encode_tile_descriptor(memory, tile)
            .ok_or_else(|| format!("no descriptor encodes the address of tile {tile:?}"))?;
        let fields = memory.descriptor.decode(bits);
        let canonical_layout = memory.find_layout_by_mode(fields.mode).ok_or("its descriptor encodes another mode")?;
        Ok::<_, String>((fields, canonical_layout))
    };
    let encoded = (0..tiles[0] * tiles[1])
        .map(|tile| encoded([tile / tiles[1], tile % tiles[1]]))
        .collect::<Result<Vec<_>, String>>()?;
    let [rows, columns] = memory.shape;
    let elements = tiles[0] * rows * tiles[1] * columns;
    if layout.ins().total_bits() != layout.outs().total_bits() || elements != 1 << layout.outs().total_bits() {
        return Err(format!("the memory layout does not have one position for each of {elements} elements"));
    }
    let (bytes, row_bits) = (u64::from(memory.bits / 8), layout.out_bits(Dim::tensor(0)));
    let mut wrong = None;
    walk(layout, |position, element| {
        let [row, column] = [element & ((1 << row_bits) - 1), element >> row_bits];
        let (fields, canonical_layout) = &encoded[(row / rows * tiles[1] + column / columns) as usize];
        let found = canonical_layout.element_address(fields, [row % rows, column % columns]);
        if found != position * bytes {
            wrong.get_or_insert_with(|| {
                format!("element {row}, {column} is at {:#x}, not at {found:#x}", position * bytes)
            });
        }
    })?;
    wrong.map_or(Ok(()), Err)
}

/// Checks a move instruction: every byte of every memory segment is moved, every segment has its address, and the
/// alignment of addresses does not exceed the segment's length.
fn access(
    context: &Context,
    dims: &[Dim],
    (data, address): (&LinearLayout, &LinearLayout),
    alignment: u32,
) -> LawResult {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    has_dims(data, &[dims, &[byte]].concat())?;
    lanes_of(context, data)?;
    covers_evenly(data).map_err(law_failure)?;
    has_dims(address, &[Dim::LANE])?;
    covers_evenly(address).map_err(law_failure)?;
    let (moved, addressed) = (data.out_bits(segment), address.out_bits(segment));
    require(moved == addressed, || format!("2^{moved} slots are moved, 2^{addressed} addressed"))?;
    let length = 1u64 << data.out_bits(byte);
    require(alignment.is_power_of_two() && length.is_multiple_of(u64::from(alignment)), || {
        format!("slots of {length} bytes cannot follow each other at an alignment of {alignment}")
    })
}

fn has_dims(layout: &LinearLayout, expected: &[Dim]) -> LawResult {
    let found: Vec<_> = layout.ins().dims().collect();
    require(found == expected, || format!("its inputs are {found:?}, not {expected:?}"))
}

fn lanes_of(context: &Context, layout: &LinearLayout) -> LawResult {
    let choices = &context.target().description().lanes.choices;
    let lanes = 1u64 << layout.in_bits(Dim::LANE);
    require(choices.iter().any(|&choice| u64::from(choice) == lanes), || {
        format!("{lanes} lanes, but a warp of the target has one of {choices:?}")
    })
}

/// Checks that the tiles of an MMA fit each other, so that (m, n, k) identifies one multiplication of two elements.
/// Each result must be held once, so that each multiplication is added once, and both operands of every multiplication
/// must be held.
fn check_mma_tiles(row: &Instruction) -> LawResult {
    let operand = |role| register(row, role).ok_or_else(|| law_failure(format!("there is no operand `{role}`")));
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
        covers_evenly(layout).map_err(|message| law_failure(format!("operand {role}: {message}")))?;
    }
    let copies = covers_evenly(d).map_err(law_failure)?;
    require(copies == 1, || format!("each result has {copies} replicas"))?;
    match register(row, "c") {
        Some(c) => require(c == d, || format!("the result has another layout than the accumulator\n{c}\nand\n{d}")),
        None => Ok(()),
    }
}
