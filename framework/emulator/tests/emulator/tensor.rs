//! Tensor memory on the emulator: allocation, row access by warps, order of accesses.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;
use tilewright_testkit::tensor_rows;

use emulator_target::{kernel, target};
use tilewright_emulator::{Argument, Emulator, Fault, FaultKind, GlobalMemory, RunLimits, SemanticsTable};
use tilewright_kernel::Queue;
use tilewright_target::{Instruction, InstructionKind, InstructionOperand, Semantics, TensorMemoryOperand};

use tensor_rows::{memory, register, row, tensor};

/// The instruction rows of the tests: moves of 8 rows and 2 columns, one row per lane; MMAs of 16 x 2 by 2 x 2 over all
/// 16 rows, with accumulators of 32 and of 16 bits.
fn rows() -> Vec<Instruction> {
    let lanes = [[1, 0], [2, 0], [4, 0]];
    let tile = || tensor("memory", "u32", 32, &lanes, &[[0, 1]], [8, 2]);
    let register_operand = |role| register(role, "u32", &[[0, 1]], &lanes, [8, 2]);
    let (moves, matrix) = (InstructionKind::TensorMove, InstructionKind::Matrix);
    let mma = |name, accumulator: &str| {
        let all = [[1, 0], [2, 0], [4, 0], [8, 0]];
        let a = register("a", "f16", &[[0, 1], [8, 0]], &lanes, [16, 2]);
        let b = register("b", "f16", &[[1, 0], [0, 1]], &[[0, 0]; 3], [2, 2]);
        let d = tensor("d", accumulator, 32, &all, &[[0, 1]], [16, 2]);
        row(name, matrix, Semantics::Contract, Queue::Mma, vec![d, a, b, InstructionOperand::Accumulate])
    };
    vec![
        row("ld", moves, Semantics::Move, Queue::TensorLoads, vec![register_operand("d"), tile()]),
        row("st", moves, Semantics::Move, Queue::TensorStores, vec![tile(), register_operand("a")]),
        mma("mma", "f32"),
        mma("mma16", "f16"),
        scaled(mma("mma scaled", "f32")),
    ]
}

/// Adds scales to an MMA row: for the 16 rows of A, eight per column, and for the two columns of B; one byte per
/// column, repeated in the rows of each warp.
fn scaled(mut row: Instruction) -> Instruction {
    let (nothing, last) = ([0, 0], row.operands.len() - 1);
    let scales = |role: &str, rows: &[[u64; 2]], columns: &[[u64; 2]], size: u64| {
        let copies = vec![8];
        match tensor(role, "e8m0", 8, rows, columns, [size, 1]) {
            InstructionOperand::Tensor(tile) => InstructionOperand::Tensor(TensorMemoryOperand { copies, ..tile }),
            other => other,
        }
    };
    let of_a = scales("scale_a", &[[1, 0], [2, 0], [4, 0]], &[nothing, nothing, [8, 0]], 16);
    let of_b = scales("scale_b", &[[1, 0], nothing, nothing], &[nothing, nothing], 2);
    row.operands.splice(last..last, [of_a, of_b]);
    row
}

/// Runs a kernel of two warps of eight lanes. `text` may use these values: `%1` is the lane, `%2` the warp, `%3` = 0,
/// `%4` = 1, `%5` an mbarrier of one arrival, `%6` four bytes of shared memory, `%7` true in the first warp, `%8` the
/// lane's pair of words of the output.
fn run(text: &str) -> Result<Vec<u32>, Fault> {
    let text = format!(
        "kernel tested(%0 to: ptr.global) lanes 8 warps 2 {{
           shared 0: 8 bytes align 8
           shared 1: 4 bytes align 4
           %1: i32 = special lane
           %2: i32 = special warp
           %3: i32 = constant 0
           %4: i32 = constant 1
           %5: ptr.shared = shared_address 0
           %6: ptr.shared = shared_address 1
           %7: i1 = compare eq %2, %3
           %100: i32 = constant 8
           %101: i32 = binary mul %2, %100
           %102: i32 = binary add %1, %101
           %103: i32 = binary mul %102, %100
           %8: ptr.global = ptr_add %0, %103
           {text}
         }}"
    );
    let (kernel, mut target) = (kernel(&text), target(false));
    target.tensor = Some(memory());
    let semantics = SemanticsTable::from_instructions(&rows());
    let mut memory = GlobalMemory::new();
    let output = memory.allocate_with(&[0; 128]);
    let emulator = Emulator::new(&kernel, &target)?.with_semantics(&semantics);
    emulator.run([1, 1, 1], &[Argument::Buffer(output)], &mut memory, &RunLimits::default())?;
    let bytes = memory.read_all(output).unwrap();
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

fn passes(text: &str) -> Vec<u32> {
    run(text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn fault(text: &str) -> FaultKind {
    match run(text) {
        Err(fault) => fault.kind,
        Ok(_) => panic!("the kernel does something wrong, and nothing is found:\n{text}"),
    }
}

fn message(text: &str) -> String {
    match fault(text) {
        FaultKind::TensorMemory { message } => message,
        other => panic!("{other}"),
    }
}

/// Statements that allocate tensor memory: `%9` is the allocated address, `%10` the address of the warp's own rows.
const ALLOCATE: &str = "if %7 { tensor_allocate %6, 8\n mbarrier_init %5, 1\n proxy_fence\n yield } else { yield }
    barrier block all
    %9: i32 = load %6 align 4
    %110: i32 = constant 524288
    %111: i32 = binary mul %2, %110
    %10: i32 = binary add %9, %111\n";

/// Statements by which each lane stores its index in the block, and twice that, to tensor memory.
const STORE: &str = "%120: i32 = binary add %102, %102
    %121: 2xi32 = pack %102, %120
    instruction \"st\" %10, %121
    commit tensor_stores\n";

const WAIT_STORE: &str = "wait tensor_stores 0\n";

const LOAD: &str = "%130: pending.2xi32 = instruction \"ld\" %10
    commit tensor_loads
    %131: 2xi32 = wait tensor_loads 0 %130
    store %8, %131 align 8\n";

const FREE: &str = "barrier block all\n if %7 { tensor_free %9, 8\n yield } else { yield }\n";

#[test]
fn what_was_stored_is_loaded() {
    let expected: Vec<u32> = (0..16).flat_map(|at| [at, 2 * at]).collect();
    assert_eq!(passes(&format!("{ALLOCATE}{STORE}{WAIT_STORE}{LOAD}{FREE}")), expected);
}

#[test]
fn columns_are_allocated_and_freed() {
    assert!(matches!(fault(ALLOCATE), FaultKind::TensorLeft { columns: 8 }));
    let body = |allocated: &str, freed: &str| {
        format!(
            "if %7 {{ tensor_allocate %6, {allocated}\n yield }} else {{ yield }}
             barrier block all
             %9: i32 = load %6 align 4
             if %7 {{ {freed}\n yield }} else {{ yield }}"
        )
    };
    passes(&body("32", "tensor_free %9, 32"));
    for (allocated, freed, expected) in [
        ("2", "", "a power of two from 4 to 32"),
        ("64", "", "a power of two from 4 to 32"),
        ("32", "tensor_allocate %6, 4", "0 are free"),
        ("8", "tensor_free %9, 4", "not allocated together"),
        ("8", "tensor_free %3, 8", "not allocated together"),
        ("8", "tensor_free %9, 8\n tensor_free %9, 8", "not allocated together"),
    ] {
        let found = message(&body(allocated, freed));
        assert!(found.contains(expected), "{allocated} {freed}: {found}");
    }
}

#[test]
fn a_warp_accesses_only_allocated_columns_and_its_own_rows() {
    for (address, expected) in [
        ("%141: i32 = binary xor %10, %110", "can access 8 rows from"),
        ("%140: i32 = constant 4\n %141: i32 = binary add %10, %140\n", ""),
        ("%140: i32 = constant 16\n %141: i32 = binary xor %10, %140\n", "is not allocated"),
        ("%140: i32 = constant 8\n %141: i32 = binary add %10, %140\n", "there are 16 rows and 32 columns"),
    ] {
        let text = format!("{ALLOCATE}{address}\n{}{WAIT_STORE}{FREE}", STORE.replace("%10, %121", "%141, %121"));
        if expected.is_empty() {
            passes(&text);
        } else {
            let found = message(&text);
            assert!(found.contains(expected), "{address}: {found}");
        }
    }
    let after = format!("{ALLOCATE}{FREE} barrier block all\n {STORE}{WAIT_STORE}");
    assert!(message(&after).contains("is not allocated"));
    assert!(matches!(fault(&format!("{ALLOCATE}{LOAD}{FREE}")), FaultKind::TensorUninitialised { .. }));
}

/// The statement of an MMA: operands A and B are ones; the accumulator starts from zero if `%accumulate` is false.
fn mma(name: &str, accumulate: &str) -> String {
    format!(
        "%150: 4xf16 = constant 0x3c00
         %151: i1 = compare {accumulate} %3, %3
         if %7 {{ instruction \"{name}\" %9, %150, %150, %151\n mbarrier_commit products %5\n yield }} else {{ yield }}\n"
    )
}

const WAIT: &str = "mbarrier_wait %5, %3\n";

#[test]
fn accumulators_start_at_zero_or_are_added_to() {
    let two = f32::to_bits(2.0);
    let zero = format!("{ALLOCATE}{}{WAIT}{LOAD}{FREE}", mma("mma", "ne"));
    assert_eq!(passes(&zero), vec![two; 32]);
    let fives = STORE.replace("pack %102, %120", "constant 0x40a00000");
    let added = format!("{ALLOCATE}{fives}{WAIT_STORE} barrier block all\n{}{WAIT}{LOAD}{FREE}", mma("mma", "eq"));
    assert_eq!(passes(&added), vec![f32::to_bits(7.0); 32]);
    assert!(matches!(
        fault(&format!("{ALLOCATE}{}{WAIT}{LOAD}{FREE}", mma("mma", "eq"))),
        FaultKind::TensorUninitialised { .. }
    ));
    let half = format!("{ALLOCATE}{}{WAIT}{LOAD}{FREE}", mma("mma16", "ne"));
    assert!(passes(&half).iter().all(|word| word & 0xffff == 0x4000 && word >> 16 != 0), "above is unspecified");
}

#[test]
fn mmas_of_one_warp_complete_in_order() {
    let second = mma("mma", "eq").replace("%15", "%16");
    let first = mma("mma", "ne").replace("mbarrier_commit products %5", "");
    assert_eq!(passes(&format!("{ALLOCATE}{first}{second}{WAIT}{LOAD}{FREE}")), vec![f32::to_bits(4.0); 32]);
}

#[test]
fn data_in_flight_is_not_accessed() {
    let mma = mma("mma", "ne");
    for (text, what) in [
        (format!("{ALLOCATE}{mma}{LOAD}{WAIT}{FREE}"), "a load before the products have finished"),
        (format!("{ALLOCATE}{mma}{STORE}{WAIT_STORE}{WAIT}{FREE}"), "a store likewise"),
        (format!("{ALLOCATE}{STORE}{mma}{WAIT}{WAIT_STORE}{FREE}"), "products before a store has completed"),
        (format!("{ALLOCATE}{STORE}{LOAD}{WAIT_STORE}{FREE}"), "a load likewise"),
        (format!("{ALLOCATE}{STORE}{}{WAIT_STORE}{FREE}", STORE.replace("%12", "%22")), "a store on the same queue"),
        (format!("{ALLOCATE}{STORE}{FREE}{WAIT_STORE}"), "columns are freed likewise"),
    ] {
        assert!(matches!(fault(&text), FaultKind::TensorInFlight { .. }), "{what}");
    }
    let unfinished = format!("{ALLOCATE}{STORE}");
    assert!(matches!(fault(&unfinished), FaultKind::Unfinished { .. }));
}

#[test]
fn warps_are_ordered_by_barriers_and_by_the_mbarrier_of_the_mmas() {
    let stored = format!("{ALLOCATE}{STORE}{WAIT_STORE}");
    let mma = mma("mma", "eq");
    passes(&format!("{stored} barrier block all\n {mma}{WAIT}{LOAD}{FREE}"));
    // The second warp runs after the first, so the MMA has completed before its store.
    let second_warp = format!("{ALLOCATE}{}{WAIT}", self::mma("mma", "ne"));
    passes(&format!("{second_warp}{LOAD}{FREE}"));
    let only_first = second_warp.replace(WAIT, "if %7 { mbarrier_wait %5, %3\n yield } else { yield }\n");
    assert!(matches!(fault(&format!("{only_first}{LOAD}{FREE}")), FaultKind::TensorRace { .. }));
    passes(&format!("{only_first} barrier block all\n {LOAD}{FREE}"));
    // The columns are freed while another warp may still load.
    let early = format!("{ALLOCATE}{STORE}{WAIT_STORE} barrier block all\n{LOAD}");
    let not_met = FREE.replace("barrier block all", "").replace("if %7", "%170: i1 = compare ne %2, %3\n if %170");
    assert!(matches!(fault(&format!("{early}{not_met}")), FaultKind::TensorRace { .. }));
}

/// The second warp issues the MMAs; the first waits for the first of them, which therefore completes there, before the
/// second warp issues the next.
#[test]
fn mmas_of_one_warp_stay_in_order_when_another_waits() {
    let by_second = |accumulate: &str| mma("mma", accumulate).replace("if %7 {", "if %168 {");
    let issued = format!("{ALLOCATE}%168: i1 = compare ne %2, %3\n{}barrier block all\n", by_second("ne"));
    let first_waits = "if %7 { mbarrier_wait %5, %3\n yield } else { yield }\n";
    let next = by_second("eq").replace("%15", "%16");
    let last = "%171: i32 = constant 1\n mbarrier_wait %5, %171\n";
    assert_eq!(passes(&format!("{issued}{first_waits}{next}{last}{LOAD}{FREE}")), vec![f32::to_bits(4.0); 32]);
}

#[test]
fn groups_arrive_once() {
    let twice = mma("mma", "ne").replace("yield } else", "mbarrier_commit products %5\n yield } else");
    match fault(&format!("{ALLOCATE}{twice}{WAIT}{LOAD}{FREE}")) {
        FaultKind::Mbarrier { message, .. } => assert!(message.contains("more arrivals than its count")),
        other => panic!("{other}"),
    }
}

/// The text of a kernel with the scales of `a` from column 2 on and those of `b` in column 4: each warp stores its
/// lane's `%a` to all of these in its own rows.
fn stored_scales(scales: &str) -> String {
    let at = |number: u32, columns: u32| {
        format!(
            "%{number}0: i32 = constant {columns}
             %{number}1: i32 = binary add %10, %{number}0
             %{number}2: i32 = binary add %9, %{number}0
             instruction \"st\" %{number}1, %60\n"
        )
    };
    let (of_a, of_b) = (at(7, 2), at(8, 4));
    format!(
        "{scales}\n %60: 2xi32 = pack %50, %50\n{of_a}{of_b} commit tensor_stores\n{WAIT_STORE} barrier block all\n"
    )
}

#[test]
fn scales_are_read_in_the_rows_of_any_warp() {
    let mma = mma("mma scaled", "ne").replace("%150, %151\n", "%150, %72, %82, %151\n");
    // Scales 2 of the row and 2 of the column; the bits above the byte are not part of the scale.
    let doubled = stored_scales("%50: i32 = constant 0xffffff80");
    let text = format!("{ALLOCATE}{doubled}{mma}{WAIT}{LOAD}{FREE}");
    assert_eq!(passes(&text), vec![f32::to_bits(8.0); 32]);
    // Scales 2^0, 2^1, ... by row, and 1 and 2 by column.
    let by_row = "%51: i32 = constant 127\n %50: i32 = binary add %1, %51";
    let text = format!("{ALLOCATE}{}{mma}{WAIT}{LOAD}{FREE}", stored_scales(by_row));
    let expected: Vec<u32> =
        (0..16).flat_map(|row| [1.0, 2.0].map(|column| (2.0 * f32::powi(2.0, row % 8) * column).to_bits())).collect();
    assert_eq!(passes(&text), expected);
    let by_warp = "%51: i32 = constant 127\n %50: i32 = binary add %2, %51";
    match fault(&format!("{ALLOCATE}{}{mma}{WAIT}{LOAD}{FREE}", stored_scales(by_warp))) {
        FaultKind::Instruction { message, .. } => assert!(message.contains("8 rows further down"), "{message}"),
        other => panic!("{other}"),
    }
}
