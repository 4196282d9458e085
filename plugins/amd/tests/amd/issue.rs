//! Every instruction of the table as code: a kernel that issues it once has its mnemonic and registers, LLVM's
//! assembler and linker accept the code, and the emulator computes the instruction's result.
#![allow(clippy::unwrap_used)]

use tilewright_amd::AmdTarget;
use tilewright_amd_tables::ARCHITECTURES;
use tilewright_amd_tables::instructions::instructions_of;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::kernels::{extract_lines_between, module};
use tilewright_vendor_testkit::prelude::*;
use tilewright_verify::check_instruction_emulated;

const LANES: [u32; 2] = [32, 64];

/// Returns a target for tests, with a bank rule for accesses of 64 bits.
fn target(architecture: &str, lanes: &[u32]) -> TargetDescription {
    let mut target = kernels::build_fake_target(architecture, lanes);
    let mut row = target.shared.banks[0].clone();
    row.access_bits = vec![64, 128];
    target.shared.banks.push(row);
    target
}

fn compiled(architecture: &str, kernels: Vec<Kernel>, emit: CodeFormat) -> Result<Artifact, CompileError> {
    let options = CompileOptions { emit: vec![emit], ..CompileOptions::default() };
    AmdTarget::new(target(architecture, &LANES)).unwrap().compile(&module(kernels), &options)
}

/// Returns the number of registers of an operand in assembly: 8 for `v[8:15]`, 1 for `a3`.
fn registers(operand: &str) -> u32 {
    match operand.split_once('[').and_then(|(_, range)| range.trim_end_matches(']').split_once(':')) {
        Some((first, last)) => last.parse::<u32>().unwrap() - first.parse::<u32>().unwrap() + 1,
        None => 1,
    }
}

fn expected_registers(row: &Instruction) -> Vec<u32> {
    let of = |operand: &InstructionOperand| match operand {
        InstructionOperand::Register { bits, layout, .. } => (bits << layout.in_bits(Dim::REGISTER)).div_ceil(32),
        InstructionOperand::Access { .. } => 1,
        _ => panic!("{} has another operand", row.name),
    };
    row.operands.iter().map(of).collect()
}

#[test]
fn every_row_is_one_line_with_its_registers() {
    for architecture in ARCHITECTURES {
        // The code of asynchronous copies is tested in `copies.rs`.
        let issued = instructions_of(architecture).into_iter().filter(|row| row.kind != InstructionKind::AsyncCopy);
        let rows: Vec<Instruction> = issued.collect();
        assert!(!rows.is_empty(), "{architecture}");
        let kernels = rows.iter().enumerate();
        let kernels =
            kernels.map(|(row_index, row)| build_instruction_kernel(&format!("issue{row_index}"), row).unwrap());
        let artifact = compiled(architecture, kernels.collect(), CodeFormat::Assembly);
        let artifact = artifact.unwrap_or_else(|error| panic!("{architecture}: {error}"));
        for (row_index, row) in rows.iter().enumerate() {
            let text = extract_lines_between(
                artifact.payload_text(CodeFormat::Assembly).unwrap(),
                &format!(
                    "
issue{row_index}:"
                ),
                ".section",
            );
            let mnemonic = row.name.split('(').next().unwrap();
            let issued = |line: &&str| line.split_whitespace().next() == Some(mnemonic);
            let found: Vec<&str> = text.iter().copied().filter(issued).collect();
            let [line] = found[..] else { panic!("{architecture} {}: {text:?}", row.name) };
            let operands =
                line.trim().strip_prefix(mnemonic).unwrap().trim_start().split(", ").take(row.operands.len());
            let found: Vec<u32> =
                operands.map(|operand| registers(operand.split(' ').next().unwrap_or_default())).collect();
            assert_eq!(found, expected_registers(row), "{architecture}: {line}");
            let words = row.name.starts_with("v_wmma");
            for (role, modifier) in [("a", "cbsz"), ("b", "blgp")] {
                let word = format!("matrix_{role}_fmt");
                let modifier = if words { word.as_str() } else { modifier };
                let types = row.name.split_once("f8f6f4(").map(|(_, types)| types);
                let code = types.and_then(|types| types.trim_end_matches(')').split_once(','));
                let code = code.map(|(a, b)| if role == "a" { a } else { b });
                // By the CDNA 4 ISA reference, the code zero is fp8 and is omitted. For `wmma`, words stand for the
                // formats.
                let expected = match code {
                    Some("bf8") => Some(1),
                    Some("fp6") => Some(2),
                    Some("bf6") => Some(3),
                    Some("fp4") => Some(4),
                    _ => None,
                };
                let named = code.unwrap_or_default().to_uppercase();
                let written = expected.map(|code| match words {
                    true => format!("{modifier}:MATRIX_FMT_{named}"),
                    false => format!("{modifier}:{code}"),
                });
                assert_eq!(line.contains(modifier), expected.is_some(), "{architecture}: {line}");
                assert!(written.is_none_or(|written| line.contains(&written)), "{architecture}: {line}");
            }
            // This modifier of RDNA marks signed integers; it is omitted if neither operand is signed.
            let signs = match row.name.split_once('(').map_or("", |(_, suffix)| suffix.split(')').next().unwrap()) {
                _ if !row.name.contains("_iu") => None,
                "u8,u8" | "u4,u4" => None,
                "u8,iu8" | "u4,iu4" => Some("neg_lo:[0,1,0]"),
                "iu8,u8" | "iu4,u4" => Some("neg_lo:[1,0,0]"),
                _ => Some("neg_lo:[1,1,0]"),
            };
            assert_eq!(line.contains("neg_lo"), signs.is_some(), "{architecture}: {line}");
            assert!(signs.is_none_or(|signs| line.contains(signs)), "{architecture}: {line}");
            let saturates = row.semantics == Semantics::ContractSaturating;
            assert_eq!(line.contains("clamp"), saturates, "{architecture}: {line}");
            assert_eq!(row.name.contains("(clamp)"), saturates, "{architecture}: {line}");
        }
    }
}

#[test]
fn the_assembler_and_the_linker_take_every_row() {
    for architecture in ARCHITECTURES {
        let rows = instructions_of(architecture);
        let kernels = rows.iter().enumerate();
        let kernels =
            kernels.map(|(row_index, row)| build_instruction_kernel(&format!("issue{row_index}"), row).unwrap());
        let artifact = compiled(architecture, kernels.collect(), CodeFormat::Object);
        let artifact = artifact.unwrap_or_else(|error| panic!("{architecture}: {error}"));
        assert_eq!(artifact.accepted_by.as_deref(), Some("LLVM's assembler and linker"), "{architecture}");
        assert!(artifact.payload(CodeFormat::Object).unwrap().bytes.starts_with(b"\x7fELF"), "{architecture}");
    }
}

#[test]
fn on_the_emulator_every_instruction_is_a_plain_mma_or_copy() {
    let mut all = BTreeMap::new();
    for architecture in ARCHITECTURES {
        for row in instructions_of(architecture) {
            // Entries with one name can differ between generations.
            all.insert((architecture, row.name.clone()), row);
        }
    }
    assert!(all.len() > 200, "{} rows", all.len());
    for ((architecture, name), row) in all {
        check_instruction_emulated(&row, &target(architecture, &LANES))
            .unwrap_or_else(|e| panic!("{architecture} {name}: {e}"));
    }
}

/// Returns the expected result of a transposing load of elements that are numbered in memory order. Lane i addresses
/// slot i (a 64-bit piece of shared memory).
fn loaded(name: &str, element_bytes: usize) -> Vec<u64> {
    let row = instructions_of("gfx950").into_iter().find(|row| row.name == name).unwrap();
    let kernel = build_instruction_kernel("issue", &row).unwrap();
    // 512 bytes; elements of two bytes have distinct numbers.
    let bytes: Vec<u8> = (0..512usize).map(|at| ((at / element_bytes) >> (8 * (at % element_bytes))) as u8).collect();
    let mut memory = GlobalMemory::new();
    let buffers = [memory.allocate(512), memory.allocate_with(&bytes)];
    let (semantics, target) = (SemanticsTable::from_instructions(std::slice::from_ref(&row)), target("gfx950", &LANES));
    let emulator = Emulator::new(&kernel, &target).unwrap().with_semantics(&semantics);
    emulator.run([1, 1, 1], &buffers.map(Argument::Buffer), &mut memory, &RunLimits::default()).unwrap();
    let found = memory.read_all(buffers[0]).unwrap();
    found
        .chunks_exact(element_bytes)
        .map(|e| e.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
        .collect()
}

/// Checks ROCm/rocm-systems pull request 10175, verified on hardware: in a group of sixteen lanes, element `n` of lane
/// `l` is element `l & 3` of the slot (64-bit piece) that lane `(l >> 2 & 3) + 4 n` addresses.
#[test]
fn f16_elements_are_transposed_as_on_hardware() {
    let found = loaded("ds_read_b64_tr_b16", 2);
    for lane in 0..64u64 {
        for element in 0..4 {
            let segment = (lane & !15) + (lane >> 2 & 3) + 4 * element;
            assert_eq!(
                found[(4 * lane + element) as usize],
                4 * segment + (lane & 3),
                "lane {lane}, element {element}"
            );
        }
    }
}

/// Checks Triton's LinearLayoutConversionsTest.cpp, `mfma16_dot_op_lhs_trans`: the elements that lanes address, and the
/// part of operand A of `mfma` 16x16 that they receive. Bases are (m, k) for registers and lanes.
#[test]
fn transposed_operands_are_those_of_tritons_tests() {
    type Bases<'a> = &'a [[u64; 2]];
    let cases: [(&str, usize, Bases<'_>, Bases<'_>, Bases<'_>, Bases<'_>); 2] = [
        (
            "ds_read_b64_tr_b16",
            2,
            &[[1, 0], [2, 0]],
            &[[4, 0], [8, 0], [0, 1], [0, 2], [0, 8], [0, 16]],
            &[[0, 1], [0, 2]],
            &[[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]],
        ),
        (
            "ds_read_b64_tr_b8",
            1,
            &[[1, 0], [2, 0], [4, 0]],
            &[[8, 0], [0, 1], [0, 2], [0, 4], [0, 16], [0, 32]],
            &[[0, 1], [0, 2], [0, 4]],
            &[[1, 0], [2, 0], [4, 0], [8, 0], [0, 16], [0, 32]],
        ),
    ];
    let image = |bases: Bases<'_>, row_index: u64| {
        let set = bases.iter().enumerate().filter(|(bit, _)| row_index >> bit & 1 == 1);
        set.fold([0, 0], |sum: [u64; 2], (_, basis)| [sum[0] + basis[0], sum[1] + basis[1]])
    };
    let sum = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
    for (name, bytes, in_segment, named, registers, lanes) in cases {
        let elements = 8 / bytes as u64;
        let stored = |index: u64| sum(image(in_segment, index % elements), image(named, index / elements));
        for (at, index) in loaded(name, bytes).into_iter().enumerate() {
            // A one-byte element holds only the lower eight bits of its number; the slot of the same block is meant.
            let (lane, element) = (at as u64 / elements, at as u64 % elements);
            let index = if bytes == 1 { index | (lane & 32) << 3 } else { index };
            assert_eq!(stored(index), sum(image(registers, element), image(lanes, lane)), "{name}, lane {lane}");
        }
    }
}

#[test]
fn eight_bit_floats_are_those_of_the_generation() {
    let elements = |architecture, name: &str| {
        let row = instructions_of(architecture).into_iter().find(|row| row.name == name).unwrap();
        let element = |operand: &InstructionOperand| match operand {
            InstructionOperand::Register { element, .. } => element.clone(),
            _ => String::new(),
        };
        row.operands.iter().map(element).collect::<Vec<_>>()
    };
    // CDNA 3 ISA reference: without negative zero and infinities; CDNA 4 and RDNA 4: types of OCP.
    let name = "v_mfma_f32_16x16x32_fp8_bf8";
    assert_eq!(elements("gfx942", name), ["f32", "fp8_fnuz", "bf8_fnuz", "f32"]);
    assert_eq!(elements("gfx950", name), ["f32", "fp8", "bf8", "f32"]);
    assert_eq!(elements("gfx1200", "v_wmma_f32_16x16x16_fp8_bf8"), ["f32", "fp8", "bf8", "f32"]);
}

#[test]
fn what_an_architecture_lacks_is_unsupported_by_name() {
    let row = instructions_of("gfx942").into_iter().find(|row| row.name == "v_mfma_f32_16x16x8_xf32").unwrap();
    let error =
        compiled("gfx90a", vec![build_instruction_kernel("issue", &row).unwrap()], CodeFormat::Assembly).unwrap_err();
    assert!(matches!(&error, CompileError::Unsupported(message) if message.contains(&row.name)), "{error}");
}

#[test]
fn warps_of_another_size_are_the_callers_fault() {
    let row = instructions_of("gfx1100").into_iter().find(|row| row.name.ends_with("(wave64)")).unwrap();
    let mut kernel = build_instruction_kernel("issue", &row).unwrap();
    kernel.launch.lanes = 32;
    let error = compiled("gfx1100", vec![kernel], CodeFormat::Assembly).unwrap_err();
    assert!(matches!(&error, CompileError::Invalid(message) if message.contains("64 lanes")), "{error}");
}
