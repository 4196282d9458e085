//! Every instruction of the table as code: a kernel that issues it once calls its builtin with operands of its types,
//! and the emulator gives the result of the instruction's semantics.

use crate::spirv::kernels;
use tilewright_intel_tables::instructions::instructions_of;
use tilewright_vendor_testkit::prelude::*;
use tilewright_verify::check_instruction_emulated;

const ARCHITECTURES: [&str; 3] = ["pvc", "dg2", "xe2"];

fn assembly(architecture: &str, row: &Instruction) -> String {
    let kernel = build_instruction_kernel("issue", row).expect("a kernel");
    // The Khronos validator, if installed, checks the object.
    let options = CompileOptions { emit: vec![CodeFormat::Assembly, CodeFormat::Object], ..CompileOptions::default() };
    let artifact = kernels::target(architecture).compile(&kernels::module(kernel), &options);
    let artifact = artifact.unwrap_or_else(|error| panic!("{architecture} {}: {error}", row.name));
    artifact.payload_text(CodeFormat::Assembly).expect("assembly is text").to_owned()
}

/// Returns the MMA instructions of an architecture; prefetches have no value and separate tests.
fn mma_instructions(architecture: &str) -> Vec<Instruction> {
    instructions_of(architecture).into_iter().filter(|row| row.kind == InstructionKind::Matrix).collect()
}

fn all_rows() -> Vec<(&'static str, Instruction)> {
    let all: Vec<_> =
        ARCHITECTURES.iter().flat_map(|&name| mma_instructions(name).into_iter().map(move |row| (name, row))).collect();
    assert!(ARCHITECTURES.iter().all(|name| all.iter().any(|(of, _)| of == name)), "each has rows");
    all
}

/// Returns the words of the only line with an opcode.
fn only(text: &str, opcode: &str) -> Vec<String> {
    let has = |line: &&str| line.split_whitespace().any(|word| word == opcode);
    let found: Vec<_> = text.lines().filter(has).collect();
    let [line] = found[..] else { panic!("{opcode} in {text}") };
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_row_is_one_call_of_its_builtin() {
    for (architecture, row) in all_rows() {
        let text = assembly(architecture, &row);
        // `%12 = OpFunctionCall %7 %3 %9 %10 %11`: the type of the result, the function, its operands.
        let call = only(&text, "OpFunctionCall");
        assert_eq!(call.len(), 5 + 3, "{}: {call:?}", row.name);
        let linkage = text.lines().find(|line| line.contains("LinkageAttributes")).expect("an import");
        let words: Vec<_> = linkage.split_whitespace().collect();
        assert_eq!((words[1], words[4]), (call[4].as_str(), "Import"), "{linkage}");
        // `dpas.8x4.s32.s8.u8.s32` is `intel_sub_group_i8_u8_matrix_mad_k32`.
        let name_fields: Vec<_> = row.name.split('.').collect();
        let [a, b] = [3, 4].map(|at| name_fields[at].replace("s8", "i8").replace("s4", "i4"));
        let depth = [("tf32", 8), ("f16", 16), ("bf16", 16), ("i8", 32), ("u8", 32), ("i4", 64), ("u4", 64)];
        let depth = depth.iter().find(|(name, _)| *name == a).expect("a type").1;
        assert!(words[3].contains(&format!("intel_sub_group_{a}_{b}_matrix_mad_k{depth}")), "{linkage}");
        let declared = text.lines().filter(|line| line.contains("OpFunctionParameter")).count();
        assert_eq!(declared, 3 + row.operands.len(), "three of the builtin, a pointer for each operand of the kernel");
        assert!(text.contains("OpCapability Linkage"), "{text}");
    }
}

#[test]
fn a_builtin_is_declared_once_for_all_its_calls() {
    let all = instructions_of("pvc");
    let row = all.iter().find(|row| row.name == "dpas.8x8.f32.f16.f16.f32").expect("a row");
    let twice = ["first", "second"].map(|name| build_instruction_kernel(name, row).expect("a kernel"));
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() };
    let module = tilewright_kernel::Module { kernels: twice.to_vec() };
    let artifact = kernels::target("pvc").compile(&module, &options).expect("it compiles");
    let text = artifact.payload_text(CodeFormat::Assembly).expect("assembly is text");
    let count = |word: &str| text.lines().filter(|line| line.contains(word)).count();
    assert_eq!((count("OpFunctionCall"), count("LinkageAttributes")), (2, 1), "{text}");
}

#[test]
fn on_the_emulator_every_instruction_is_a_plain_mma() {
    for (architecture, row) in all_rows() {
        let proved = check_instruction_emulated(&row, &kernels::description(architecture));
        proved.unwrap_or_else(|error| panic!("{architecture} {}: {error}", row.name));
    }
}

#[test]
fn what_an_architecture_lacks_is_unsupported_by_name() {
    // Only instructions of sixteen columns support tf32.
    let row = instructions_of("pvc").into_iter().find(|row| row.name == "dpas.8x8.f32.tf32.tf32.f32").expect("a row");
    let kernel = build_instruction_kernel("issue", &row).expect("a kernel");
    let refused = kernels::target("dg2").compile(&kernels::module(kernel), &CompileOptions::default());
    assert!(matches!(&refused, Err(CompileError::Unsupported(message)) if message.contains(&row.name)), "{refused:?}");
}
