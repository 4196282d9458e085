//! Every row of the instruction table as code: a kernel that issues it once is emitted with the row's
//! mnemonic and registers, LLVM's assembler and linker take it, and the emulator gives what the row
//! says.
#![allow(clippy::unwrap_used)]

#[path = "../../llvm/tests/kernels/mod.rs"]
mod kernels;

use std::collections::BTreeMap;

use kernels::module;
use tilewright::kernel::Kernel;
use tilewright::layout::Dim;
use tilewright::lower::instruction_kernel;
use tilewright::pipeline::prove_instruction;
use tilewright::target::{Instruction, Operand, TargetDescription};
use tilewright::vendor::{Artifact, CompileError, CompileOptions, Emit, Target};
use tilewright_amd::instructions::rows;
use tilewright_amd::{ARCHITECTURES, AmdTarget};

const LANES: [u32; 2] = [32, 64];

/// A target that also has banks for accesses of 64 bits.
fn target(architecture: &str, lanes: &[u32]) -> TargetDescription {
    let mut target = kernels::target(architecture, lanes);
    let mut row = target.shared.banks[0].clone();
    row.access_bits = vec![64];
    target.shared.banks.push(row);
    target
}

fn compiled(architecture: &str, kernels: Vec<Kernel>, emit: Emit) -> Result<Artifact, CompileError> {
    let options = CompileOptions { emit: vec![emit], ..CompileOptions::default() };
    AmdTarget::new(target(architecture, &LANES)).unwrap().compile(&module(kernels), &options)
}

/// Registers of an operand in assembly: `v[8:15]`, `a3`.
fn registers(operand: &str) -> u32 {
    match operand.split_once('[').and_then(|(_, range)| range.trim_end_matches(']').split_once(':')) {
        Some((first, last)) => last.parse::<u32>().unwrap() - first.parse::<u32>().unwrap() + 1,
        None => 1,
    }
}

fn expected_registers(row: &Instruction) -> Vec<u32> {
    let of = |operand: &Operand| match operand {
        Operand::Register { bits, layout, .. } => (bits << layout.in_bits(Dim::REGISTER)).div_ceil(32),
        Operand::Access { .. } => 1,
        _ => panic!("{} has another operand", row.name),
    };
    row.operands.iter().map(of).collect()
}

#[test]
fn every_row_is_one_line_with_its_registers() {
    for architecture in ARCHITECTURES {
        let rows = rows(architecture);
        assert!(!rows.is_empty(), "{architecture}");
        for row in rows {
            let kernel = instruction_kernel("issue", &row).unwrap();
            let artifact = compiled(architecture, vec![kernel], Emit::Assembly);
            let artifact = artifact.unwrap_or_else(|error| panic!("{architecture} {}: {error}", row.name));
            let text = artifact.text(Emit::Assembly).unwrap();
            let mnemonic = row.name.split('(').next().unwrap();
            let issued = |line: &&str| line.split_whitespace().next() == Some(mnemonic);
            let found: Vec<&str> = text.lines().filter(issued).collect();
            let [line] = found[..] else { panic!("{architecture} {}: {text}", row.name) };
            let operands = line.trim().strip_prefix(mnemonic).unwrap().trim_start().split(", ").take(4);
            let found: Vec<u32> =
                operands.map(|operand| registers(operand.split(' ').next().unwrap_or_default())).collect();
            assert_eq!(found, expected_registers(&row), "{architecture}: {line}");
            for (role, modifier) in [("a", "cbsz"), ("b", "blgp")] {
                let code = row.name.split_once('(').and_then(|(_, types)| types.trim_end_matches(')').split_once(','));
                let code = code.map(|(a, b)| if role == "a" { a } else { b });
                // CDNA 4 ISA reference: zero, which is not written, is fp8.
                let expected = match code {
                    Some("bf8") => Some(1),
                    Some("fp4") => Some(4),
                    _ => None,
                };
                let written = expected.map(|code| format!("{modifier}:{code}"));
                assert_eq!(line.contains(modifier), expected.is_some(), "{architecture}: {line}");
                assert!(written.is_none_or(|written| line.contains(&written)), "{architecture}: {line}");
            }
            // Integers of RDNA have a sign where this modifier says so.
            let signed = row.name.contains("_iu");
            assert_eq!(line.contains("neg_lo:[1,1,0]"), signed, "{architecture}: {line}");
        }
    }
}

#[test]
fn the_assembler_and_the_linker_take_every_row() {
    for architecture in ARCHITECTURES {
        let rows = rows(architecture);
        let kernels = rows.iter().enumerate();
        let kernels = kernels.map(|(number, row)| instruction_kernel(&format!("issue{number}"), row).unwrap());
        let artifact = compiled(architecture, kernels.collect(), Emit::Object);
        let artifact = artifact.unwrap_or_else(|error| panic!("{architecture}: {error}"));
        assert_eq!(artifact.taken_by.as_deref(), Some("LLVM's assembler and linker"), "{architecture}");
        assert!(artifact.payload(Emit::Object).unwrap().bytes.starts_with(b"\x7fELF"), "{architecture}");
    }
}

#[test]
fn on_the_emulator_every_row_is_a_plain_product_or_copy() {
    let mut all = BTreeMap::new();
    for architecture in ARCHITECTURES {
        for row in rows(architecture) {
            // Rows of one name can differ between generations.
            all.insert((architecture, row.name.clone()), row);
        }
    }
    assert!(all.len() > 200, "{} rows", all.len());
    for ((architecture, name), row) in all {
        prove_instruction(&row, &target(architecture, &LANES)).unwrap_or_else(|e| panic!("{architecture} {name}: {e}"));
    }
}

#[test]
fn eight_bit_floats_are_those_of_the_generation() {
    let elements = |architecture, name: &str| {
        let row = rows(architecture).into_iter().find(|row| row.name == name).unwrap();
        let element = |operand: &Operand| match operand {
            Operand::Register { element, .. } => element.clone(),
            _ => String::new(),
        };
        row.operands.iter().map(element).collect::<Vec<_>>()
    };
    // CDNA 3 ISA reference: without negative zero and infinities; CDNA 4 and RDNA 4: OCP's.
    let name = "v_mfma_f32_16x16x32_fp8_bf8";
    assert_eq!(elements("gfx942", name), ["f32", "fp8_fnuz", "bf8_fnuz", "f32"]);
    assert_eq!(elements("gfx950", name), ["f32", "fp8", "bf8", "f32"]);
    assert_eq!(elements("gfx1200", "v_wmma_f32_16x16x16_fp8_bf8"), ["f32", "fp8", "bf8", "f32"]);
}

#[test]
fn what_an_architecture_lacks_is_unsupported_by_name() {
    let row = rows("gfx942").into_iter().find(|row| row.name == "v_mfma_f32_16x16x8_xf32").unwrap();
    let error = compiled("gfx90a", vec![instruction_kernel("issue", &row).unwrap()], Emit::Assembly).unwrap_err();
    assert!(matches!(&error, CompileError::Unsupported(message) if message.contains(&row.name)), "{error}");
}

#[test]
fn warps_of_another_size_are_the_callers_fault() {
    let row = rows("gfx1100").into_iter().find(|row| row.name.ends_with("(wave64)")).unwrap();
    let mut kernel = instruction_kernel("issue", &row).unwrap();
    kernel.launch.lanes = 32;
    let error = compiled("gfx1100", vec![kernel], Emit::Assembly).unwrap_err();
    assert!(matches!(&error, CompileError::Invalid(message) if message.contains("64 lanes")), "{error}");
}
