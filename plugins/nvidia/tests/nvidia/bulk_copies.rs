//! Bulk copies: every instruction, with every swizzle and element width, moves each byte correctly on the emulator, and
//! `ptxas` accepts its PTX.

use crate::prelude::*;
use tilewright_kernel::{OutOfBoundsFill, TensorMap};
use tilewright_target::TensorCopyOperand;
use tilewright_verify::kernels::{BulkCopyExtent, build_bulk_copy_kernel};
use tilewright_verify::{build_box_copy_case, build_bulk_copy_1d_case, edge_box_origins, with_combined_element};

const GPU_MODELS: [&str; 3] = ["h100", "b200", "rtx5090"];

fn bulk_rows(target: &NvidiaTarget) -> Vec<Instruction> {
    target.instructions().iter().filter(|row| BulkCopyExtent::is_copied_by(row)).cloned().collect()
}

/// Returns tensor maps for the box operand of an instruction: every swizzle with every element width.
fn maps(operand: &TensorCopyOperand) -> Vec<TensorMap> {
    let mut maps = Vec::new();
    for box_layout in &operand.layouts {
        for element_bits in [8, 16, 32, 64] {
            let row = box_layout.row_bytes.unwrap_or(48) * 8 / element_bits;
            let mut box_sizes = vec![row, 9, 2, 3, 1];
            box_sizes.truncate(operand.rank as usize);
            let outside = if element_bits == 8 { OutOfBoundsFill::Zeros } else { OutOfBoundsFill::NotANumber };
            let map = TensorMap { element_bits, element: None, box_sizes, swizzle: box_layout.swizzle, outside };
            maps.extend(with_combined_element(map, operand));
        }
    }
    maps
}

#[test]
fn every_row_brings_every_byte() {
    for gpu_model in GPU_MODELS {
        let target = target(gpu_model);
        let rows = bulk_rows(&target);
        assert_eq!(rows.len(), 12 + 6 * 5, "two for each rank, two for spans, six reductions of each rank");
        let lanes = target.description().lanes.default;
        for row in rows {
            let context = PlanContext::new(target.description()).with_instructions(std::slice::from_ref(&row));
            let Some(operand) = row.tensor_copy_operand() else {
                check_emulated(&build_bulk_copy_1d_case(&row, 1040, lanes, None).unwrap(), context).unwrap();
                continue;
            };
            for map in maps(operand) {
                for which in 0..4 {
                    let origin: Vec<i32> = map.box_sizes.iter().map(|&size| edge_box_origins(size)[which]).collect();
                    let case = build_box_copy_case(&row, &map, &origin, lanes, None).unwrap().with_exact_bits();
                    let checked = check_emulated(&case, context);
                    checked.unwrap_or_else(|wrong| panic!("{} {map:?} at {origin:?}: {wrong}", row.name));
                }
            }
        }
    }
}

#[test]
fn layouts_are_the_published_swizzles() {
    let rows = bulk_rows(&target(GPU_MODELS[0]));
    let operand = rows.iter().find_map(Instruction::tensor_copy_operand).unwrap();
    let published = [(0u32, 0u32, 128), (1, 1, 256), (2, 2, 512), (3, 3, 1024)];
    for (mode, bits, alignment) in published {
        let own = operand.layouts.iter().find(|one| one.mode == mode).unwrap();
        assert_eq!((own.alignment, own.row_bytes), (alignment, (bits > 0).then_some(16 << bits)));
        for address in 0..4096u64 {
            let swizzled = address ^ ((address >> 7 & ((1 << bits) - 1)) << 4);
            assert_eq!(own.swizzle.apply(address), swizzled, "{}", own.name);
        }
    }
}

fn artifact(target: &NvidiaTarget, row: &Instruction, bulk: BulkCopyExtent<'_>) -> Artifact {
    let module = Module { kernels: vec![build_bulk_copy_kernel(row, 32, bulk, None).unwrap()] };
    let options = CompileOptions {
        emit: vec![CodeFormat::Assembly, CodeFormat::Object],
        optimisation: 2,
        ..CompileOptions::default()
    };
    let artifact = target.compile(&module, &options).unwrap();
    assert!(
        artifact.accepted_by.is_some() || object::find_assembler().is_err(),
        "there is an assembler that was not asked"
    );
    artifact
}

#[test]
fn every_row_is_code() {
    for gpu_model in GPU_MODELS {
        let target = target(gpu_model);
        for row in bulk_rows(&target) {
            let Some(operand) = row.tensor_copy_operand() else {
                let artifact = artifact(&target, &row, BulkCopyExtent::Copy1d(1024));
                let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
                assert!(ptx.contains(&format!("@one {} [", row.name)), "{ptx}");
                assert!(ptx.contains("1024;") || ptx.contains(", 1024"), "{ptx}");
                assert!(artifact.kernels[0].maps.is_empty());
                continue;
            };
            let map = &maps(operand)[1];
            let artifact = artifact(&target, &row, BulkCopyExtent::Box(map));
            let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
            assert!(ptx.contains(".param .align 64 .b8 bulk_param_0[128]"), "{ptx}");
            assert!(!ptx.contains(".local"), "the map stays where it is: {ptx}");
            let line = ptx.lines().find(|line| line.contains(&row.name)).unwrap();
            let issued = line.split("@one").nth(1).unwrap_or_else(|| panic!("by one lane: {line}"));
            let coordinates = issued.split(['{', '}']).nth(1).unwrap();
            // The instruction takes the coordinates in the order of their buffer.
            let loaded = |axis: u32| {
                let ending = if axis == 0 { "];".to_owned() } else { format!("+{}];", 4 * axis) };
                let mut loads = ptx.lines().map(str::trim).filter(|line| line.starts_with("ld.global.b32"));
                let load = loads.find(|line| line.ends_with(&ending) && (axis > 0 || !line.contains('+')));
                load.and_then(|line| line.split([' ', '\t', ',']).find(|word| word.starts_with("%r")))
                    .map(str::to_owned)
            };
            let found: Vec<_> = coordinates.split(',').map(|one| Some(one.trim().to_owned())).collect();
            assert_eq!(found, (0..operand.rank).map(loaded).collect::<Vec<_>>(), "{ptx}");
            let to_shared = row.name.contains("mbarrier");
            assert_eq!(ptx.contains("cp.async.bulk.commit_group"), !to_shared, "{ptx}");
            assert_eq!(ptx.contains("cp.async.bulk.wait_group 0"), !to_shared, "{ptx}");
            assert_eq!(ptx.contains("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r"), to_shared, "{ptx}");
            // The metadata gives the host the mode `CU_TENSOR_MAP_SWIZZLE_128B`.
            let [encoded] = &artifact.kernels[0].maps[..] else { panic!("{:?}", artifact.kernels) };
            assert_eq!((encoded.parameter, &encoded.map, encoded.mode), (0, map, Some(3)));
        }
    }
}

#[test]
fn tensor_copies_without_an_instruction_are_rejected_by_codegen() {
    let target = target(GPU_MODELS[0]);
    let row = bulk_rows(&target).into_iter().find(|row| row.name.contains("tensor.2d")).unwrap();
    let map = maps(row.tensor_copy_operand().unwrap()).remove(0);
    let mut kernel = build_bulk_copy_kernel(&row, 32, BulkCopyExtent::Box(&map), None).unwrap();
    kernel.parameters[0].map.as_mut().unwrap().box_sizes[1] = 257;
    let error = target.compile(&Module { kernels: vec![kernel] }, &CompileOptions::default()).unwrap_err();
    let CompileError::Invalid(message) = error else { panic!("{error}") };
    assert!(message.contains("257 elements along an axis; it copies 256 at most"), "{message}");
}
