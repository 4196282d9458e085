//! Tests of allocation and barriers, on kernels that annotate the uses of their buffers.

use std::collections::HashMap;

use super::{Access, Annotations, Offsets, Slice};
use tilewright_kernel::{Kernel, Value, text};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};

/// Allocates the buffers of a kernel without tensors of the program, as for data movements alone.
fn placed(kernel: Kernel) -> Kernel {
    super::allocate_buffers(kernel, &Annotations::default(), Some(u64::MAX))
}

/// Returns a kernel of two warps with these buffers and this body; `%0` is a pointer, `%1` to `%3` are 0, 4 and 1.
fn kernel(buffers: &[u32], body: &str) -> Kernel {
    let shared = |(number, bytes): (usize, &u32)| format!("  shared {number}: {bytes} bytes align 16\n");
    let shared: String = buffers.iter().enumerate().map(shared).collect();
    let constants = "  %1: i32 = constant 0\n  %2: i32 = constant 4\n  %3: i32 = constant 1\n";
    let text = format!("kernel k(%0 p: ptr.global) lanes 32 warps 2 {{\n{shared}{constants}{body}\n}}");
    text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernels.remove(0)
}

fn addresses(kernel: &Kernel) -> Vec<u32> {
    kernel.shared.iter().map(|buffer| buffer.at.expect("a place")).collect()
}

/// Returns the names of the operations of a kernel, regions in brackets.
fn names(kernel: &Kernel) -> String {
    fn of(region: &tilewright_kernel::Region) -> String {
        let one = |statement: &tilewright_kernel::Statement| {
            let inner: Vec<String> = statement.op.regions().into_iter().map(of).collect();
            let name = statement.op.name();
            if inner.is_empty() { name.to_owned() } else { format!("{name}[{}]", inner.join("|")) }
        };
        let annotations = region
            .statements
            .iter()
            .filter(|statement| !matches!(statement.op.name(), "constant" | "shared_address" | "advance" | "yield"));
        annotations.map(one).collect::<Vec<_>>().join(" ")
    }
    of(&kernel.body)
}

const ONE_AFTER_THE_OTHER: &str = "  %5: ptr.shared = shared_address 0
  store %5, %1 align 4
  barrier block all
  %6: i32 = load %5 align 4
  %7: ptr.shared = shared_address 1
  store %7, %6 align 4
  barrier block all
  %8: i32 = load %7 align 4";

#[test]
fn buffers_with_disjoint_live_ranges_share_an_address_after_a_barrier() {
    let kernel = placed(kernel(&[64, 128], ONE_AFTER_THE_OTHER));
    assert_eq!(addresses(&kernel), [0, 0]);
    assert_eq!(kernel.shared_bytes(), 128);
    assert_eq!(names(&kernel), "store barrier load barrier store barrier load");
}

#[test]
fn buffers_in_use_together_are_disjoint_and_need_no_barrier() {
    let body = "  %5: ptr.shared = shared_address 0
  %6: ptr.shared = shared_address 1
  store %5, %1 align 4
  store %6, %1 align 4
  barrier block all
  %7: i32 = load %5 align 4
  %8: i32 = load %6 align 4";
    let kernel = placed(kernel(&[24, 128], body));
    assert_eq!(addresses(&kernel), [128, 0]);
    assert_eq!(names(&kernel), "store store barrier load load");
}

#[test]
fn a_loop_passes_a_barrier_before_it_reuses_a_buffer() {
    let body = "  for %1 to %2 step %3 (%5: i32) {
    %6: ptr.shared = shared_address 0
    store %6, %5 align 4
    barrier block all
    %7: i32 = load %6 align 4
    yield
  }";
    assert_eq!(names(&placed(kernel(&[64], body))), "for[barrier store barrier load]");
}

#[test]
fn an_iteration_that_ends_with_a_barrier_gets_no_further_one() {
    let body = "  for %1 to %2 step %3 (%5: i32) {
    %6: ptr.shared = shared_address 0
    store %6, %5 align 4
    barrier block all
    %7: i32 = load %6 align 4
    barrier block all
    yield
  }";
    assert_eq!(names(&placed(kernel(&[64], body))), "for[barrier store barrier load]");
}

#[test]
fn a_buffer_from_outside_a_loop_is_live_during_all_of_it() {
    let body = "  %5: ptr.shared = shared_address 0
  store %5, %1 align 4
  barrier block all
  for %1 to %2 step %3 (%6: i32) {
    %7: i32 = load %5 align 4
    %8: ptr.shared = shared_address 1
    store %8, %7 align 4
    yield
  }";
    let kernel = placed(kernel(&[64, 64], body));
    let [outside, inside] = addresses(&kernel)[..] else { panic!("two buffers") };
    assert_ne!(outside, inside);
}

#[test]
fn buffers_of_two_branch_arms_share_an_address_without_a_barrier() {
    let body = "  %5: i1 = compare eq %1, %2
  if %5 {
    %6: ptr.shared = shared_address 0
    store %6, %1 align 4
    yield
  } else {
    %7: ptr.shared = shared_address 1
    store %7, %1 align 4
    yield
  }";
    let kernel = placed(kernel(&[64, 64], body));
    assert_eq!(addresses(&kernel), [0, 0]);
    assert_eq!(names(&kernel), "compare if[store|store]");
}

/// Returns the names of the operations, with inserted barriers, of a kernel that accesses a program's tensor in buffer
/// 0. `%100` and the following values are the markers of `accesses`.
fn of_accesses(body: &str, accesses: &[Access]) -> String {
    let body = format!("  %50: ptr.shared = shared_address 0\n{body}");
    let accesses = (100..).map(Value).zip(accesses.iter().map(|&access| (access, Vec::new()))).collect();
    names(&super::allocate_buffers(
        kernel(&[64], &body),
        &Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() },
        Some(u64::MAX),
    ))
}

/// A loop that carries an address of buffer 0, which is not accessed after the loop; `%8` is a later address of buffer
/// 1.
const CARRIED_ADDRESS: &str = "  %5: ptr.shared = shared_address 0
  %6: ptr.shared = for %1 to %2 step %3 carry %5 (%10: i32, %11: ptr.shared) {
    store %11, %1 align 4
    yield %11
  }
  %8: ptr.shared = shared_address 1
  store %8, %1 align 4";

#[test]
fn a_carried_address_is_live_until_its_last_use() {
    assert_eq!(addresses(&placed(kernel(&[64, 64], CARRIED_ADDRESS))), [0, 0]);
    let used = format!("{CARRIED_ADDRESS}\n  store %6, %1 align 4");
    assert_eq!(addresses(&placed(kernel(&[64, 64], &used))), [0, 64]);
    // The region that takes an address must not yield it.
    let inside = "  %6: ptr.shared = if %4 {
    %5: ptr.shared = shared_address 0
    store %5, %1 align 4
    yield %5
  } else {
    %7: ptr.shared = shared_address 1
    store %7, %1 align 4
    yield %7
  }
  %8: ptr.shared = shared_address 2
  store %8, %1 align 4";
    let mut places = addresses(&placed(kernel(&[64, 64, 64], inside)));
    places.sort_unstable();
    assert_eq!(places, [0, 64, 128]);
}

#[test]
fn what_is_stored_is_loaded_behind_a_barrier_and_stored_behind_another() {
    let body = "  %100: i1 = constant 0
  store %50, %1 align 4
  store %50 + 4, %1 align 4
  %101: i1 = constant 0
  %51: i32 = load %50 align 4
  %102: i1 = constant 0
  %52: i32 = load %50 align 4
  %103: i1 = constant 0
  store %50, %52 align 4";
    let accesses = [Access::Store, Access::Load, Access::Load, Access::Store];
    assert_eq!(of_accesses(body, &accesses), "store store barrier load load barrier store");
}

#[test]
fn no_barrier_is_added_next_to_one_of_the_program() {
    let body = "  %100: i1 = constant 0
  store %50, %1 align 4
  barrier block all
  %101: i1 = constant 0
  %51: i32 = load %50 align 4";
    assert_eq!(of_accesses(body, &[Access::Store, Access::Load]), "store barrier load");
}

#[test]
fn tensors_in_other_buffers_have_no_hazard() {
    let body = "  %50: ptr.shared = shared_address 0
  %51: ptr.shared = shared_address 1
  %100: i1 = constant 0
  store %50, %1 align 4
  %101: i1 = constant 0
  store %51, %1 align 4
  barrier block all
  %102: i1 = constant 0
  %52: i32 = load %50 align 4
  %103: i1 = constant 0
  %53: i32 = load %51 align 4";
    let accesses = [Access::Store, Access::Store, Access::Load, Access::Load];
    let accesses = (100..).map(Value).zip(accesses.map(|access| (access, Vec::new()))).collect();
    let annotations = Annotations { allocations: vec![Value(50), Value(51)], accesses, ..Annotations::default() };
    assert_eq!(
        names(&super::allocate_buffers(kernel(&[64, 64], body), &annotations, Some(u64::MAX))),
        "store store barrier load load"
    );
}

/// Checks that the barrier before an address is reused does not replace the one between the store and the load.
#[test]
fn stores_and_loads_of_one_address_are_separated_by_barriers() {
    let body = "  %50: ptr.shared = shared_address 0
  %100: i1 = constant 0
  store %50, %1 align 4
  %101: i1 = constant 0
  %52: i32 = load %50 align 4
  %51: ptr.shared = shared_address 1
  %102: i1 = constant 0
  store %51, %1 align 4
  %103: i1 = constant 0
  %53: i32 = load %51 align 4";
    let accesses = [Access::Store, Access::Load, Access::Store, Access::Load];
    let accesses = (100..).map(Value).zip(accesses.map(|access| (access, Vec::new()))).collect();
    let kernel = super::allocate_buffers(
        kernel(&[64, 64], body),
        &Annotations { allocations: vec![Value(50), Value(51)], accesses, ..Annotations::default() },
        Some(u64::MAX),
    );
    assert_eq!(addresses(&kernel), [0, 0]);
    assert_eq!(names(&kernel), "store barrier load barrier store barrier load");
}

const COPY_AND_READ: &str = "  %100: i1 = constant 0
  instruction \"copy\" %50, %0
  commit copies
  %101: i1 = constant 0
  instruction \"copy\" %50, %0
  commit copies
  wait copies 1
  %102: i1 = constant 0
  %51: i32 = load %50 align 4";

#[test]
fn copies_are_read_behind_a_barrier_after_the_wait() {
    let accesses = [Access::Copy, Access::Copy, Access::Load];
    let sequence = of_accesses(COPY_AND_READ, &accesses);
    assert_eq!(sequence, "instruction commit instruction commit wait barrier load");
}

/// Checks that a second copy that completes at a later wait needs one more barrier to be visible to other threads.
#[test]
fn each_wait_may_complete_copies() {
    let body = format!("{COPY_AND_READ}\n  wait copies 0\n  %103: i1 = constant 0\n  %52: i32 = load %50 align 4");
    let accesses = [Access::Copy, Access::Copy, Access::Load, Access::Load];
    let sequence = of_accesses(&body, &accesses);
    assert_eq!(sequence, "instruction commit instruction commit wait barrier load wait barrier load");
    let wait_for_all = body.replace("copies 1", "copies 0");
    let sequence = of_accesses(&wait_for_all, &accesses);
    assert_eq!(sequence, "instruction commit instruction commit wait barrier load wait load");
}

/// Checks a program with its own barriers, which annotates the stores that need none; other stores of the buffer need
/// one.
#[test]
fn disjoint_stores_need_no_barrier() {
    let body = "  for %1 to %2 step %3 (%60: i32) {
    barrier block all
    %100: i1 = constant 0
    %51: i32 = load %50 align 4
    %101: i1 = constant 0
    store %50, %1 align 4
    yield
  }";
    assert_eq!(of_accesses(body, &[Access::Load, Access::DisjointStore]), "for[barrier load store]");
    assert_eq!(of_accesses(body, &[Access::Load, Access::Store]), "for[barrier load barrier store]");
}

#[test]
fn a_copy_comes_after_the_loads_of_the_previous_iteration() {
    let body = "  for %1 to %2 step %3 (%60: i32) {
    %100: i1 = constant 0
    instruction \"copy\" %50, %0
    commit copies
    wait copies 0
    %101: i1 = constant 0
    %51: i32 = load %50 align 4
    yield
  }";
    let sequence = of_accesses(body, &[Access::Copy, Access::Load]);
    assert_eq!(sequence, "for[barrier instruction commit wait barrier load]");
}

/// Checks accesses after a branch: if both arms read, later accesses follow both; if one arm passed a barrier, they
/// still follow the other.
#[test]
fn a_store_comes_after_the_loads_of_either_arm() {
    let body = "  %5: i1 = compare eq %1, %2
  if %5 {
    %100: i1 = constant 0
    %51: i32 = load %50 align 4
    barrier block all
    yield
  } else {
    %101: i1 = constant 0
    %52: i32 = load %50 align 4
    yield
  }
  %102: i1 = constant 0
  store %50, %1 align 4";
    let sequence = of_accesses(body, &[Access::Load, Access::Load, Access::Store]);
    assert_eq!(sequence, "compare if[load barrier|load] barrier store");
}

/// Returns the addresses of two buffers of 64 bytes in a kernel with the statements `body`. `%50` is the first buffer, and
/// the statement after `%100` copies to it.
fn addresses_with_copy(body: &str) -> Vec<u32> {
    let annotations = Annotations {
        allocations: vec![Value(50)],
        accesses: HashMap::from([(Value(100), (Access::Copy, Vec::new()))]),
        ..Annotations::default()
    };
    addresses(&super::allocate_buffers(kernel(&[64, 64], body), &annotations, Some(u64::MAX)))
}

/// Checks that a buffer with copies in flight keeps its address until the wait that leaves none in flight.
#[test]
fn a_buffer_is_in_use_until_its_copies_complete() {
    let of = |outstanding: u32| {
        let body = format!(
            "  %50: ptr.shared = shared_address 0
  %100: i1 = constant 0
  instruction \"copy\" %50, %0
  commit copies
  wait copies {outstanding}
  %51: ptr.shared = shared_address 1
  store %51, %1 align 4
  wait copies 0"
        );
        addresses_with_copy(&body)
    };
    assert_ne!(of(1)[0], of(1)[1]);
    assert_eq!(of(0), [0, 0]);
}

/// Checks that a load by an instruction, such as `ldmatrix`, is complete when its result is there: the wait for later copies
/// does not extend the buffer's use.
#[test]
fn a_copied_buffer_is_free_after_instructions_load_from_it() {
    let of = |result: &str| {
        let body = format!(
            "  %50: ptr.shared = shared_address 0
  %100: i1 = constant 0
  instruction \"copy\" %50, %0
  commit copies
  wait copies 0
  {result}instruction \"ldmatrix\" %50
  %51: ptr.shared = shared_address 1
  store %51, %1 align 4
  wait copies 0"
        );
        addresses_with_copy(&body)
    };
    assert_eq!(of("%101: i32 = "), [0, 0]);
    // Without a result, the instruction may be asynchronous.
    assert_ne!(of("")[0], of("")[1]);
}

#[test]
fn conversions_share_a_barrier_if_memory_suffices() {
    let body = "  %5: ptr.shared = shared_address 0
  store %5, %1 align 4
  barrier block all
  %6: i32 = load %5 align 4
  %7: ptr.shared = shared_address 1
  store %7, %2 align 4
  barrier block all
  %8: i32 = load %7 align 4";
    let kernel = kernel(&[64, 128], body);
    let together = placed(kernel.clone());
    assert_eq!(names(&together), "store store barrier load load");
    assert_eq!(addresses(&together), [128, 0]);
    let short = super::allocate_buffers(kernel, &Annotations::default(), Some(191));
    assert_eq!(names(&short), "store barrier load barrier store barrier load");
    assert_eq!(addresses(&short), [0, 0]);
}

#[test]
fn a_buffer_that_is_refilled_keeps_its_barriers() {
    let body = "  %5: ptr.shared = shared_address 0
  store %5, %1 align 4
  barrier block all
  %6: i32 = load %5 align 4
  barrier block all
  store %5, %2 align 4
  barrier block all
  %7: i32 = load %5 align 4";
    assert_eq!(names(&placed(kernel(&[64], body))), "store barrier load barrier store barrier load");
}

#[test]
fn a_barrier_stays_before_what_is_read_from_others() {
    let body = "  %5: ptr.shared = shared_address 0
  store %5, %1 align 4
  barrier block all
  %6: i32 = load %5 align 4
  %7: i32 = load %0 align 4
  %8: ptr.shared = shared_address 1
  store %8, %7 align 4
  barrier block all
  %9: i32 = load %8 align 4";
    // The buffers are not live at the same time, and so share an address.
    assert_eq!(names(&placed(kernel(&[64, 64], body))), "store barrier load load barrier store barrier load");
}

#[test]
fn conversions_in_a_loop_need_a_barrier_before_the_next_iteration() {
    let body = "  for %1 to %2 step %3 (%5: i32) {
    %6: ptr.shared = shared_address 0
    store %6, %5 align 4
    barrier block all
    %7: i32 = load %6 align 4
    %8: ptr.shared = shared_address 1
    store %8, %1 align 4
    barrier block all
    %9: i32 = load %8 align 4
    yield
  }";
    assert_eq!(names(&placed(kernel(&[64, 64], body))), "for[barrier store store barrier load load]");
}

/// Checks two movements that would share a barrier but between which the program accesses a tensor of its own: the
/// second one reuses the first one's address, after a block barrier.
#[test]
fn barriers_are_not_merged_across_accesses_of_program_tensors() {
    let body = "  %50: ptr.shared = shared_address 2
  %5: ptr.shared = shared_address 0
  store %5, %1 align 4
  barrier block all
  %6: i32 = load %5 align 4
  %100: i1 = constant 0
  store %50, %6 align 4
  %7: ptr.shared = shared_address 1
  store %7, %2 align 4
  barrier block all
  %8: i32 = load %7 align 4
  %101: i1 = constant 0
  %9: i32 = load %50 align 4";
    let accesses = (100..).map(Value).zip([Access::Store, Access::Load].map(|access| (access, Vec::new()))).collect();
    let annotations = Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() };
    let kernel = super::allocate_buffers(kernel(&[64, 64, 64], body), &annotations, Some(u64::MAX));
    assert_eq!(names(&kernel), "store barrier load store barrier store barrier load load");
    assert_eq!(addresses(&kernel)[0], addresses(&kernel)[1]);
}

/// Returns the barriers, loads and stores, in order, of a loop that accesses 32 bytes at each of the given pointers
/// into buffer 0. `index` computes the pointers from the loop's index `%5`, a carried value `%6` that begins as the
/// constant `initial`, and the constants `%1` (0), `%2` (4) and `%3` (1), and yields the next `%6`.
fn of_slots(initial: i64, index: &str, accesses: &[(Access, u32)]) -> String {
    let marked = |(at, (access, pointer)): (usize, &(Access, u32))| {
        let touch = match access {
            Access::Store => format!("store %{pointer}, %5 align 4"),
            _ => format!("%{}: i32 = load %{pointer} align 4", 120 + at),
        };
        format!("    %{}: i1 = constant 0\n    {touch}\n", 100 + at)
    };
    let marked: String = accesses.iter().enumerate().map(marked).collect();
    let (before, after) = index.split_once("yield").expect("a yield");
    let body = format!(
        "  %50: ptr.shared = shared_address 0
  %49: i32 = constant 32
  %48: i32 = constant 2
  %47: i32 = constant 3
  %46: i32 = constant {}
  %45: i32 = for %1 to %2 step %3 carry %46 (%5: i32, %6: i32) {{\n{before}\n{marked}    yield{after}\n  }}",
        initial as u32
    );
    let slice = |&(access, pointer): &(Access, u32)| {
        // Each thread stores the same bytes of every slot.
        let writer = (access == Access::Store).then_some(0);
        (access, vec![Slice { pointer: Value(pointer), offsets: Offsets::up_to(32), writer }])
    };
    let accesses = accesses.iter().map(slice);
    let accesses = (100..).map(Value).zip(accesses).collect();
    let kernel = super::allocate_buffers(
        kernel(&[128], &body),
        &Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() },
        Some(u64::MAX),
    );
    let names = names(&kernel);
    let (_, inside) = names.split_once("for[").expect("a loop");
    let kept = |name: &&str| ["barrier", "store", "load"].contains(name);
    inside.split([' ', ']']).filter(kept).collect::<Vec<_>>().join(" ")
}

/// Checks that of consecutive proxy fences the last remains, and that fences before a barrier stay.
#[test]
fn consecutive_stores_share_a_proxy_fence() {
    let (store, fence, barrier) = ("store %5, %1 align 4", "proxy_fence", "barrier block all");
    let cases = [
        (vec![store, fence, store, fence, barrier], "store store proxy_fence barrier"),
        (vec![store, fence, "%9: i32 = binary add %1, %2", fence, barrier], "store binary proxy_fence barrier"),
        (vec![store, fence, barrier, store, fence], "store proxy_fence barrier store proxy_fence"),
        (vec![fence, fence, fence], "proxy_fence"),
        (vec![store, fence, "wait copies 0", fence], "store proxy_fence wait proxy_fence"),
    ];
    for (body, expected) in cases {
        let body = format!("  %5: ptr.shared = shared_address 0\n  {}", body.join("\n  "));
        let kernel = placed(kernel(&[64], &body));
        assert_eq!(names(&kernel), expected, "{body}");
    }
}

/// Returns kernel text that computes the pointers `%60` and `%61` to two slots of 32 bytes in a buffer. The statement
/// `first` computes the index `%56` of the first slot, `second` the index `%57` of the second.
fn slots(first: &str, second: &str) -> String {
    format!(
        "    {first}\n    {second}\n    %58: i32 = binary mul %56, %49\n    %59: i32 = binary mul %57, %49
    %60: ptr.shared = ptr_add %50, %58\n    %61: ptr.shared = ptr_add %50, %59\n"
    )
}

/// Checks that slots that differ by index arithmetic need no barrier between their accesses, and that a slot that an
/// earlier iteration accessed needs one.
#[test]
fn slots_are_distinguished_by_index_arithmetic() {
    let next = "%55: i32 = binary add %5, %3\n    %57: i32 = binary rem_s %55, %47";
    let by_three = slots("%56: i32 = binary rem_s %5, %47", next);
    let wraps = |from: u32, to: u32, compare: &str| {
        format!(
            "%{0}: i32 = binary add %{from}, %3\n    %{1}: i1 = {compare}\n    %{to}: i32 = select %{1}, %1, %{0}",
            to + 200,
            to + 300
        )
    };
    let counter = slots(&wraps(6, 56, "compare le_s %47, %256"), &wraps(56, 57, "compare eq %257, %47"));
    let flipped = slots("%56: i32 = binary xor %6, %3", "%57: i32 = binary add %6, %1");
    let subtracted = slots("%56: i32 = binary sub %3, %6", "%57: i32 = binary add %6, %1");
    let masked = slots("%56: i32 = binary and %5, %3", "%57: i32 = binary and %55, %3");
    let masked = format!("    %55: i32 = binary add %5, %3\n{masked}");
    let constants = slots("%56: i32 = constant 1", "%57: i32 = constant 2");
    let unknown = slots("%55: i32 = load %0 align 4\n    %56: i32 = binary and %55, %3", "%57: i32 = constant 3");
    let (load, store) = (|pointer| (Access::Load, pointer), |pointer| (Access::Store, pointer));
    let cases = [
        // One barrier orders the iterations; there is none between the two slots.
        ("i % 3, (i + 1) % 3", 0, format!("{by_three}yield %6"), [store(61), load(60)], "store barrier load"),
        ("i % 3, (i + 1) % 3", 0, format!("{by_three}yield %6"), [load(60), store(61)], "barrier load store"),
        ("a slot stored twice", 0, format!("{by_three}yield %6"), [store(60), load(60)], "store barrier load"),
        ("a counter from 0", 0, format!("{counter}yield %56"), [store(61), load(60)], "store barrier load"),
        ("a counter from -1", -1, format!("{counter}yield %56"), [store(61), load(60)], "store barrier load"),
        (
            "a counter out of range",
            7,
            format!("{counter}yield %56"),
            [store(61), load(60)],
            "barrier store barrier load",
        ),
        ("a flipped bit", 0, format!("{flipped}yield %56"), [store(60), load(61)], "barrier store load"),
        ("one minus the phase", 1, format!("{subtracted}yield %56"), [store(60), load(61)], "barrier store load"),
        ("i & 1, (i + 1) & 1", 0, format!("{masked}yield %6"), [load(60), store(61)], "barrier load store"),
        ("constants, never the same", 0, format!("{constants}yield %6"), [load(60), store(61)], "load store"),
        // A number that is loaded in each iteration is not known in the next one.
        ("a loaded number", 0, format!("{unknown}yield %6"), [load(60), store(61)], "load load barrier store"),
    ];
    for (name, initial, index, accesses, expected) in cases {
        assert_eq!(of_slots(initial, &index, &accesses), expected, "{name}");
    }
}

/// Checks parts of a tensor: the two halves of each row interleave in memory, but share no element.
#[test]
fn parts_of_a_tensor_are_distinguished() {
    let memory = MemoryLayout::from_linear(LinearLayout::identity(32, Dim::OFFSET, Dim::tensor(0)).expect("a layout"));
    let part = |first: u64, basis: &[u64]| Offsets::of_elements(&memory, 4, first, basis);
    let parts = [part(0, &[1, 2, 8, 16]), part(4, &[1, 2, 8, 16]), part(4, &[1, 2]), part(16, &[1, 2])];
    for (a, first) in parts.iter().enumerate() {
        for (b, second) in parts.iter().enumerate() {
            let body = "  %50: ptr.shared = shared_address 0
  %100: i1 = constant 0
  store %50, %1 align 4
  %101: i1 = constant 0
  %51: i32 = load %50 align 4";
            let slice = |offsets: &Offsets| vec![Slice { pointer: Value(50), offsets: offsets.clone(), writer: None }];
            let accesses = [(Access::Store, slice(first)), (Access::Load, slice(second))];
            let accesses = (100..).map(Value).zip(accesses).collect();
            let annotations = Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() };
            let kernel = super::allocate_buffers(kernel(&[128], body), &annotations, Some(u64::MAX));
            // By hand: part 0 has the offsets whose bit 2 is zero, part 1 the others; part 2 lies within part 1, part 3
            // within part 0.
            let overlap = a == b || matches!((a.min(b), a.max(b)), (0, 3) | (1, 2));
            let expected = if overlap { "store barrier load" } else { "store load" };
            assert_eq!(names(&kernel), expected, "{a} {b}");
        }
    }
}

/// Checks two warp groups: the second stores what the first loads; before and after, the first has a buffer of its own.
/// After a barrier of all groups these buffers may share an address.
#[test]
fn warp_groups_reuse_addresses_of_buffers_before_the_branch() {
    let of = |barrier: &str| {
        let body = format!(
            "  %40: i1 = constant 1
  if %40 {{
    %5: ptr.shared = shared_address 0
    store %5, %1 align 4
    barrier block all
    %6: i32 = load %5 align 4
    {barrier}
    %7: ptr.shared = shared_address 1
    barrier block all
    %8: i32 = load %7 align 4
    {barrier}
    %9: ptr.shared = shared_address 2
    store %9, %8 align 4
    yield
  }} else {{
    {barrier}
    %10: ptr.shared = shared_address 1
    store %10, %2 align 4
    {barrier}
    yield
  }}"
        );
        let annotations = Annotations { partings: vec![Value(40)], ..Annotations::default() };
        addresses(&super::allocate_buffers(kernel(&[64, 64, 64], &body), &annotations, Some(u64::MAX)))
    };
    assert_eq!(of("named_barrier 0, 2"), [0, 0, 0]);
    // Uses by concurrent groups are never disjoint in time.
    let buffer_addresses = of("");
    assert!(
        buffer_addresses[1] != buffer_addresses[0] && buffer_addresses[1] != buffer_addresses[2],
        "{buffer_addresses:?}"
    );
}

/// A bulk copy from a buffer that is stored before, in each iteration.
const BULK_COPIES: &str = "  for %1 to %2 step %3 (%60: i32) {
    %100: i1 = constant 0
    store %50, %1 align 4
    %101: i1 = constant 0
    instruction \"copy\" %50, %0
    commit bulk
    yield
  }";

/// Checks that a wait precedes the next store to memory that a bulk copy reads, and that the last copies are waited for
/// at the end of the kernel, or before a warp group signals that another one may write the memory.
#[test]
fn bulk_copies_are_waited_for_where_their_memory_is_reused() {
    let accesses = [(100, Access::Store), (101, Access::BulkRead)].map(|(mark, access)| (Value(mark), access));
    let looped = "for[wait barrier store barrier instruction commit]";
    assert_eq!(of_accesses(BULK_COPIES, &accesses.map(|(_, access)| access)), format!("{looped} wait"));
    let of_groups = |bytes: u32, other: u32| {
        let body = format!(
            "  %40: i1 = constant 1
  if %40 {{
    %50: ptr.shared = shared_address 0
    {BULK_COPIES}
    %51: ptr.shared = shared_address 1
    mbarrier_arrive %51, {bytes}
    yield
  }} else {{
    %52: ptr.shared = shared_address {other}
    store %52, %1 align 4
    yield
  }}"
        );
        let accesses = accesses.iter().map(|&(mark, access)| (mark, (access, Vec::new()))).collect();
        let (allocations, partings) = (vec![Value(50)], vec![Value(40)]);
        let annotations = Annotations { allocations, accesses, partings, ..Annotations::default() };
        names(&super::allocate_buffers(kernel(&[64; 3], &body), &annotations, Some(u64::MAX)))
    };
    assert_eq!(of_groups(0, 0), format!("if[{looped} wait mbarrier_arrive|store]"));
    assert_eq!(of_groups(64, 0), format!("if[{looped} mbarrier_arrive|store] wait"));
    // The other warp group never writes the memory.
    assert_eq!(of_groups(0, 2), format!("if[{looped} mbarrier_arrive|store] wait"));
}

/// Checks that another buffer takes the address of one that a bulk copy reads only after a wait and a barrier.
#[test]
fn a_buffer_that_bulk_copies_read_is_reused_after_a_wait() {
    let body = "  %50: ptr.shared = shared_address 0
  %100: i1 = constant 0
  store %50, %1 align 4
  barrier block all
  %101: i1 = constant 0
  instruction \"copy\" %50, %0
  commit bulk
  barrier block all
  %51: ptr.shared = shared_address 1
  store %51, %1 align 4
  barrier block all
  %52: i32 = load %51 align 4";
    let accesses =
        HashMap::from([(Value(100), (Access::Store, Vec::new())), (Value(101), (Access::BulkRead, Vec::new()))]);
    let annotations = Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() };
    let kernel = super::allocate_buffers(kernel(&[64, 64], body), &annotations, Some(u64::MAX));
    assert_eq!(addresses(&kernel), [0, 0]);
    assert_eq!(names(&kernel), "store barrier instruction commit wait barrier store barrier load");
}
