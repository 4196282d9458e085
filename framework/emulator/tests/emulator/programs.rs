//! Execution of whole kernels: while loops, atomic operations, assertions, prints, grid sizes.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;

use std::sync::Mutex;

use emulator_target::{kernel, target};
use tilewright_emulator::{Argument, Emulator, Fault, FaultKind, GlobalMemory, LanePrintRecord, RunLimits, run_kernel};

fn fault(text: &str) -> Fault {
    let mut memory = GlobalMemory::new();
    let at = memory.allocate_with(&[0; 256]);
    let limits = RunLimits { steps: 10_000, ..RunLimits::default() };
    let done = run_kernel(&kernel(text), &target(false), [1, 1, 1], &[Argument::Buffer(at)], &mut memory, &limits);
    done.expect_err("there is a fault")
}

/// Returns the words that a kernel of eight lanes a warp writes to a zeroed buffer.
fn words(text: &str, grid: [u32; 3], count: usize) -> Vec<u32> {
    let mut memory = GlobalMemory::new();
    let at = memory.allocate_with(&vec![0; 4 * count]);
    let done =
        run_kernel(&kernel(text), &target(false), grid, &[Argument::Buffer(at)], &mut memory, &RunLimits::default());
    done.unwrap_or_else(|fault| panic!("{fault}"));
    let bytes = memory.read_all(at).expect("all is written");
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

const OWN: &str = "%1: i32 = special lane
    %2: i32 = constant 4
    %3: i32 = binary mul %1, %2
    %4: ptr.global = ptr_add %0, %3";

#[test]
fn a_while_runs_at_least_once_and_every_lane_for_itself() {
    // Lane l halves l until it is zero: one iteration for each bit of l, and one for zero.
    let text = format!(
        "kernel k(%0 at: ptr.global) lanes 8 warps 1 {{ {OWN}
           %5: i32 = constant 0
           %6: i32 = constant 1
           %7: i32, %8: i32 = while carry %1, %5 (%9: i32, %10: i32) {{
             %11: i32 = binary shr_u %9, %6
             %12: i32 = binary add %10, %6
             %13: i1 = compare ne %11, %5
             yield %13, %11, %12
           }}
           store %4, %8 align 4
         }}"
    );
    let expected: Vec<u32> = (0u32..8).map(|lane| (32 - lane.leading_zeros()).max(1)).collect();
    assert_eq!(words(&text, [1, 1, 1], 8), expected);
}

#[test]
fn carried_values_of_a_while_are_swapped_and_the_condition_may_be_one() {
    // (continue, a, b) becomes (false, b, a): the yielded condition is the argument that the copies overwrite.
    let text = format!(
        "kernel k(%0 at: ptr.global) lanes 8 warps 1 {{ {OWN}
           %5: i1 = constant 1
           %6: i1 = constant 0
           %7: i32 = constant 100
           %8: i1, %9: i32, %10: i32 = while carry %5, %1, %7 (%11: i1, %12: i32, %13: i32) {{
             yield %11, %6, %13, %12
           }}
           %14: i32 = binary shl %9, %2
           %15: i32 = binary add %14, %10
           store %4, %15 align 4
         }}"
    );
    // Two iterations; the first continues, the second does not. After two swaps all is as before.
    let expected: Vec<u32> = (0..8).map(|lane| (lane << 4) + 100).collect();
    assert_eq!(words(&text, [1, 1, 1], 8), expected);
}

#[test]
fn whiles_nest_and_start_anew() {
    let text = format!(
        "kernel k(%0 at: ptr.global) lanes 8 warps 1 {{ {OWN}
           %5: i32 = constant 0
           %6: i32 = constant 1
           %7: i32, %8: i32 = while carry %5, %5 (%9: i32, %10: i32) {{
             %11: i32, %12: i32 = while carry %5, %10 (%13: i32, %14: i32) {{
               %15: i32 = binary add %13, %6
               %16: i32 = binary add %14, %6
               %17: i1 = compare le_u %15, %9
               yield %17, %15, %16
             }}
             %18: i32 = binary add %9, %6
             %19: i1 = compare le_u %18, %1
             yield %19, %18, %12
           }}
           store %4, %8 align 4
         }}"
    );
    let expected: Vec<u32> = (0..8).map(|lane| (0..=lane).map(|iteration| iteration + 1).sum()).collect();
    assert_eq!(words(&text, [1, 1, 1], 8), expected);
}

#[test]
fn an_endless_while_reaches_the_step_limit() {
    let text = "kernel k(%0 at: ptr.global) lanes 8 warps 1 {
        %1: i1 = constant 1
        while { yield %1 }
      }";
    assert_eq!(fault(text).kind, FaultKind::StepLimit { limit: 10_000 });
}

#[test]
fn a_collective_in_a_divergent_while_is_a_fault() {
    let text = "kernel k(%0 at: ptr.global) lanes 8 warps 1 {
        %1: i32 = special lane
        %2: i32 = constant 1
        %3: i32 = while carry %1 (%4: i32) {
          barrier warp all
          %5: i32 = binary shr_u %4, %2
          %6: i1 = compare lt_u %2, %5
          yield %6, %5
        }
      }";
    assert!(matches!(fault(text).kind, FaultKind::Divergent { .. }));
}

#[test]
fn a_kernel_knows_the_size_of_its_grid() {
    let text = "kernel k(%0 at: ptr.global) lanes 8 warps 1 {
        %1: i32 = special programs 0
        %2: i32 = special programs 1
        %3: i32 = special programs 2
        store %0, %1 align 4
        store %0 + 4, %2 align 4
        store %0 + 8, %3 align 4
      }";
    assert_eq!(words(text, [3, 5, 2], 3), [3, 5, 2]);
}

/// Each operation by 2 warps of 8 lanes and 3 blocks, compared with a fold on the host.
#[test]
fn atomic_operations_are_done_one_after_the_other() {
    let values: Vec<u32> = (0..48u32).map(|index| index.wrapping_mul(0x9e37_79b9) ^ 0x1234).collect();
    for (op, start, fold) in [
        ("add", 7, u32::wrapping_add as fn(u32, u32) -> u32),
        ("min_s", 7, |a, b| (a as i32).min(b as i32) as u32),
        ("max_s", 7, |a, b| (a as i32).max(b as i32) as u32),
        ("min_u", u32::MAX, u32::min),
        ("max_u", 7, u32::max),
        ("and", u32::MAX, |a, b| a & b),
        ("or", 0, |a, b| a | b),
        ("xor", 3, |a, b| a ^ b),
        ("exchange", 3, |_, b| b),
    ] {
        let text = format!(
            "kernel k(%0 sum: ptr.global, %1 from: ptr.global, %2 old: ptr.global) lanes 8 warps 2 {{
               %3: i32 = special lane
               %4: i32 = special warp
               %5: i32 = special program 0
               %6: i32 = constant 2
               %7: i32 = binary mul %5, %6
               %8: i32 = binary add %7, %4
               %9: i32 = constant 8
               %10: i32 = binary mul %8, %9
               %11: i32 = binary add %10, %3
               %12: i32 = constant 4
               %13: i32 = binary mul %11, %12
               %14: ptr.global = ptr_add %1, %13
               %15: i32 = load %14 align 4
               %16: i32 = atomic_rmw {op} relaxed device %0, %15
               %17: ptr.global = ptr_add %2, %13
               store %17, %16 align 4
             }}"
        );
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let mut memory = GlobalMemory::new();
        let sum = memory.allocate_with(&bytes(&[start]));
        let from = memory.allocate_with(&bytes(&values));
        let old = memory.allocate(4 * values.len());
        let arguments = [sum, from, old].map(Argument::Buffer);
        let report =
            run_kernel(&kernel(&text), &target(false), [3, 1, 1], &arguments, &mut memory, &RunLimits::default());
        let report = report.unwrap_or_else(|fault| panic!("{fault}"));
        let mut now = start;
        let before: Vec<u32> = values
            .iter()
            .map(|&value| {
                let old = now;
                now = fold(now, value);
                old
            })
            .collect();
        assert_eq!(memory.read_all(sum).unwrap(), bytes(&[now]), "{op}");
        assert_eq!(memory.read_all(old).unwrap(), bytes(&before), "{op}");
        // A warp's load and store of 32 bytes, and one sector each for the atomic's load and store.
        assert_eq!((report.transactions_loaded, report.transactions_stored), (12, 12), "{op}");
    }
}

#[test]
fn atomic_adds_are_rounded_in_their_element_type() {
    for (ty, bytes, one, sum) in [
        ("f16", 2, 0x3c00u64, f64::from(half::f16::from_f64(8.0))),
        ("bf16", 2, 0x3f80, 8.0),
        ("f32", 4, u64::from(1f32.to_bits()), 8.0),
        ("f64", 8, 1f64.to_bits(), 8.0),
    ] {
        let text = format!(
            "kernel k(%0 at: ptr.global) lanes 8 warps 1 {{
               %1: {ty} = constant {one:#x}
               %2: {ty} = atomic_rmw f_add acquire_release system %0, %1
             }}"
        );
        let mut memory = GlobalMemory::new();
        let at = memory.allocate_with(&vec![0; bytes]);
        let done = run_kernel(
            &kernel(&text),
            &target(false),
            [1, 1, 1],
            &[Argument::Buffer(at)],
            &mut memory,
            &RunLimits::default(),
        );
        done.unwrap_or_else(|fault| panic!("{fault}"));
        let bits = memory.read_all(at).unwrap().iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let found = match ty {
            "f16" => half::f16::from_bits(bits as u16).to_f64(),
            "bf16" => half::bf16::from_bits(bits as u16).to_f64(),
            "f32" => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        assert_eq!(found, sum, "{ty}");
    }
}

#[test]
fn lanes_whose_predicate_is_false_change_nothing_and_get_zero() {
    let text = format!(
        "kernel k(%0 at: ptr.global) lanes 8 warps 1 {{ {OWN}
           %5: i32 = constant 1
           %6: i32 = binary and %1, %5
           %7: i1 = compare eq %6, %5
           %8: i32 = constant 1000
           %9: i32 = atomic_rmw add relaxed block %4, %8 if %7
           %10: i32 = atomic_compare_exchange relaxed block %4, %8, %1 if %7
           %11: i32 = atomic_compare_exchange relaxed block %4, %8, %8
           %12: i32 = binary add %9, %10
           %13: i32 = binary shl %12, %5
           %14: i32 = binary add %13, %11
           store %4, %14 align 4
         }}"
    );
    // Odd lanes add 1000 to 0, then replace the 1000 that they read by their lane, which the last operation reads.
    let expected: Vec<u32> = (0..8).map(|lane| if lane % 2 == 1 { 2 * 1000 + lane } else { 0 }).collect();
    assert_eq!(words(&text, [1, 1, 1], 8), expected);
}

const SHARED: &str = "shared 0: 4 bytes align 4
    %1: ptr.shared = shared_address 0
    %2: i32 = special lane
    %3: i32 = special warp
    %4: i32 = constant 0
    %5: i32 = constant 1
    %6: i32 = binary or %2, %3
    %7: i1 = compare eq %6, %4
    store %1, %4 align 4 if %7";

#[test]
fn atomic_operations_on_shared_memory_race_with_plain_accesses_alone() {
    let text = |first: &str, second: &str| {
        format!(
            "kernel k(%0 at: ptr.global) lanes 8 warps 2 {{ {SHARED}
               {first}
               %8: i32 = atomic_rmw add relaxed block %1, %5
               {second}
               %9: i32 = load %1 align 4
               store %0, %9 align 4
             }}"
        )
    };
    assert_eq!(words(&text("barrier block all", "barrier block all"), [2, 1, 1], 1), [16]);
    for (first, second) in
        [("", "barrier block all"), ("barrier block all", ""), ("barrier block all", "barrier warp all")]
    {
        let fault = fault(&text(first, second));
        assert!(matches!(fault.kind, FaultKind::Race { .. }), "{first}, {second}: {fault}");
    }
    // An atomic operation races with an earlier plain load without a barrier between.
    let read_first = format!(
        "kernel k(%0 at: ptr.global) lanes 8 warps 2 {{ {SHARED}
           barrier block all
           %8: i32 = load %1 align 4
           %9: i32 = atomic_rmw add relaxed block %1, %5
         }}"
    );
    assert!(matches!(fault(&read_first).kind, FaultKind::Race { .. }));
}

#[test]
fn atomics_fault_like_plain_accesses() {
    let of = |offset: u32, pointer: &str| {
        format!(
            "kernel k(%0 at: ptr.global) lanes 8 warps 1 {{
               shared 0: 4 bytes align 4
               %1: ptr.shared = shared_address 0
               %2: i32 = constant {offset}
               %3: {pointer} = ptr_add {}, %2
               %4: i32 = atomic_rmw add relaxed block %3, %2
             }}",
            if pointer == "ptr.global" { "%0" } else { "%1" }
        )
    };
    for pointer in ["ptr.global", "ptr.shared"] {
        assert!(matches!(fault(&of(2, pointer)).kind, FaultKind::Misaligned { .. }), "{pointer}");
        assert!(matches!(fault(&of(4096, pointer)).kind, FaultKind::OutOfBounds { .. }), "{pointer}");
    }
    assert!(matches!(fault(&of(0, "ptr.shared")).kind, FaultKind::Uninitialised { .. }));
}

#[test]
fn an_assertion_names_its_message_and_the_lane() {
    let text = |condition: &str| {
        format!(
            "kernel k(%0 at: ptr.global) lanes 8 warps 2 {{
               %1: i32 = special lane
               %2: i32 = constant 5
               %3: i32 = special warp
               %4: i32 = binary add %1, %3
               %5: i1 = compare lt_u %4, %2
               %6: i1 = compare lt_u %1, %2
               if %6 {{ assert {condition} yield }} else {{ yield }}
               store %0, %4 align 4
             }}"
        )
    };
    // The assertion holds in warp 0; in warp 1 lane 4 computes five.
    let fault = fault(&text("%5, \"below five\""));
    assert_eq!(fault.kind, FaultKind::Assertion { message: "below five".to_owned() });
    let location = fault.location.expect("it has a place");
    assert_eq!((location.warp, location.lane), (1, Some(4)));
    assert!(location.text.contains("assert"), "{}", location.text);
    // No check if the predicate is false.
    words(&text("%5, \"below five\" if %5"), [1, 1, 1], 1);
}

#[test]
fn prints_come_in_the_order_of_lanes_warps_and_blocks() {
    let text = "kernel k(%0 at: ptr.global) lanes 8 warps 2 {
        %1: i32 = special lane
        %2: i32 = constant 2
        %3: i1 = compare lt_u %1, %2
        %4: i32 = constant 0xfffffffe
        %5: i16 = constant 0x8000
        %6: 2xf16 = constant 0x3e00
        %7: f32 = constant 0x3dcccccd
        %8: f64 = constant 0xc000000000000000
        if %3 { print \"all \" %4, %3, %5, %6, %7, %8 print \"bits \" hex %4, %5, %7, %3, %6, %0 print \" x: \" %7 index %1, %2 yield } else { yield }
      }";
    let kernel = kernel(text);
    let printed: Mutex<Vec<LanePrintRecord>> = Mutex::new(Vec::new());
    let keep = |one: LanePrintRecord| printed.lock().expect("nobody panics").push(one);
    let mut memory = GlobalMemory::new();
    let at = memory.allocate_with(&[0; 4]);
    let target = target(false);
    let emulator = Emulator::new(&kernel, &target).expect("it is valid").with_printer(&keep);
    emulator.run([1, 2, 1], &[Argument::Buffer(at)], &mut memory, &RunLimits::default()).expect("it runs");
    let printed = printed.lock().expect("nobody panics");
    let printed_positions: Vec<_> =
        printed.iter().map(|one| (one.block[1], one.warp, one.prefix.as_str(), one.lane)).collect();
    let mut expected = Vec::new();
    for block in 0..2 {
        for warp in 0..2 {
            for prefix in ["all ", "bits ", " x: "] {
                expected.extend([0, 1].map(|lane| (block, warp, prefix, lane)));
            }
        }
    }
    assert_eq!(printed_positions, expected);
    assert_eq!(printed[0].values, ["-2", "1", "-32768", "[1.5, 1.5]", "0.1", "-2"]);
    let address = format!("0x{:016x}", memory.address(at));
    assert_eq!(printed[2].values, ["0xfffffffe", "0x8000", "0x3dcccccd", "0x1", "[0x3e00, 0x3e00]", address.as_str()]);
    assert_eq!(printed[5].to_string(), "pid (0, 0, 0) idx (1, 2) x: 0.1");
    assert_eq!(printed[1].to_string(), "block (0, 0, 0) warp 0 lane 1: all -2, 1, -32768, [1.5, 1.5], 0.1, -2");
}

#[test]
fn fences_and_dependencies_leave_values_alone_and_addresses_come_back() {
    let text = format!(
        "kernel k(%0 at: ptr.global) lanes 8 warps 1 {{ {OWN}
           grid_dependency wait
           %5: i64 = cast bits %4
           %6: i64 = constant 0
           %7: i64 = binary add %5, %6
           %8: ptr.global = cast bits %7
           store %8, %1 align 4
           fence system
           grid_dependency launch
         }}"
    );
    assert_eq!(words(&text, [1, 1, 1], 8), (0..8).collect::<Vec<_>>());
}

#[test]
fn an_instruction_without_semantics_is_named() {
    let assembly = "kernel k(%0 at: ptr.global) lanes 8 warps 1 { %1: i32 = assembly \"mov.u32 $0, 1;\" \"=r\" }";
    assert_eq!(fault(assembly).kind, FaultKind::Assembly { text: "mov.u32 $0, 1;".to_owned() });
    let function = "kernel k(%0 at: ptr.global) lanes 8 warps 1 { %1: f32 = constant 0 %2: f32 = math lgamma %1 }";
    assert!(fault(function).to_string().contains("`lgamma`"));
}
