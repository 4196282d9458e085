//! Dots whose operands are parts of tensors in shared memory: matrix descriptors begin at any part, and programs that
//! divide their tiles multiply right.

use crate::prelude::*;
use crate::tma_loops::check_on_virtual_device;
use tilewright_assign::synthesis::SynthesisOptions;
use tilewright_plan::mma::{MmaProblem, plan_mma};
use tilewright_plan::movement::{DescriptorMatch, build_operand_memory_layout};
use tilewright_target::{ElementType, InstructionOperand, MemoryOperand};
use tilewright_vendor_testkit::explicit::{DividedDot, RingDot, chained_dots_program, synthesize_and_emulate};

/// Checks the descriptor of every tile of tensors that have four tiles of an operand along each axis, in all canonical
/// layouts: the address of each element by the descriptor is the element's address in the layout of the full tensor.
#[test]
fn descriptors_of_all_tiles_give_the_addresses_of_the_full_tensor() {
    let target = target("h100");
    let operands = target.instructions().iter().flat_map(|row| &row.operands).filter_map(|operand| match operand {
        InstructionOperand::Memory(memory) if memory.bits >= 8 => Some(memory),
        _ => None,
    });
    let mut seen: Vec<&MemoryOperand> = Vec::new();
    for operand in operands {
        let is_known = |known: &&MemoryOperand| (known.shape, &known.layouts) == (operand.shape, &operand.layouts);
        if operand.shape.iter().all(|size| size.is_power_of_two()) && !seen.iter().any(is_known) {
            seen.push(operand);
            check_descriptors(operand);
        }
    }
    assert!(seen.len() > 10, "{} operands", seen.len());
}

fn check_descriptors(operand: &MemoryOperand) {
    const TILES: u64 = 4;
    let [rows, columns] = operand.shape;
    for canonical in &operand.layouts {
        let shape = [rows * TILES, columns * TILES];
        let Some(memory) = build_operand_memory_layout(operand, canonical, shape).expect("powers of two") else {
            continue;
        };
        let of_tensor = DescriptorMatch::find(&memory, operand).expect("its own canonical layout");
        let offsets = memory.invert().expect("a bijection");
        for tile in (0..TILES).flat_map(|row| (0..TILES).map(move |column| [row, column])) {
            let descriptor = of_tensor.encode_tile_descriptor(operand, tile).expect("within reach");
            let fields = operand.descriptor.decode(descriptor);
            for [row, column] in (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column])) {
                let at = [(Dim::tensor(0), tile[0] * rows + row), (Dim::tensor(1), tile[1] * columns + column)];
                let packed = memory.outs().pack(&at).expect("within the tensor");
                let offset = offsets.outs().coordinate(offsets.apply_packed(packed), Dim::OFFSET);
                let address = offset * u64::from(operand.bits / 8);
                assert_eq!(
                    canonical.element_address(&fields, [row, column]),
                    address,
                    "{} {tile:?} {row} {column}",
                    canonical.name
                );
            }
        }
    }
}

/// Checks that a plan takes parts of whole tiles that begin at multiples of their sizes, and no others.
#[test]
fn parts_begin_at_multiples_of_their_sizes() {
    let target = target("h100");
    let context = build_plan_context(&target);
    let types = ["f16", "f16", "f32"].map(|name| ElementType::from_name(name).expect("a type"));
    let row = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.ss.kk";
    let problem = MmaProblem::new([64, 64, 32], types, 32, 4).with_atom(Some(row.to_owned()));
    let plan = plan_mma(&problem.with_operands_in_shared([true; 2]), context).expect("wgmma");
    let instruction = target.instructions().iter().find(|known| known.name == row).expect("wgmma");
    let operand = instruction.find_memory_operand("a").expect("A in shared memory");
    let memory = build_operand_memory_layout(operand, &operand.layouts[0], [128, 64]).expect("powers of two");
    let memory = memory.expect("whole tiles");
    for first in [[0, 0], [64, 0], [0, 32], [64, 32]] {
        plan.with_operand_memory(0, &memory, &first).unwrap_or_else(|error| panic!("{first:?}: {error}"));
    }
    for first in [[32, 0], [0, 16]] {
        let wrong = plan.with_operand_memory(0, &memory, &first).expect_err("not a multiple").to_string();
        assert!(wrong.contains("not at a multiple of"), "{wrong}");
    }
}

/// Checks programs whose tiles are divided along M, N and K, with operands of both majors: `wgmma` reads all parts in
/// shared memory, in stages and in buffers that the program selects by a dynamic index.
#[test]
fn wgmma_reads_parts_of_tensors() {
    let target = target("h100");
    let shapes = [
        ([128, 64, 64], [2, 1, 4], 4),
        ([64, 128, 32], [1, 2, 1], 4),
        ([128, 128, 64], [2, 2, 2], 4),
        ([256, 32, 32], [2, 1, 2], 8),
    ];
    let majors = [[true, true], [false, true], [true, false], [false, false]];
    let dots = majors.into_iter().flat_map(|is_k_contiguous| shapes.map(|shape| (is_k_contiguous, shape)));
    for (number, (is_k_contiguous, (tile, parts, warps))) in dots.enumerate() {
        let (buffers, fills_parts) = ([0, 2, 4][number % 3], number % 2 == 1);
        let dot = DividedDot { tile, parts, is_k_contiguous, buffers, warps, fills_parts };
        let (case, text) = dot.program();
        let solved = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
        let all = solved.derivation.dots.iter().all(|dot| dot.instruction.contains(".ss."));
        assert!(all, "{dot:?}: {}", solved.derivation);
        let kernel = check_on_virtual_device(&target, &case, &text);
        assert!(buffers > 0 || kernel.contains("cp.async.bulk.tensor"), "{dot:?}: {}", solved.derivation);
    }
}

/// Checks a dot whose left operand is in registers that suffice for a part of K only: the MMAs of each part read theirs
/// of the right operand in the buffer that asynchronous copies fill.
#[test]
fn chunks_of_k_are_parts_of_a_prefetched_operand() {
    let target = target("h100");
    let (case, text) = chained_dots_program();
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    let kernel = case.compile_variant(&compiler, &text, &ProgramOptions::default()).expect("a kernel");
    let outcome = case.run_emulated(&kernel, build_plan_context(&target), &RunLimits::default()).expect("a run");
    assert!(outcome.differences.is_empty(), "{:?}", outcome.differences);
    // Each of 128 lanes copies 16 bytes of a tile of 16 KiB at a time, of both operands in four iterations.
    assert!(outcome.report.counts.asynchronous_copies >= 2 * 4 * 8, "{:?}", outcome.report.counts);
    check_on_virtual_device(&target, &case, &text);
}

/// Checks rings of buffers that a program orders itself: bulk tensor copies fill them, also part by part, in nested
/// loops, and with fewer copies in flight than buffers. On the virtual device copies complete as late as possible.
#[test]
fn bulk_tensor_copies_fill_rings_of_the_program() {
    let target = target("h100");
    let usual = RingDot { tile: [64, 64, 64], buffers: 2, distance: 1, parts: 1, columns: 1 };
    for dot in [
        usual,
        RingDot { buffers: 3, distance: 2, ..usual },
        RingDot { buffers: 4, distance: 3, ..usual },
        RingDot { buffers: 4, distance: 2, parts: 2, columns: 3, ..usual },
        RingDot { tile: [128, 64, 32], buffers: 4, distance: 2, columns: 2, ..usual },
    ] {
        let (case, text) = dot.program();
        let solved = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
        assert!(solved.derivation.lane_copies.is_empty(), "{dot:?}: {}", solved.derivation);
        let kernel = check_on_virtual_device(&target, &case, &text);
        let [bulk, lanes] = ["cp.async.bulk.tensor", "cp.async.c"].map(|name| kernel.contains(name));
        assert!(bulk && !lanes && kernel.contains("wgmma"), "{dot:?}: {}", solved.derivation);
    }
}

/// Checks the reasons why pending copies are no bulk tensor copies.
#[test]
fn pending_copies_by_lanes_have_a_reason() {
    let target = target("h100");
    let dot = RingDot { tile: [64, 64, 64], buffers: 4, distance: 2, parts: 1, columns: 1 };
    let (case, text) = dot.program();
    let unaligned = text.replace("%b: !tt.ptr<f16> {tt.divisibility = 16 : i32}", "%b: !tt.ptr<f16>");
    for (changed, reason) in [
        (text.replace("num = 0", "num = 2"), "an iteration begins and ends with different numbers of copies in flight"),
        (unaligned, "its rows are not known to begin at multiples of 16 bytes"),
    ] {
        let solved = synthesize_and_emulate(&target, &case, &changed, SynthesisOptions::default());
        let reasons = &solved.derivation.lane_copies;
        assert!(!reasons.is_empty() && reasons.iter().any(|text| text.contains(reason)), "{reasons:?}");
        let kernel = check_on_virtual_device(&target, &case, &changed);
        assert!(!kernel.contains("cp.async.bulk.tensor"), "{}", solved.derivation);
    }
}
