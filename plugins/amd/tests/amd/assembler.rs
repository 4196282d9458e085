//! The instruction table assembled by LLVM: each name is a mnemonic of its architecture, and each operand has as many
//! registers as the instruction's layout.
//!
//! On an error the assembler prints the line and terminates the test process.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use tilewright_amd_tables::ARCHITECTURES;
use tilewright_amd_tables::instructions::instructions_of;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::expect_register_operand;

/// Returns an operand's registers in assembly syntax, such as `v[8:11]`, or `a[0:3]` for accumulation registers;
/// `first` is the number of the first register.
fn registers(row: &Instruction, required: &str, kind: char, first: u32) -> String {
    let (_, bits, layout) = expect_register_operand(row, required);
    match (bits << layout.in_bits(Dim::REGISTER)).div_ceil(32) {
        1 => format!("{kind}{first}"),
        words => format!("{kind}[{first}:{}]", first + words - 1),
    }
}

/// Returns the assembly modifiers of an instruction, which its name has in brackets: operand types, saturation, lanes
/// of a wave.
fn modifiers(row: &Instruction) -> String {
    let mut modifiers = String::new();
    let mut signs = row.name.contains("_iu").then_some([1, 1]);
    for modifier in row.name.split('(').skip(1).map(|modifier| modifier.trim_end_matches(')')) {
        let code = |name| ["fp8", "bf8", "fp6", "bf6", "fp4"].iter().position(|&known| known == name);
        match modifier.split_once(',') {
            Some((a, b)) if signs.is_some() => signs = Some([a, b].map(|name| u32::from(name.starts_with('i')))),
            Some((a, b)) if row.name.starts_with("v_wmma") => {
                let named = |side, name: &str| format!(" matrix_{side}_fmt:MATRIX_FMT_{}", name.to_uppercase());
                modifiers += &(named("a", a) + &named("b", b));
                if row.name.contains("_scale16_") {
                    modifiers += " matrix_a_scale_fmt:MATRIX_SCALE_FMT_E4M3 matrix_b_scale_fmt:MATRIX_SCALE_FMT_E4M3";
                }
            }
            Some((a, b)) => {
                modifiers += &format!(" cbsz:{} blgp:{}", code(a).expect("a type"), code(b).expect("a type"));
            }
            None if modifier == "clamp" => modifiers += " clamp",
            None => assert_eq!(modifier, "wave64"),
        }
    }
    signs.map(|[a, b]| format!(" neg_lo:[{a},{b},0]")).unwrap_or_default() + &modifiers
}

/// Returns the instruction as a line of assembly.
fn line(architecture: &str, row: &Instruction) -> String {
    let mnemonic = row.name.split('(').next().expect("a name");
    if row.kind == InstructionKind::AsyncCopy {
        // Before gfx940, the mnemonic is that of a plain load with an `lds` operand.
        return match architecture {
            "gfx908" | "gfx90a" => format!("{} v[64:65], off lds\n", mnemonic.replace("_lds", "")),
            _ => format!("{mnemonic} v[64:65], off\n"),
        };
    }
    if row.semantics == Semantics::Move {
        return format!("{mnemonic} {}, v64\n", registers(row, "d", 'v', 0));
    }
    // On the first CDNA, results are in accumulation registers only.
    let kind = if architecture == "gfx908" { 'a' } else { 'v' };
    let (d, c) = (registers(row, "d", kind, 0), registers(row, "c", kind, 0));
    let (a, b) = (registers(row, "a", 'v', 64), registers(row, "b", 'v', 96));
    let scales = if row.operands.iter().any(|operand| operand.role() == Some("scale_a")) {
        let [a, b] = [("scale_a", 128), ("scale_b", 130)].map(|(role, first)| registers(row, role, 'v', first));
        format!(", {a}, {b}")
    } else {
        String::new()
    };
    format!("{mnemonic} {d}, {a}, {b}, {c}{scales}{}\n", modifiers(row))
}

fn machine(architecture: &str, features: &str) -> TargetMachine {
    Target::initialize_amd_gpu(&InitializationConfig::default());
    let triple = TargetTriple::create("amdgcn-amd-amdhsa");
    let target = Target::from_triple(&triple).expect("LLVM has the target");
    let (level, relocation) = (OptimizationLevel::None, RelocMode::PIC);
    let target_machine =
        target.create_target_machine(&triple, architecture, features, level, relocation, CodeModel::Default);
    target_machine.expect("a machine for the architecture")
}

/// Returns the size of the assembled code of some lines.
fn assembled(architecture: &str, features: &str, lines: &str) -> usize {
    let context = Context::create();
    let module = context.create_module(architecture);
    module.set_triple(&TargetTriple::create("amdgcn-amd-amdhsa"));
    module.set_inline_assembly(lines);
    let machine = machine(architecture, features);
    let object = machine.write_to_memory_buffer(&module, FileType::Object).expect("an object");
    let file = object::File::parse(object.as_slice()).expect("an ELF file");
    let text = object::Object::section_by_name(&file, ".text").expect("a text section");
    object::ObjectSection::size(&text) as usize
}

#[test]
fn every_row_is_an_instruction_with_so_many_registers() {
    for architecture in ARCHITECTURES {
        let rows = instructions_of(architecture);
        let (wide, own): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.name.ends_with("(wave64)"));
        for (features, rows) in [("", own), ("+wavefrontsize64", wide)] {
            let lines: String = rows.iter().map(|row| line(architecture, row)).collect();
            // Each instruction has eight bytes, or more with a prefix.
            let size = assembled(architecture, features, &lines);
            assert!(size >= 8 * rows.len(), "{architecture} {features}: {size} bytes for {} rows", rows.len());
        }
    }
}
