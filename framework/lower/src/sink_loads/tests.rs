//! Tests of the places of loads, on kernels as text. Each has four loads of 32 bits, whose four registers and the 64-bit
//! pointers are live at the same time.

use super::sink_loads;
use tilewright_kernel::text;

const LOADS: &str = "  %2: f32 = load %0 align 4
  %3: f32 = load %0 + 4 align 4
  %4: f32 = load %0 + 8 align 4
  %5: f32 = load %0 + 12 align 4
  %6: ptr.shared = shared_address 0
";

/// Stores two of the loaded values to shared memory, and the others after a barrier.
const ROUNDS: &str = "  store %6, %2 align 4
  store %6 + 4, %3 align 4
  barrier block all
  store %6, %4 align 4
  store %6 + 4, %5 align 4
";

/// Returns the operations and offsets of the loads and stores of a kernel in order, after its loads have been moved so
/// that a lane has `registers` registers.
fn sunk(body: &str, registers: u64) -> Vec<String> {
    let text = format!(
        "kernel k(%0 p: ptr.global, %1 q: ptr.global) lanes 32 warps 2 {{\n  shared 0: 8 bytes align 16\n{LOADS}{body}}}"
    );
    let mut module = text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    sink_loads(&mut module.kernels[0], registers);
    tilewright_kernel::verify(&module).unwrap_or_else(|error| panic!("{error}"));
    let name = |statement: &tilewright_kernel::Statement| match &statement.op {
        tilewright_kernel::Op::Load { offset, .. } => format!("load {offset}"),
        op => op.name().to_owned(),
    };
    let order = module.kernels[0].body.statements.iter().map(name).filter(|name| name != "shared_address");
    order.collect()
}

const AS_WRITTEN: [&str; 4] = ["load 0", "load 4", "load 8", "load 12"];

#[test]
fn loads_stay_if_the_lane_has_enough_registers() {
    assert_eq!(sunk(ROUNDS, 64)[..4], AS_WRITTEN);
}

#[test]
fn loads_move_to_their_first_uses_behind_barriers() {
    let expected = ["load 0", "store", "load 4", "store", "barrier", "load 8", "store", "load 12", "store"];
    assert_eq!(sunk(ROUNDS, 1), expected);
}

/// Other warps may overwrite the loaded memory as soon as they have passed the last barrier before a store to global
/// memory, so the loads stay before it.
#[test]
fn loads_stay_before_the_last_barrier_before_a_store_to_global_memory() {
    let stored = format!("{ROUNDS}  store %1, %5 align 4\n");
    let expected = ["load 0", "store", "load 4", "store", "load 8", "load 12", "barrier", "store", "store", "store"];
    assert_eq!(sunk(&stored, 1), expected);
    let between = format!("{ROUNDS}  barrier block all\n  store %1, %5 align 4\n");
    let moved =
        ["load 0", "store", "load 4", "store", "barrier", "load 8", "store", "load 12", "store", "barrier", "store"];
    assert_eq!(sunk(&between, 1), moved);
}

/// A lane may overwrite what it loads later, so no load moves behind a store to global memory.
#[test]
fn loads_stay_before_stores_to_global_memory() {
    let stored = "  store %0, %2 align 4\n  store %6, %3 align 4\n  store %6 + 4, %4 align 4\n  store %6, %5 align 4\n";
    assert_eq!(sunk(stored, 1)[..4], AS_WRITTEN);
}
