//! Inline PTX whose instructions the import table has: the emulator executes their functions, the virtual device the
//! instructions themselves; both must give the same bits, or nearly the same numbers for approximate instructions.

use std::fmt::Write;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on, words};

/// Number of elements of each operand.
const ELEMENTS: usize = 256;

/// Returns the mnemonics of PTX in the import table, with the number of sources of each.
fn instructions() -> Vec<(String, usize)> {
    let file = shared_data::workspace().join("plugins/dialects/imports/libdevice.toml");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, rows) = text.split_once("[assembly.ptx]\n").expect("the section");
    // Rows with a special register, such as a clock, have no sources.
    let rows = rows.lines().filter_map(|line| line.split_once("\" = ")).filter(|(name, _)| !name.contains('%'));
    let sources = |row: &str| (0..4).filter(|index| row.contains(&format!("${index}"))).count();
    rows.map(|(name, row)| (name.trim_start_matches('"').to_owned(), sources(row))).collect()
}

/// Returns a program that stores the result of an instruction on three operands of 32 bits.
fn program(instruction: &str, sources: usize) -> String {
    let registers = (1..=sources.min(3)).map(|source| format!(", ${source}")).collect::<String>();
    // The fourth source of `lop3` is the table of a function: if a then b else c, which differs in each source.
    let table = if sources == 4 { ", 0xCA" } else { "" };
    let ty = format!("tensor<{ELEMENTS}xi32>");
    let pointers = format!("tensor<{ELEMENTS}x!tt.ptr<i32>>");
    let mut text =
        "module {\n  tt.func public @f(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %c: !tt.ptr<i32>, %r: !tt.ptr<i32>) {\n"
            .to_owned();
    let _ = writeln!(text, "    %i = tt.make_range {{end = {ELEMENTS} : i32, start = 0 : i32}} : {ty}");
    for name in ["a", "b", "c", "r"] {
        let _ = writeln!(text, "    %{name}s = tt.splat %{name} : !tt.ptr<i32> -> {pointers}");
        let _ = writeln!(text, "    %{name}p = tt.addptr %{name}s, %i : {pointers}, {ty}");
    }
    for name in ["a", "b", "c"] {
        let _ = writeln!(text, "    %{name}v = tt.load %{name}p : {pointers}");
    }
    let _ = writeln!(
        text,
        "    %v = tt.elementwise_inline_asm \"{instruction} $0{registers}{table};\" {{constraints = \"=r,r,r,r\", \
         packed_element = 1 : i32, pure = true}} %av, %bv, %cv : {ty}, {ty}, {ty} -> {ty}"
    );
    text + &format!("    tt.store %rp, %v : {pointers}\n    tt.return\n  }}\n}}\n")
}

/// Returns three operands: special values of floats and integers with each other, small shifts and selectors, and
/// arbitrary bits.
fn operands() -> [Vec<u8>; 3] {
    let special =
        [0, 1, 31, 32, 33, 0x8000_0000, 0xFFFF_FFFF, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0x3F80_0000, 0xBFC0_0000];
    let mut state = 0x1234_5678_u32;
    let mut arbitrary = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state ^ (state >> 15)
    };
    let mut operand = |step: usize| {
        let pick = |index: usize| special[index / step % special.len()];
        let numbers = (0..ELEMENTS).map(|index| match index {
            0..144 => pick(index),
            144..200 => 0x3F00_0000 + arbitrary() % 0x0280_0000,
            _ => arbitrary(),
        });
        numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
    };
    [operand(1), operand(special.len()), operand(5)]
}

/// Whether two results are equal; those of an approximate instruction may differ by 2^-9 of their magnitude, which is
/// more than the error of `tanh.approx` (2^-11, PTX ISA), and results that are subnormal may be zero.
fn is_equal(instruction: &str, ours: u32, theirs: u32) -> bool {
    let is_float = instruction.ends_with("f32") && !instruction.starts_with("mov");
    let [x, y] = [ours, theirs].map(f32::from_bits);
    if !is_float {
        return ours == theirs;
    }
    let is_approximate = ["approx", "full", "ftz"].iter().any(|word| instruction.contains(word));
    let near = (x - y).abs() <= x.abs().max(y.abs()) / 512.0 || x.abs().max(y.abs()) <= f32::MIN_POSITIVE;
    x == y || x.is_nan() && y.is_nan() || is_approximate && near
}

#[test]
fn functions_of_instructions_are_those_of_the_virtual_device() {
    let inputs = operands();
    let (target, mut device) = device_of("h100");
    let mut wrong = Vec::new();
    let all = instructions();
    assert!(all.len() > 80, "{}", all.len());
    for (instruction, sources) in &all {
        let text = program(instruction, *sources);
        let compiled = |kept: bool| {
            let options = ProgramOptions::default().with_kept_assembly(kept);
            compiler(&target).compile_kernel(&text, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
        };
        let buffers = inputs.iter().cloned().chain([vec![0; 4 * ELEMENTS]]).collect::<Vec<_>>();
        let replaced = compiled(false);
        assert!(!replaced.to_string().contains("assembly"), "{instruction}: {replaced}");
        let given: Vec<_> = buffers.iter().cloned().map(InitialBuffer::Bytes).collect();
        let (left, _) = run_block(&target, &replaced, &given, &[]).unwrap();
        let ptx = assembly(&target, vec![compiled(true)]);
        assert!(ptx.contains(&format!("{instruction} ")), "{ptx}");
        let given: Vec<_> = buffers.into_iter().map(Given::Buffer).collect();
        let (executed, _) = match run_on(&mut device, &ptx, "f", Shape::warps(4), &given) {
            Ok(executed) => executed,
            Err(error) => {
                wrong.push(format!("{instruction}: {error}"));
                continue;
            }
        };
        for (index, (ours, theirs)) in words(&left[3]).into_iter().zip(words(&executed[3])).enumerate() {
            let given = [0, 1, 2].map(|operand: usize| words(&inputs[operand])[index]);
            // The functions do not flush subnormal numbers.
            let is_subnormal = |bits: &u32| f32::from_bits(*bits).is_subnormal();
            if instruction.contains("ftz") && given[..*sources].iter().any(is_subnormal) {
                continue;
            }
            if !is_equal(instruction, ours, theirs) {
                let given = given.map(|bits| format!("{bits:#x}"));
                wrong.push(format!(
                    "{instruction} of {}: {ours:#x}, {theirs:#x} on the virtual device",
                    given.join(", ")
                ));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), all.len());
}

/// A program that stores the differences of two reads of each clock, with an atomic operation between them.
const CLOCKS: &str = "module {
  tt.func public @f(%r: !tt.ptr<i64>) {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %counted = arith.constant 1 : i64
    %t0 = tt.elementwise_inline_asm \"mov.u64 $0, %globaltimer;\" {constraints = \"=l\", packed_element = 1 : i32, pure = false} -> i64
    %c0 = tt.elementwise_inline_asm \"mov.u64 $0, %clock64;\" {constraints = \"=l\", packed_element = 1 : i32, pure = false} -> i64
    %w0 = tt.elementwise_inline_asm \"mov.u32 $0, %clock;\" {constraints = \"=r\", packed_element = 1 : i32, pure = false} -> i32
    %r2 = tt.addptr %r, %two : !tt.ptr<i64>, i32
    %yes = arith.constant true
    %old = tt.atomic_rmw add, relaxed, gpu, %r2, %counted, %yes : (!tt.ptr<i64>, i64, i1) -> i64
    %t1 = tt.elementwise_inline_asm \"mov.u64 $0, %globaltimer;\" {constraints = \"=l\", packed_element = 1 : i32, pure = false} -> i64
    %c1 = tt.elementwise_inline_asm \"mov.u64 $0, %clock64;\" {constraints = \"=l\", packed_element = 1 : i32, pure = false} -> i64
    %w1 = tt.elementwise_inline_asm \"mov.u32 $0, %clock;\" {constraints = \"=r\", packed_element = 1 : i32, pure = false} -> i32
    %t = arith.subi %t1, %t0 : i64
    %wide = arith.subi %c1, %c0 : i64
    %narrow = arith.subi %w1, %w0 : i32
    %both = arith.extui %narrow : i32 to i64
    %c = arith.minui %wide, %both : i64
    %r1 = tt.addptr %r, %one : !tt.ptr<i64>, i32
    tt.store %r, %t : !tt.ptr<i64>
    tt.store %r1, %c : !tt.ptr<i64>
    tt.return
  }
}
";

/// Checks that clocks go on between two reads, on the emulator and from PTX on the virtual device.
#[test]
fn clocks_go_on() {
    let (target, mut device) = device_of("h100");
    let kernel = compiler(&target).compile_kernel(CLOCKS, &ProgramOptions::default().with_warps(1), &mut |_| {});
    let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
    let (left, _) = run_block(&target, &kernel, &[InitialBuffer::Bytes(vec![0; 24])], &[]).unwrap();
    let ptx = assembly(&target, vec![kernel]);
    assert_eq!(["%globaltimer;", "%clock64;"].map(|name| ptx.matches(name).count()), [2, 4], "{ptx}");
    let (executed, _) = run_on(&mut device, &ptx, "f", Shape::warps(1), &[Given::Buffer(vec![0; 24])]).unwrap();
    for buffer in [&left[0], &executed[0]] {
        let numbers = buffer.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
        let numbers: Vec<u64> = numbers.collect();
        assert!((1..1000).contains(&numbers[0]) && (1..1000).contains(&numbers[1]) && numbers[2] == 1, "{numbers:?}");
    }
}
