//! Every kind of fault: a kernel that triggers it, and a similar valid kernel.

use tilewright_testkit::emulator_target;

use emulator_target::{body, kernel, run_body, target};
use tilewright_emulator::{
    Argument, EarlierConflictingAccess, Emulator, Fault, FaultKind, GlobalMemory, LaneFault, RunLimits, SemanticsTable,
    run_kernel,
};
use tilewright_kernel::{MemorySpace, Violation};
use tilewright_target::Direction;

/// Statements that define two addresses of the lane's word: `%7` in the first buffer, `%8` in the warp's part of that
/// buffer.
const OWN_WORD: &str = "%9: i32 = binary mul %0, %4
    %7: ptr.shared = ptr_add %5, %9
    %10: i32 = constant 32
    %11: i32 = binary mul %1, %10
    %8: ptr.shared = ptr_add %7, %11\n";

fn fault(warps: u32, text: &str) -> Fault {
    run_body(warps, text, true).expect_err("the kernel does something wrong")
}

fn passes(warps: u32, text: &str) {
    run_body(warps, text, true).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Returns the operation, the warp and the lane of a fault.
fn location(fault: &Fault) -> (usize, u32, Option<u32>) {
    let location = fault.location.as_ref().expect("the fault has a place");
    (location.operation, location.warp, location.lane)
}

#[test]
fn a_shared_access_beyond_its_own_buffer_is_out_of_bounds() {
    // Lane 7 of warp 0 stores at 252 of 256; four bytes further starts the second buffer.
    let store = |offset: i32| format!("{OWN_WORD} store %7 + {offset}, %0 align 4");
    passes(1, &store(224));
    let fault = fault(1, &store(228));
    assert_eq!(location(&fault), (12, 0, Some(7)));
    assert!(fault.to_string().contains("`store %7 + 228, %0 align 4`"), "{fault}");
    let FaultKind::OutOfBounds { direction, space, address, bytes, .. } = fault.kind else { panic!("{fault}") };
    assert_eq!((direction, space, address, bytes), (Direction::Store, MemorySpace::Shared, 256, 4));
}

#[test]
fn assumed_uniform_values_are_checked() {
    passes(2, "%7: i32 = assume_uniform block %2");
    let fault = fault(1, "%7: i32 = assume_uniform warp %0");
    assert_eq!(fault.kind, FaultKind::NotSame { lane: 0, other: 1 }, "{fault}");
}

#[test]
fn a_negative_shared_address_is_out_of_bounds() {
    let fault = fault(1, "store %5 - 4, %0 align 4");
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { space: MemorySpace::Shared, .. }), "{fault}");
}

#[test]
fn a_pointer_of_unknown_origin_may_reach_any_one_buffer_but_not_across_two() {
    let text = |offset: u32| {
        format!(
            "%7: i1 = compare eq %1, %2
             %8: ptr.shared = select %7, %5, %6
             %9: i1 = compare eq %0, %2
             store %8 + {offset}, %0 align 4 if %9"
        )
    };
    // 256 + 60 is the last word of the second buffer, relative to the first.
    passes(1, &text(316));
    assert!(matches!(fault(1, &text(320)).kind, FaultKind::OutOfBounds { .. }));
}

fn global(text: &str, buffer: impl FnOnce(&mut GlobalMemory) -> Argument) -> Result<(), Fault> {
    let mut memory = GlobalMemory::new();
    let argument = buffer(&mut memory);
    let text = format!(
        "kernel tested(%0 buffer: ptr.global) lanes 8 warps 1 {{
           %1: i32 = special lane
           %2: i32 = constant 4
           %3: i32 = binary mul %1, %2
           %4: ptr.global = ptr_add %0, %3
           {text}
         }}"
    );
    run_kernel(&kernel(&text), &target(true), [1, 1, 1], &[argument], &mut memory, &RunLimits::default()).map(|_| ())
}

#[test]
fn a_global_access_beyond_its_buffer_is_out_of_bounds() {
    let buffer = |bytes: usize| move |memory: &mut GlobalMemory| Argument::Buffer(memory.allocate(bytes));
    global("store %4, %1 align 4", buffer(32)).expect("8 lanes of 4 bytes");
    let fault = global("store %4, %1 align 4", buffer(30)).expect_err("two bytes are missing");
    assert_eq!(location(&fault), (4, 0, Some(7)));
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { space: MemorySpace::Global, bytes: 4, .. }), "{fault}");
    assert!(fault.to_string().contains("offset 28 of buffer 0, which has 30 bytes"), "{fault}");

    let before = global("store %4 - 4, %1 align 4", buffer(32)).expect_err("before the buffer");
    assert!(before.to_string().contains("offset -4 of buffer 0"), "{before}");
    let far = global(
        "%5: i64 = constant 0x7000000000000000\n %6: ptr.global = ptr_add %0, %5\n store %6, %1 align 4",
        buffer(32),
    );
    assert!(matches!(far.expect_err("nowhere").kind, FaultKind::OutOfBounds { .. }));
}

#[test]
fn a_load_of_unwritten_global_memory_is_uninitialised() {
    let written = |bytes: usize| {
        move |memory: &mut GlobalMemory| {
            let buffer = memory.allocate(32);
            memory.write(buffer, 0, &vec![1; bytes]).expect("it fits");
            Argument::Buffer(buffer)
        }
    };
    let load = "%5: i32 = load %4 align 4";
    global(load, written(32)).expect("all is written");
    let fault = global(load, written(22)).expect_err("bytes 22 to 31 are not written");
    assert_eq!(location(&fault).2, Some(5));
    let FaultKind::Uninitialised { space: MemorySpace::Global, address } = fault.kind else { panic!("{fault}") };
    assert_eq!(address & 0xff, 22, "the first byte that is not written is named");
    // Bytes that the kernel has written are initialised.
    global("store %4, %1 align 4\n %5: i32 = load %4 align 4", written(0)).expect("written before");
}

#[test]
fn a_load_of_shared_memory_is_uninitialised_until_it_is_stored_in_this_block() {
    let load = format!("{OWN_WORD} %12: i32 = load %7 align 4");
    let uninitialised = fault(1, &load);
    assert_eq!(uninitialised.kind, FaultKind::Uninitialised { space: MemorySpace::Shared, address: 0 });
    passes(1, &format!("{OWN_WORD} store %7, %0 align 4\n %12: i32 = load %7 align 4"));

    // Block 0 stores, block 1 only loads: shared memory does not persist between blocks.
    let text = format!(
        "{OWN_WORD} %12: i32 = special program 0
         %13: i1 = compare eq %12, %2
         store %7, %0 align 4 if %13
         %14: i32 = load %7 align 4"
    );
    let run = |blocks| {
        run_kernel(&body(1, &text), &target(true), [blocks, 1, 1], &[], &mut GlobalMemory::new(), &RunLimits::default())
    };
    run(1).expect("block 0 stores");
    let fault = run(2).expect_err("block 1 does not");
    assert_eq!(fault.location.as_ref().map(|location| location.block), Some([1, 0, 0]));
    assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }));
}

#[test]
fn an_address_that_breaks_the_promised_alignment_is_misaligned() {
    passes(1, &format!("{OWN_WORD} store %7, %0 align 4"));
    let fault = fault(1, &format!("{OWN_WORD} store %7, %0 align 8"));
    assert_eq!(location(&fault).2, Some(1));
    let expected =
        FaultKind::Misaligned { direction: Direction::Store, space: MemorySpace::Shared, address: 4, alignment: 8 };
    assert_eq!(fault.kind, expected);
    let global = global("%5: i32 = load %4 align 16", |memory| Argument::Buffer(memory.allocate_with(&[0; 32])));
    assert!(matches!(global.expect_err("lane 1").kind, FaultKind::Misaligned { space: MemorySpace::Global, .. }));
}

#[test]
fn predicates_keep_lanes_from_faults() {
    passes(1, "%7: i1 = constant 0\n %8: i32 = load %5 align 4 if %7\n store %5 - 64, %8 align 4 if %7");
}

/// The text of a kernel whose lane `l` stores its own word, executes `between`, and loads the word of lane `l ^ 1`.
fn neighbours(between: &str) -> String {
    format!(
        "{OWN_WORD} store %8, %0 align 4
         {between}
         %12: i32 = binary xor %9, %4
         %13: ptr.shared = ptr_add %5, %12
         %14: ptr.shared = ptr_add %13, %11
         %15: i32 = load %14 align 4"
    )
}

#[test]
fn lanes_of_a_warp_race_without_a_barrier_unless_the_target_orders_warps() {
    run_body(1, &neighbours(""), true).expect("the target orders accesses of a warp");
    let fault = run_body(1, &neighbours(""), false).expect_err("the target does not");
    assert_eq!(location(&fault), (16, 0, Some(0)));
    let other = EarlierConflictingAccess {
        operation: 12,
        text: "store %8, %0 align 4".to_owned(),
        source: None,
        direction: Direction::Store,
        block: None,
        warp: Some(0),
        lane: Some(1),
    };
    assert_eq!(fault.kind, FaultKind::Race { direction: Direction::Load, address: 4, other: Box::new(other) });
    run_body(1, &neighbours("barrier warp all"), false).expect("a barrier of the warp orders them");
    run_body(1, &neighbours("barrier block all"), false).expect("so does one of the block");
    // A lane may read its own word at any time.
    let own = format!("{OWN_WORD} store %8, %0 align 4\n %12: i32 = load %8 align 4");
    run_body(1, &own, false).expect("one lane");
}

#[test]
fn warps_race_without_a_barrier_of_the_block() {
    // Warp w stores its words and loads those of warp w ^ 1.
    let text = |between: &str| {
        format!(
            "{OWN_WORD} store %8, %0 align 4
             {between}
             %12: i32 = binary xor %11, %10
             %13: ptr.shared = ptr_add %7, %12
             %14: i32 = load %13 align 4"
        )
    };
    passes(2, &text("barrier block all"));
    for between in ["", "barrier warp all"] {
        // Warp 0 runs first and reads unwritten memory; either kind of fault is acceptable.
        let fault = fault(2, &text(between));
        assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }), "{fault}");
    }
    // If everything was written before, the load of warp 0 races with a later store of warp 1.
    let rewritten = |between: &str| {
        let last = format!("%15: i1 = compare eq %1, %3\n {between}\n store %8, %4 align 4 if %15");
        format!("{}\n {last}", text("barrier block all"))
    };
    passes(2, &rewritten("barrier block all"));
    let fault = fault(2, &rewritten(""));
    let FaultKind::Race { direction, address, other } = &fault.kind else { panic!("{fault}") };
    assert_eq!((*direction, *address), (Direction::Store, 32));
    assert_eq!((other.direction, other.warp, other.lane), (Direction::Load, Some(0), Some(0)));
    assert_eq!(location(&fault).1, 1);
}

#[test]
fn loads_do_not_race_with_loads() {
    let text = format!(
        "{OWN_WORD} %12: i1 = compare eq %1, %2
         store %7, %0 align 4 if %12
         barrier block all
         %13: i32 = load %5 align 4
         %14: i32 = load %7 align 4"
    );
    run_body(4, &text, false).expect("all only load after the barrier");
}

#[test]
fn stores_of_one_operation_to_one_byte_race_unless_they_are_equal() {
    passes(1, "store %5, %4 align 4");
    let fault = fault(1, "store %5, %0 align 4");
    assert_eq!(location(&fault), (7, 0, Some(1)));
    assert!(matches!(fault.kind, FaultKind::Race { direction: Direction::Store, address: 0, .. }), "{fault}");
    // Races are per byte: the stored words differ in their lowest byte only.
    passes(1, "%7: i32 = constant 256\n %8: i32 = binary div_u %0, %7\n store %5, %8 align 4");
    // Equal stores by two warps are two operations.
    let two_warps = run_body(2, "store %5, %4 align 4", true).expect_err("no barrier");
    let FaultKind::Race { other, .. } = &two_warps.kind else { panic!("{two_warps}") };
    assert_eq!((other.warp, other.lane), (Some(0), None), "several lanes wrote before");
}

#[test]
fn after_equal_stores_by_several_lanes_each_of_them_must_wait() {
    let text = |between: &str| format!("store %5, %4 align 4\n {between}\n %7: i32 = load %5 align 4");
    run_body(1, &text(""), true).expect("in program order");
    assert!(matches!(run_body(1, &text(""), false).expect_err("no order").kind, FaultKind::Race { .. }));
    run_body(1, &text("barrier warp all"), false).expect("with a barrier");
}

#[test]
fn a_store_must_wait_for_all_who_have_loaded() {
    // Lanes 0 to 3 load word 0 in two operations; then lane 7 stores it.
    let text = |between: &str| {
        format!(
            "%7: i1 = compare eq %0, %2
             store %5, %4 align 4 if %7
             barrier warp all
             %8: i1 = compare lt_u %0, %3
             %9: i32 = load %5 align 4 if %8
             %10: i1 = compare lt_u %0, %4
             %11: i32 = load %5 align 4 if %10
             {between}
             %12: i1 = compare eq %0, %2
             store %5, %3 align 4 if %12"
        )
    };
    run_body(1, &text("barrier warp all"), false).expect("a barrier");
    let fault = run_body(1, &text(""), false).expect_err("lane 0 stores what lane 1 loads");
    let FaultKind::Race { direction, other, .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!((*direction, other.direction, other.lane), (Direction::Store, Direction::Load, None));
}

#[test]
fn the_two_regions_of_an_if_are_not_ordered() {
    // Lanes below 4 store words 0 to 3; the others load them in the other region.
    let text = |after: bool| {
        let load = "%14: i32 = load %13 align 4";
        let (inside, outside) = if after { ("", load) } else { (load, "") };
        format!(
            "{OWN_WORD} store %7, %0 align 4
             %12: i32 = constant 15
             %16: i32 = binary and %9, %12
             %13: ptr.shared = ptr_add %5, %16
             %15: i1 = compare lt_u %0, %4
             if %15 {{
               store %7, %4 align 4
               yield
             }} else {{
               {inside}
               yield
             }}
             {outside}"
        )
    };
    passes(1, &text(true));
    let fault = fault(1, &text(false));
    let FaultKind::Race { direction: Direction::Load, address: 0, other } = &fault.kind else { panic!("{fault}") };
    assert_eq!(location(&fault).2, Some(4));
    assert_eq!((other.lane, other.text.as_str()), (Some(0), "store %7, %4 align 4"));
}

#[test]
fn a_collective_that_some_lanes_do_not_reach_is_divergent() {
    let text = |bound: &str, collective: &str| {
        format!("%7: i1 = compare lt_u %0, {bound}\n if %7 {{\n {collective}\n yield\n }} else {{\n yield\n }}")
    };
    let shuffles = ["%8: i32 = shuffle index all %0, %2", "%8: i32, %10: i32 = swap 4 all %0, %2"];
    let shuffles = shuffles.into_iter().chain(["%8: i32 = shuffle_xor 3 all %0"]);
    for collective in shuffles.chain(["barrier warp all", "barrier block all"]) {
        // All eight lanes are below 8: control flow that is uniform at run time is accepted.
        passes(1, &text("%9", collective).replacen("%7:", "%9: i32 = constant 8\n %7:", 1));
        let fault = fault(1, &text("%4", collective));
        assert_eq!(fault.kind, FaultKind::Divergent { missing: 0xf0 }, "{collective}");
        assert_eq!(location(&fault), (9, 0, None));
    }
    // In the second region, the lanes of the first are missing.
    let other = "%7: i1 = compare lt_u %0, %4\n if %7 {\n yield\n } else {\n barrier warp all\n yield\n }";
    assert_eq!(fault(1, other).kind, FaultKind::Divergent { missing: 0x0f });
    // In a loop, the lanes that have left it are missing.
    let looping = "for %2 to %0 step %3 (%7: i32) {\n barrier warp all\n yield\n }";
    assert_eq!(fault(1, looping).kind, FaultKind::Divergent { missing: 0x01 });
}

#[test]
fn a_shuffle_must_name_a_lane_of_the_warp() {
    passes(1, "%7: i32 = constant 7\n %8: i32 = shuffle index all %0, %7");
    let fault = fault(1, "%7: i32 = binary add %0, %4\n %8: i32 = shuffle index all %0, %7");
    assert_eq!(fault.kind, FaultKind::ShuffleLane { from: 8, lanes: 8 });
    assert_eq!(location(&fault), (8, 0, Some(4)));
}

#[test]
fn a_barrier_of_the_block_that_some_warps_never_reach_is_divergent() {
    let text = "%7: i1 = compare lt_u %1, %4\n if %7 {\n barrier block all\n yield\n } else {\n yield\n }";
    passes(4, text);
    let fault = fault(6, text);
    assert_eq!(fault.kind, FaultKind::BarrierNotReached { missing: vec![4, 5] });
    assert_eq!(location(&fault), (9, 0, None));
}

#[test]
fn an_endless_run_ends_at_the_step_limit() {
    let text = "%7: i32 = constant 4000000000\n for %2 to %7 step %3 (%8: i32) {\n yield\n }";
    assert_eq!(fault(1, text).kind, FaultKind::StepLimit { limit: 10_000 });
}

#[test]
fn loops_must_move_and_stay_within_32_bits() {
    assert_eq!(fault(1, "for %2 to %3 step %2 (%7: i32) {\n yield\n }").kind, FaultKind::LoopStep);
    let text = "%7: i32 = constant 0xffffffff\n %8: i32 = constant 0x80000000
        for %2 to %7 step %8 (%9: i32) {\n yield\n }";
    let expected = FaultKind::LoopIndex { index: 0x8000_0000, step: 0x8000_0000 };
    assert_eq!(fault(1, text).kind, expected);
}

#[test]
fn a_launch_must_fit_the_target() {
    let fault = |text: &str| Emulator::new(&kernel(text), &target(true)).err().map(|fault| fault.kind);
    assert_eq!(fault("kernel k() lanes 4 warps 16 {}"), None);
    assert!(matches!(fault("kernel k() lanes 16 warps 1 {}"), Some(FaultKind::Launch(_))));
    assert!(matches!(fault("kernel k() lanes 8 warps 9 {}"), Some(FaultKind::Launch(_))));
    assert_eq!(fault("kernel k() lanes 8 warps 1 { shared 0: 4096 bytes align 4 }"), None);
    let limit = FaultKind::SharedLimit { bytes: 4100, limit: 4096 };
    assert_eq!(
        fault("kernel k() lanes 8 warps 1 {\n shared 0: 2 bytes align 4\n shared 1: 4096 bytes align 4\n }"),
        Some(limit)
    );
    assert!(matches!(fault("kernel k() lanes 8 warps 1 { yield }"), Some(FaultKind::Invalid(error))
        if error.violation == Violation::YieldMisplaced));

    let empty = kernel("kernel k() lanes 8 warps 1 {}");
    let run = |grid, limits: RunLimits| run_kernel(&empty, &target(true), grid, &[], &mut GlobalMemory::new(), &limits);
    run([1, 1, 1], RunLimits::default()).expect("one block");
    assert!(matches!(run([1, 0, 1], RunLimits::default()).expect_err("none").kind, FaultKind::Launch(_)));
    let wide = body(1, "%7: 64xi64 = constant 0");
    let limits = RunLimits { register_bytes: 1000, ..RunLimits::default() };
    let fault =
        tilewright_emulator::run_kernel(&wide, &target(true), [1, 1, 1], &[], &mut GlobalMemory::new(), &limits);
    assert!(matches!(fault.expect_err("too many").kind, FaultKind::RegisterLimit { limit: 1000, .. }));
}

#[test]
fn arguments_must_fit_the_parameters() {
    let kernel = kernel("kernel k(%0 to: ptr.global, %1 size: i8) lanes 8 warps 1 {}");
    let mut memory = GlobalMemory::new();
    let buffer = Argument::Buffer(memory.allocate(4));
    let mut other = GlobalMemory::new();
    other.allocate(4);
    let foreign = Argument::Buffer(other.allocate(4));
    let mut index = |arguments: &[Argument]| match run_kernel(
        &kernel,
        &target(true),
        [1, 1, 1],
        arguments,
        &mut memory,
        &RunLimits::default(),
    ) {
        Ok(_) => None,
        Err(Fault { kind: FaultKind::Argument { index, .. }, .. }) => Some(index),
        Err(fault) => panic!("{fault}"),
    };
    assert_eq!(index(&[buffer, Argument::Scalar(255)]), None);
    assert_eq!(index(&[buffer, Argument::Scalar(256)]), Some(1));
    assert_eq!(index(&[buffer]), Some(1));
    assert_eq!(index(&[buffer, Argument::Scalar(0), Argument::Scalar(0)]), Some(2));
    assert_eq!(index(&[Argument::Scalar(0), Argument::Scalar(0)]), Some(0));
    assert_eq!(index(&[foreign, Argument::Scalar(0)]), Some(0));
    assert_eq!(index(&[buffer, buffer]), Some(1));
}

#[test]
fn a_shared_access_of_a_width_without_bank_row_cannot_be_counted() {
    let fault = fault(1, "%7: 8xi32 = constant 0\n %8: i1 = compare eq %0, %2\n store %5, %7 align 4 if %8");
    assert_eq!(fault.kind, FaultKind::NoBankRow { direction: Direction::Store, bits: 256, instruction: None });
}

#[test]
fn a_vendor_instruction_needs_semantics() {
    let text = "%7: i32 = instruction \"double\" %0";
    let unknown = fault(1, text);
    assert_eq!(unknown.kind, FaultKind::UnknownInstruction { name: "double".to_owned() });
    assert_eq!(location(&unknown), (7, 0, None));

    let mut semantics = SemanticsTable::new();
    semantics.insert("double", |call: &mut tilewright_emulator::InstructionCall<'_>| -> Result<(), LaneFault> {
        if call.operand_types().count() != 1 {
            return Err(call.invalid_use_fault("takes one operand"));
        }
        (0..call.lanes()).try_for_each(|lane| {
            let bits = call.operand(0, 0, lane)?;
            call.set_result(0, 0, lane, 2 * bits)
        })
    });
    let run = |text: &str| {
        let (kernel, target) = (body(1, text), target(true));
        let emulator = Emulator::new(&kernel, &target).expect("a valid kernel").with_semantics(&semantics);
        emulator.run([1, 1, 1], &[], &mut GlobalMemory::new(), &RunLimits::default()).map_err(|fault| fault.kind)
    };
    // Lane 7 may read from lane 6, twice 3, but lane 4 not from lane 8.
    run("%7: i32 = binary and %0, %3\n %8: i32 = instruction \"double\" %7\n %9: i32 = shuffle index all %0, %8")
        .expect("lanes 0 and 2");
    let doubled = run("%7: i32 = instruction \"double\" %0\n %8: i32 = shuffle index all %0, %7");
    assert_eq!(doubled, Err(FaultKind::ShuffleLane { from: 8, lanes: 8 }));
    let wrong = run("%7: i32 = instruction \"double\" %0, %0");
    assert!(matches!(wrong, Err(FaultKind::Instruction { name, .. }) if name == "double"));
    let missing = run("instruction \"double\" %0");
    assert!(matches!(missing, Err(FaultKind::Instruction { .. })), "there is no result to set");
}
