//! Every instruction of the table as code: a kernel that issues it once contains its mnemonic and registers, `ptxas`
//! accepts the code, and the emulator computes the result that the table describes.

use crate::prelude::*;
use serde_json::Value as Json;
use tilewright_target::BankTableEntry;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::kernels::module;
use tilewright_verify::check_instruction_emulated;
use tilewright_verify::kernels::BulkCopyExtent;

const MOVES: &str = include_str!("../data/matrix_moves.json");

/// Returns a target for tests, with shared-memory banks as in the CUDA programming guide: accesses of 128 bits a lane
/// take phases of eight lanes.
pub fn target(architecture: &str) -> TargetDescription {
    let mut target = kernels::build_fake_target(architecture, &[32]);
    target.shared.banks.push(BankTableEntry {
        directions: vec![Direction::Store, Direction::Load],
        access_bits: vec![128],
        instruction: None,
        banks: 32,
        bank_bytes: 4,
        phase: vec![1, 2, 4],
        idle_phases: false,
        paired: None,
        evidence: Evidence::Assumed,
        source: "test".to_owned(),
    });
    let mut row = target.shared.banks[0].clone();
    (row.access_bits, row.phase) = (vec![64], vec![1, 2, 4, 8]);
    target.shared.banks.push(row);
    let mut row = target.shared.banks[0].clone();
    row.access_bits = vec![16];
    target.shared.banks.push(row);
    target
}

fn compiled(architecture: &str, row: &Instruction, emit: CodeFormat) -> Result<String, CompileError> {
    let kernel = build_instruction_kernel("issue", row).unwrap();
    let options = CompileOptions { emit: vec![emit], ..CompileOptions::default() };
    let artifact = NvidiaTarget::new(target(architecture)).unwrap().compile(&module(vec![kernel]), &options)?;
    Ok(artifact.payload_text(CodeFormat::Assembly).map(str::to_owned).unwrap_or_default())
}

/// Returns the words of the PTX statement with a mnemonic.
fn statement<'a>(ptx: &'a str, mnemonic: &str) -> Vec<&'a str> {
    ptx.lines().map(str::trim).filter(|line| line.split_whitespace().next() == Some(mnemonic)).collect()
}

/// Returns the number of registers of each operand of a PTX statement: of a `{...}` group, or one.
fn registers(statement: &str) -> Vec<usize> {
    let (_, operands) = statement.split_once(char::is_whitespace).unwrap();
    let operands = operands.trim().trim_end_matches(';');
    let (mut counts, mut depth) = (vec![1], 0);
    for character in operands.chars() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => counts.push(1),
            ',' => *counts.last_mut().unwrap() += 1,
            _ => {}
        }
    }
    counts
}

/// Returns the numbers of 32-bit registers (64-bit ones for f64) that PTX's tables give an operand. Scales have one,
/// followed by two numbers that select the byte and the lane.
fn expected_registers(row: &Instruction, operand: &InstructionOperand) -> Vec<usize> {
    let count = match operand {
        InstructionOperand::Register { role, .. } if role.starts_with("scale_") => return vec![1, 2],
        InstructionOperand::Register { role, bits, layout, .. } => {
            let register_count = match (role.as_str(), row.mma_shape()) {
                // The rest of 64 x N of a warpgroup's result, if N is no power of two.
                ("c" | "d", Some([64, n, _])) => 64 * n as usize / 128,
                _ => 1 << layout.in_bits(Dim::REGISTER),
            };
            *bits as usize * register_count / if *bits == 64 { 64 } else { 32 }
        }
        _ => 1,
    };
    vec![count]
}

/// Whether an instruction accesses tensor memory, or is a bulk copy; such instructions have their own tests.
pub fn is_tested_elsewhere(row: &Instruction) -> bool {
    row.operands.iter().any(|operand| operand.tensor_memory_operand().is_some()) || BulkCopyExtent::is_copied_by(row)
}

/// Whether an instruction is an asynchronous copy from global to shared memory.
fn is_copy(row: &Instruction) -> bool {
    row.operands.iter().any(|operand| matches!(operand, InstructionOperand::Global { .. }))
}

/// Returns the instructions to test: all warp instructions; of warpgroup instructions all types and forms with some
/// numbers of columns, and all numbers of columns with some types. The conformance group `instructions` has all of
/// them.
fn samples(architecture: &str) -> Vec<Instruction> {
    const SIZES: [&str; 3] = ["n8k", "n24k", "n96k"];
    const FORMS: [&str; 3] = ["k16.f32.f16.f16.rs.k", "k32.f16.e4m3.e5m2.ss.kk", "k32.s32.s8.u8.satfinite.ss.kk"];
    let is_sample = |row: &Instruction| {
        let name = row.name.as_str();
        !name.starts_with("wgmma")
            || SIZES.iter().any(|size| name.contains(size))
            || FORMS.iter().any(|form| name.ends_with(form))
    };
    instructions_of(architecture).into_iter().filter(is_sample).collect()
}

#[test]
fn every_row_is_one_statement_with_its_registers() {
    for architecture in ARCHITECTURES {
        let rows = samples(architecture);
        assert!(!rows.is_empty(), "{architecture}");
        let rows: Vec<_> = rows.into_iter().filter(|row| !is_copy(row) && !is_tested_elsewhere(row)).collect();
        let kernels = rows.iter().enumerate();
        let kernels =
            kernels.map(|(row_index, row)| build_instruction_kernel(&format!("issue{row_index}"), row).unwrap());
        let all = assembly(&NvidiaTarget::new(target(architecture)).unwrap(), kernels.collect());
        let each: Vec<&str> = all.split(".entry").skip(1).collect();
        assert_eq!(each.len(), rows.len(), "{architecture}");
        for (row, ptx) in rows.iter().zip(each) {
            let mut expected: Vec<_> =
                row.operands.iter().flat_map(|operand| expected_registers(row, operand)).collect();
            if row.operands.iter().any(|operand| matches!(operand, InstructionOperand::Memory(_))) {
                // The name after the mnemonic gives the operands' locations; the accumulator is updated in place.
                let mnemonic = row.name.rsplitn(3, '.').last().unwrap();
                let found: Vec<_> = ptx.match_indices(mnemonic).map(|(at, _)| &ptx[at..]).collect();
                let [statement] = found[..] else { panic!("{architecture} {}: {ptx}", row.name) };
                let counts = registers(statement.split(';').next().unwrap());
                expected.pop();
                assert_eq!(counts[..3], expected, "{architecture} {}", row.name);
                continue;
            }
            let found = statement(ptx, &row.name);
            let [statement] = found[..] else { panic!("{architecture} {}: {ptx}", row.name) };
            assert_eq!(registers(statement), expected, "{architecture}: {statement}");
        }
    }
}

#[test]
fn on_the_emulator_every_instruction_is_a_plain_mma_or_copy() {
    let mut checked = BTreeMap::new();
    for architecture in ARCHITECTURES {
        for row in samples(architecture).into_iter().filter(|row| !is_tested_elsewhere(row)) {
            checked.entry(row.name.clone()).or_insert(row);
        }
    }
    for row in checked.values() {
        let report =
            check_instruction_emulated(row, &target("sm_90a")).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        if row.semantics == Semantics::Move && !is_copy(row) {
            // Consecutive rows of a matrix occupy different banks: one wavefront for each matrix, and a plain access of
            // all lanes to copy it.
            let counts = report.counts;
            let register = row.operands.iter().find(|operand| matches!(operand, InstructionOperand::Register { .. }));
            // Eight 16-byte segments are one wavefront.
            let matrices = expected_registers(row, register.unwrap()).iter().sum::<usize>() as u64;
            let is_load = counts.matrix_loads == 1;
            let moved = if is_load { counts.wavefronts_loaded } else { counts.wavefronts_stored };
            assert_eq!((counts.matrix_loads + counts.matrix_stores, moved), (1, matrices), "{}", row.name);
        }
    }
}

/// Returns the 16-bit elements that the emulator loads or stores for a matrix move of elements numbered in memory
/// order.
fn moved(row: &Instruction) -> Vec<u16> {
    let kernel = build_instruction_kernel("issue", row).unwrap();
    let (semantics, target) = (SemanticsTable::from_instructions(std::slice::from_ref(row)), target("sm_90a"));
    let is_load = row.name.starts_with("ldmatrix");
    let InstructionOperand::Access { data, .. } = &row.operands[usize::from(is_load)] else { panic!("no access") };
    let bytes: Vec<u8> = (0..1u16 << (data.outs().total_bits() - 1)).flat_map(u16::to_le_bytes).collect();
    let mut memory = GlobalMemory::new();
    let buffers = [memory.allocate_with(&bytes), memory.allocate_with(&bytes)];
    let emulator = Emulator::new(&kernel, &target).unwrap().with_semantics(&semantics);
    emulator.run([1, 1, 1], &buffers.map(Argument::Buffer), &mut memory, &RunLimits::default()).unwrap();
    let answer = memory.read_all(buffers[0]).unwrap();
    answer.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

fn row_named(name: &str) -> Instruction {
    instructions_of("sm_90a").into_iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}"))
}

#[test]
fn ldmatrix_gives_each_thread_the_elements_of_the_figure() {
    // PTX ISA, "ldmatrix": thread t of 32 gets elements 2(t % 4) and 2(t % 4) + 1 of row t / 4 of each matrix; with
    // .trans those of column t / 4.
    for matrices in [1u16, 2, 4] {
        for (transposed, suffix) in [(false, ""), (true, ".trans")] {
            let loaded = moved(&row_named(&format!("ldmatrix.sync.aligned.m8n8.x{matrices}{suffix}.shared.b16")));
            for thread in 0..32u16 {
                for register in 0..matrices {
                    for half in 0..2 {
                        let (outer, inner) = (thread / 4, 2 * (thread % 4) + half);
                        let element = if transposed { inner * 8 + outer } else { outer * 8 + inner };
                        let at = ((thread * matrices + register) * 2 + half) as usize;
                        assert_eq!(loaded[at], register * 64 + element, "thread {thread} of x{matrices}{suffix}");
                    }
                }
            }
        }
    }
}

#[test]
fn matrix_moves_on_the_emulator_are_as_published() {
    let table: Json = serde_json::from_str(MOVES).unwrap();
    let mut checked = 0;
    for atom in table["atoms"].as_array().unwrap() {
        // `SM75_U16x4_LDSM_T`: transposed moves count 16-bit values, two for each matrix.
        let words: Vec<_> = atom["name"].as_str().unwrap().split('_').collect();
        if words[0] == "SM100" {
            // Byte forms address their rows in another order; another test compares their layouts.
            continue;
        }
        let (_, count) = words[1].split_once('x').unwrap();
        let is_load = words[2] == "LDSM";
        let transposed = words[3] == "T";
        let matrices = count.parse::<u32>().unwrap() / if transposed { 2 } else { 1 };
        let suffix = if transposed { ".trans" } else { "" };
        let mnemonic = if is_load { "ldmatrix" } else { "stmatrix" };
        let moved = moved(&row_named(&format!("{mnemonic}.sync.aligned.m8n8.x{matrices}{suffix}.shared.b16")));
        let side = if is_load { "DstLayout_bits" } else { "SrcLayout_bits" };
        let published = ThreadValue::parse(atom[side].as_str().unwrap());
        let values = 2 * u64::from(matrices);
        for thread in 0..32 {
            for value in 0..values {
                let element = published.index(thread, 16 * value) / 16;
                let in_registers = thread * values + value;
                let (from, to) = if is_load { (element, in_registers) } else { (in_registers, element) };
                assert_eq!(u64::from(moved[to as usize]), from, "{}", atom["name"]);
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 12);
}

#[test]
fn constant_offsets_go_into_the_address() {
    let row = row_named("ldmatrix.sync.aligned.m8n8.x1.shared.b16");
    let word = Type::Scalar(Element::I32);
    let mut k = Builder::new("moved", StaticLaunchConfig::new(32, 1), &[("to", kernels::GLOBAL_POINTER)]);
    let shared = k.shared_buffer(1024, 128);
    let address_of_thread = kernels::own_address(&mut k, shared, 16);
    let zero = k.i32(0);
    k.store(address_of_thread, 256, zero, None);
    k.barrier(tilewright_kernel::CollectiveScope::Warp);
    let far = k.i32(256);
    let far = k.ptr_add(address_of_thread, far);
    let loaded = k.value(word, Op::Instruction { name: row.name.clone(), operands: vec![far] });
    let to = k.parameter(0);
    k.store(to, 0, loaded, None);
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() };
    let artifact = NvidiaTarget::new(target("sm_90a")).unwrap().compile(&module(vec![k.finish()]), &options).unwrap();
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    let found = statement(ptx, &row.name);
    assert!(found.len() == 1 && found[0].ends_with("+256];"), "{ptx}");
}

#[test]
fn what_an_architecture_lacks_is_unsupported_by_name() {
    for (architecture, name) in [
        ("sm_80", "stmatrix.sync.aligned.m8n8.x4.shared.b16"),
        ("sm_75", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
    ] {
        let error = compiled(architecture, &row_named(name), CodeFormat::Assembly).unwrap_err();
        assert!(matches!(&error, CompileError::Unsupported(message) if message.contains(name)), "{error}");
    }
}

#[test]
fn operands_that_do_not_fit_the_row_are_the_callers_fault() {
    let mut k = Builder::new("wrong", StaticLaunchConfig::new(32, 1), &[]);
    let word = k.i32(0);
    let name = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64".to_owned();
    let pair = Type::Vector(Element::F64, 2);
    k.value(pair, Op::Instruction { name, operands: vec![word, word, word] });
    let error =
        NvidiaTarget::new(target("sm_80")).unwrap().compile(&module(vec![k.finish()]), &CompileOptions::default());
    let error = error.unwrap_err();
    assert!(
        matches!(&error, CompileError::Invalid(message) if message.contains("expected a scalar or vector of 64 bits")),
        "{error}"
    );
}
