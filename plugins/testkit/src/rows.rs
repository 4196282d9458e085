//! Checks of the instructions in a vendor's instruction table, against published layouts and the vendor's layout
//! families.

use serde_json::Value;
use tilewright_target::TensorMemoryOperand;

use crate::prelude::*;

/// Checks, for each group of a vendor's instruction table, that all its instructions have the group's kind.
#[track_caller]
pub fn groups_have_one_kind<V: tilewright_plugin::VendorTables>() {
    for architecture in V::ARCHITECTURES {
        for group in V::INSTRUCTIONS {
            let other = (group.rows)(architecture).into_iter().find(|row| row.kind != group.kind);
            assert_eq!(other, None, "{architecture}, {:?}", group.kind);
        }
    }
}

/// Returns the same as [`Instruction::find_register_operand`]; panics if the operand is not in registers.
#[track_caller]
pub fn expect_register_operand<'a>(row: &'a Instruction, required: &str) -> (&'a str, u32, &'a LinearLayout) {
    row.find_register_operand(required).unwrap_or_else(|| panic!("{} has no {required} in registers", row.name))
}

/// Returns the operand with the role `required`; panics if it is not in shared memory.
#[track_caller]
pub fn memory<'a>(row: &'a Instruction, required: &str) -> &'a MemoryOperand {
    row.find_memory_operand(required).unwrap_or_else(|| panic!("{} has no {required} in shared memory", row.name))
}

/// Returns the first operand in tensor memory; panics if there is none.
#[track_caller]
pub fn expect_tensor_memory_operand(row: &Instruction) -> &TensorMemoryOperand {
    row.operands
        .iter()
        .find_map(InstructionOperand::tensor_memory_operand)
        .unwrap_or_else(|| panic!("{} has no tile", row.name))
}

/// Returns the value of an instruction's constant operand; `None` if it has none.
pub fn find_constant_operand(row: &Instruction) -> Option<u64> {
    row.operands.iter().find_map(|operand| match operand {
        InstructionOperand::Constant { value, .. } => Some(*value),
        _ => None,
    })
}

/// Returns the size of each tensor axis of a layout, in elements.
pub fn sizes<const N: usize>(layout: &LinearLayout) -> [u64; N] {
    std::array::from_fn(|axis| 1 << layout.out_bits(Dim::tensor(axis)))
}

/// Returns the tensor coordinates of the element that a register of a lane of a warp holds.
pub fn coordinates(layout: &LinearLayout, register: u64, lane: u64, warp: u64) -> Vec<u64> {
    let all = [(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)];
    let at: Vec<_> = all.into_iter().filter(|(dim, _)| layout.ins().contains(*dim)).collect();
    layout.apply(&at).expect("a place").into_iter().map(|(_, coordinate)| coordinate).collect()
}

/// Checks an operand in registers against a published thread-value layout. `published` numbers the elements of a tile
/// with `rows` rows along columns, or along rows if `is_swapped`.
pub fn check_published_layout(row: &Instruction, role: &str, published: &Value, rows: u64, is_swapped: bool) {
    let published = ThreadValue::parse(published.as_str().expect("a thread-value layout"));
    let (_, _, layout) = expect_register_operand(row, role);
    let operand = row.find_matrix_operand(role).expect("it is in registers");
    assert_eq!(published.size(1), row.registers_per_lane(operand), "registers of {role} of {}", row.name);
    let lanes = 1 << layout.in_bits(Dim::LANE);
    for thread in 0..published.size(0) {
        for value in 0..published.size(1) {
            let found = coordinates(layout, value, thread % lanes, thread / lanes);
            let (first, second) = if is_swapped { (found[1], found[0]) } else { (found[0], found[1]) };
            let index = published.index(thread, value);
            let expected = (index % rows, index / rows);
            assert_eq!((first, second), expected, "{role} of {}, thread {thread}, value {value}", row.name);
        }
    }
}

/// Returns a family's layout for this shape, restricted to these input dims and without zero bases of registers.
pub fn resolve_family_layout(families: &dyn Families, spec: &FamilySpec, shape: &[u64], dims: &[Dim]) -> LinearLayout {
    let layout = families.resolve(spec, shape, families).expect("a layout");
    let outs: Vec<_> = layout.linear().outs().dims().collect();
    let restricted = layout.linear().sublayout(dims, &outs).expect("its dims");
    restricted.remove_zero_bases(Dim::REGISTER)
}

/// Checks the families' sample layouts for `requested`: their names must be unique, they must have the requested lanes
/// and warps, and `table` must have the instruction of each operand sample exactly once. Returns the names of these
/// instructions.
pub fn samples_are_layouts(
    families: &dyn Families,
    table: &[Instruction],
    requested: SampleLayoutRequest,
    shape: &[u64],
) -> Vec<String> {
    let samples = families.samples(requested);
    let names: BTreeSet<_> = samples.iter().map(|sample| &sample.name).collect();
    assert_eq!(names.len(), samples.len(), "names are unique");
    for sample in &samples {
        let layout = families.resolve(&sample.spec, shape, families).expect("a sample is a layout");
        if let Layout::Distributed(layout) = &layout {
            let dims = [Dim::LANE, Dim::WARP].map(|dim| 1 << layout.in_bits(dim));
            assert_eq!(dims, [requested.lanes, requested.warps], "{}", sample.name);
        }
    }
    let fed = samples.iter().filter_map(|sample| sample.operand.as_ref()).map(|operand| operand.instruction.clone());
    let fed: Vec<String> = fed.collect();
    for name in &fed {
        assert_eq!(table.iter().filter(|row| row.name == *name).count(), 1, "instructions `{name}`");
    }
    fed
}
