//! 2-D block loads: their instructions, their register layouts, their use for MMA operands, and their code.
#![allow(clippy::unwrap_used)]

use crate::validate::validate;
use crate::validated_target::ValidatedTarget;
use crate::validated_target::target;
use rspirv::binary::Assemble;
use rspirv::spirv::Op;
use tilewright_intel_tables::instructions::instructions_of;
use tilewright_plan::movement::{Block2dLoadPlan, BlockLoadSource};
use tilewright_vendor_testkit::dots::{assembly, object, planned, problem, proven};
use tilewright_vendor_testkit::prelude::*;

/// Returns an MMA problem both of whose operands can be loaded by 2-D block loads.
fn by_blocks(target: &ValidatedTarget) -> MmaProblem {
    problem(target, [8, 32, 32], ["f16", "f16", "f32"]).with_warps(1)
}

fn row(name: &str) -> Instruction {
    let name = format!("intel_sub_group_2d_block_read_{name}");
    instructions_of("pvc").into_iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn registers(row: &Instruction) -> &LinearLayout {
    row.operands.iter().find_map(InstructionOperand::register_layout).unwrap()
}

fn columns(layout: &LinearLayout, dim: Dim) -> Vec<[u64; 2]> {
    let at = |&column: &u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
    layout.columns_of(dim).iter().map(at).collect()
}

/// Checks the bases of registers and work items against Intel's tests of Triton, LinearLayoutConversionsTest.
#[test]
fn registers_match_intels_tests() {
    let powers = |from: u64, to: u64, axis: usize| -> Vec<[u64; 2]> {
        let at = |power: u32| if axis == 0 { [1 << power, 0] } else { [0, 1 << power] };
        (from.trailing_zeros()..to.trailing_zeros()).map(at).collect()
    };
    for (name, registers_are, lanes_are) in [
        // I8_16x32x1: two neighbours, then rows; work items have every second column.
        ("8b_16r32x1c", [powers(1, 2, 1), powers(1, 16, 0)].concat(), powers(2, 32, 1)),
        // FP32_32x8x2: every second row, then the next block; work items have columns and a row.
        ("32b_32r8x2c", [powers(2, 32, 0), powers(8, 16, 1)].concat(), [powers(1, 8, 1), powers(1, 2, 0)].concat()),
        // By the OpenCL extension, a row of 16 is distributed over the work items.
        ("16b_8r16x2c", [powers(1, 8, 0), powers(16, 32, 1)].concat(), powers(1, 16, 1)),
        // MMA operands: neighbours of a column in one register; transposed, a row in each work item.
        ("transform_16b_16r16x1c", powers(1, 16, 0), powers(1, 16, 1)),
        ("transform_8b_32r16x2c", [powers(1, 32, 0), powers(16, 32, 1)].concat(), powers(1, 16, 1)),
        ("transpose_32b_16r8x1c", powers(1, 8, 1), powers(1, 16, 0)),
    ] {
        let row = row(name);
        let layout = registers(&row);
        assert_eq!(columns(layout, Dim::REGISTER), registers_are, "{name}");
        assert_eq!(columns(layout, Dim::LANE), lanes_are, "{name}");
    }
}

#[test]
fn blocks_are_those_of_the_extension() {
    let reads =
        |architecture| instructions_of(architecture).into_iter().filter(|row| row.kind == InstructionKind::GlobalMove);
    let names: BTreeSet<String> = reads("pvc").map(|row| row.name).collect();
    // Six heights of two widths for 8 bits, for 16 bits, and for 32 bits with 16 columns; five of two widths with 8
    // columns.
    let plain = 6 * 5 + 5 * 2;
    assert_eq!(names.len(), plain + 3 + 4 + 1, "{names:?}");
    assert_eq!(reads("xe2").count(), names.len());
    assert_eq!(reads("dg2").count(), 0);
}

/// Checks that an MMA's operands are loaded by 2-D block loads if rows have 64 bytes or more and elements need no
/// conversion.
#[test]
fn operands_in_the_layout_of_the_mma_use_block_loads() {
    let target = target("max1550");
    for (types, shape, warps, expected) in [
        // A lane's registers hold all of K, or half of it.
        (["bf16", "bf16", "f32"], [8, 32, 32], 1, ["16b_8r16x2c", "transform_16b_32r16x2c"]),
        (["f16", "f16", "f32"], [8, 64, 32], 1, ["16b_8r16x1c", "transform_16b_16r16x2c"]),
        (["i8", "i8", "i32"], [16, 64, 64], 1, ["", "transform_8b_32r16x4c"]),
        // Warps share rows of A or columns of B.
        (["f16", "f16", "f32"], [64, 64, 64], 4, ["", "transform_16b_"]),
    ] {
        let plan = proven(&target, &problem(&target, shape, types).with_warps(warps));
        assert!(plan.instruction().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.atom_name());
        let operand_loads = plan.plan_operand_loads(build_plan_context(&target)).unwrap();
        for (operand_load, expected) in operand_loads.iter().zip(expected) {
            let found = operand_load.blocks.as_ref().map_or("", |blocks| blocks.instruction.as_str());
            let required = format!("intel_sub_group_2d_block_read_{expected}");
            assert!(found.starts_with(&required), "{types:?} {shape:?}, {warps} warps: {found}, expected {required}");
        }
        let text = assembly(&target, &plan);
        for operand_load in &operand_loads {
            let name = &operand_load.blocks.as_ref().unwrap().instruction;
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}

/// Checks MMAs of several chunks along K: the coordinates of the block advance, and the matrix stays the same.
#[test]
fn chunks_are_blocks_of_one_matrix() {
    let target = target("max1550");
    for (shape, warps) in [([8, 32, 2048], 1), ([64, 64, 1024], 4)] {
        let plan = proven(&target, &problem(&target, shape, ["f16", "f16", "f32"]).with_warps(warps));
        assert!(plan.chunk_count() > 1);
        let operand_loads = plan.plan_operand_loads(build_plan_context(&target)).unwrap();
        assert!(operand_loads.iter().all(|operand_load| operand_load.blocks.is_some()), "{shape:?}");
    }
}

/// Checks operands that 2-D block loads do not fit: rows of less than 64 bytes, and cast elements, which have another
/// register layout.
#[test]
fn other_operands_are_loaded_element_by_element() {
    let target = target("max1550");
    for (types, shape) in [(["f16", "f16", "f32"], [32, 16, 16]), (["i8", "f16", "f32"], [32, 32, 32])] {
        let plan = proven(&target, &problem(&target, shape, types));
        let [a, _] = plan.plan_operand_loads(build_plan_context(&target)).unwrap();
        assert!(a.blocks.is_none(), "{types:?} {shape:?}");
    }
}

#[test]
fn code_calls_the_builtins_as_the_extension_names_them() {
    let target = target("max1550");
    let plan = planned(&target, &by_blocks(&target));
    let text = assembly(&target, &plan);
    for name in [
        "_Z41intel_sub_group_2d_block_read_16b_8r16x2cPU3AS1viiiDv2_iPt",
        "_Z52intel_sub_group_2d_block_read_transform_16b_32r16x2cPU3AS1viiiDv2_iPj",
    ] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}: {text}");
    }
    assert!(!object(&target, &plan).is_empty());
}

/// Checks that the private array that receives a load is declared before all other instructions of the function.
#[test]
fn arrays_come_first_in_the_first_block() {
    let target = target("max1550");
    let plan = planned(&target, &by_blocks(&target));
    let words: Vec<u32> =
        object(&target, &plan).chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    validate(&words).unwrap();
    let mut module = rspirv::dr::load_words(&words).unwrap();
    let block = module.functions.iter_mut().flat_map(|function| &mut function.blocks).next().unwrap();
    let arrays = block.instructions.iter().take_while(|first| first.class.opcode == Op::Variable).count();
    assert_eq!(
        arrays as u64,
        plan.plan_operand_loads(build_plan_context(&target))
            .unwrap()
            .iter()
            .map(|operand_load| operand_load.blocks.as_ref().unwrap().accesses)
            .sum::<u64>()
    );
    block.instructions.swap(arrays - 1, arrays);
    let fault = validate(&module.assemble()).unwrap_err().to_string();
    assert!(fault.contains("come first in its first block"), "{fault}");
}

/// Checks the choice between two instructions that load the same map: the one of fewer cycles, wherever it is in the
/// table; the first one if no cycles are known.
#[test]
fn among_loads_of_the_same_map_the_cheapest_wins() {
    let target = target("max1550");
    let own = row("16b_8r16x1c");
    let other = Instruction { name: format!("{}_again", own.name), ..own.clone() };
    let one = |dim| LinearLayout::identity(1, dim, Dim::tensor(0)).unwrap();
    let layout = registers(&own).direct_sum(&one(Dim::WARP)).unwrap().direct_sum(&one(Dim::BLOCK)).unwrap();
    let source = BlockLoadSource { shape: [64, 64], minor: 1, pitch: 64, alignment: 64 };
    let chosen = |cycles: [Option<f64>; 2]| {
        let rows = [&own, &other].into_iter().zip(cycles).map(|(row, cycles)| Instruction { cycles, ..row.clone() });
        let rows: Vec<_> = rows.collect();
        let context = build_plan_context(&target).with_instructions(&rows);
        Block2dLoadPlan::new(&layout, &source, 16, context).unwrap().instruction
    };
    for (cycles, required) in [
        ([None, None], &own),
        ([Some(8.0), Some(8.0)], &own),
        ([Some(8.0), Some(4.0)], &other),
        ([Some(4.0), Some(8.0)], &own),
        ([None, Some(8.0)], &other),
    ] {
        assert_eq!(chosen(cycles), required.name, "{cycles:?}");
    }
}
