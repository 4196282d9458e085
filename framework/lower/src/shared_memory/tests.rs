//! Tests of allocation and barriers, on kernels that annotate the uses of their buffers.

use std::collections::HashMap;

use super::{Access, Annotations, SubTensor};
use tilewright_kernel::{Kernel, Value, text};

/// Allocates the buffers of data movements.
fn placed(kernel: Kernel) -> Kernel {
    super::allocate_buffers(kernel, &Annotations::default(), u64::MAX)
}

/// Returns a kernel of two warps with these buffers and this body; `%0` is a pointer, `%1` to `%3` are 0, 4 and 1.
fn kernel(buffers: &[u32], body: &str) -> Kernel {
    let shared = |(number, bytes): (usize, &u32)| format!("  shared {number}: {bytes} bytes align 16\n");
    let shared: String = buffers.iter().enumerate().map(shared).collect();
    let constants = "  %1: i32 = constant 0\n  %2: i32 = constant 4\n  %3: i32 = constant 1\n";
    let text = format!("kernel k(%0 p: ptr.global) lanes 32 warps 2 {{\n{shared}{constants}{body}\n}}");
    text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernels.remove(0)
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
fn loop_carried_buffers_keep_their_address() {
    let body = "  %5: ptr.shared = shared_address 0
  %6: ptr.shared = for %1 to %2 step %3 carry %5 (%7: i32, %8: ptr.shared) {
    store %8, %7 align 4
    yield %8
  }
  %9: ptr.shared = shared_address 1
  store %9, %1 align 4";
    let kernel = placed(kernel(&[64, 64], body));
    let [carried, other] = addresses(&kernel)[..] else { panic!("two buffers") };
    assert_ne!(carried, other);
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

/// Returns the addresses and barriers of a kernel that accesses a tensor of the program in buffer 0; `%100` and the
/// following values are the markers of accesses.
fn of_accesses(body: &str, accesses: &[Access]) -> String {
    let body = format!("  %50: ptr.shared = shared_address 0\n{body}");
    let accesses = (100..).map(Value).zip(accesses.iter().map(|&access| (access, None))).collect();
    names(&super::allocate_buffers(
        kernel(&[64], &body),
        &Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() },
        u64::MAX,
    ))
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
    let accesses = (100..).map(Value).zip(accesses.map(|access| (access, None))).collect();
    let annotations = Annotations { allocations: vec![Value(50), Value(51)], accesses, ..Annotations::default() };
    assert_eq!(
        names(&super::allocate_buffers(kernel(&[64, 64], body), &annotations, u64::MAX)),
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
    let accesses = (100..).map(Value).zip(accesses.map(|access| (access, None))).collect();
    let kernel = super::allocate_buffers(
        kernel(&[64, 64], body),
        &Annotations { allocations: vec![Value(50), Value(51)], accesses, ..Annotations::default() },
        u64::MAX,
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
        let annotations = Annotations {
            allocations: vec![Value(50)],
            accesses: HashMap::from([(Value(100), (Access::Copy, None))]),
            ..Annotations::default()
        };
        addresses(&super::allocate_buffers(kernel(&[64, 64], &body), &annotations, u64::MAX))
    };
    assert_ne!(of(1)[0], of(1)[1]);
    assert_eq!(of(0), [0, 0]);
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
    let short = super::allocate_buffers(kernel, &Annotations::default(), 191);
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
    let accesses = (100..).map(Value).zip([Access::Store, Access::Load].map(|access| (access, None))).collect();
    let annotations = Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() };
    let kernel = super::allocate_buffers(kernel(&[64, 64, 64], body), &annotations, u64::MAX);
    assert_eq!(names(&kernel), "store barrier load store barrier store barrier load load");
    assert_eq!(addresses(&kernel)[0], addresses(&kernel)[1]);
}

/// Returns the names of the operations of a kernel that loads one tensor of an allocation of two and stores the other;
/// the two alternate between iterations.
fn of_sub_tensors(sub_tensors: [Option<SubTensor>; 2]) -> String {
    let body = "  %50: ptr.shared = shared_address 0
  for %1 to %2 step %3 (%5: i32) {
    barrier block all
    %100: i1 = constant 0
    %51: i32 = load %50 align 4
    %101: i1 = constant 0
    store %50 + 32, %5 align 4
    yield
  }";
    let accesses = [Access::Load, Access::Store].into_iter().zip(sub_tensors);
    let accesses = (100..).map(Value).zip(accesses).collect();
    names(&super::allocate_buffers(
        kernel(&[64], body),
        &Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() },
        u64::MAX,
    ))
}

/// Checks that two tensors of an allocation that are known to differ need no barrier within an iteration; in the next
/// iteration they may be the same.
#[test]
fn one_stage_is_stored_while_another_is_read() {
    let sub_tensor = |number, flipped| Some(SubTensor { number, flipped });
    assert_eq!(of_sub_tensors([sub_tensor(7, 0), sub_tensor(7, 1)]), "for[barrier load store]");
    for sub_tensors in [
        [sub_tensor(7, 0), sub_tensor(7, 0)],
        [sub_tensor(7, 0), sub_tensor(8, 1)],
        [sub_tensor(7, 0), None],
        [None, None],
    ] {
        assert_eq!(of_sub_tensors(sub_tensors), "for[barrier load barrier store]", "{sub_tensors:?}");
    }
}

/// Checks that the tensor that was read in the iteration before is not known to differ from the one stored now.
#[test]
fn accesses_of_the_previous_iteration_may_alias() {
    let body = "  %50: ptr.shared = shared_address 0
  for %1 to %2 step %3 (%5: i32) {
    %101: i1 = constant 0
    store %50 + 32, %5 align 4
    %100: i1 = constant 0
    %51: i32 = load %50 align 4
    yield
  }";
    let sub_tensor = |flipped| Some(SubTensor { number: 7, flipped });
    let accesses = [(Value(100), (Access::Load, sub_tensor(0))), (Value(101), (Access::Store, sub_tensor(1)))]
        .into_iter()
        .collect();
    let annotations = Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() };
    assert_eq!(names(&super::allocate_buffers(kernel(&[64], body), &annotations, u64::MAX)), "for[barrier store load]");
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
        addresses(&super::allocate_buffers(kernel(&[64, 64, 64], &body), &annotations, u64::MAX))
    };
    assert_eq!(of("named_barrier 0, 2"), [0, 0, 0]);
    // Uses by concurrent groups are never disjoint in time.
    let buffer_addresses = of("");
    assert!(
        buffer_addresses[1] != buffer_addresses[0] && buffer_addresses[1] != buffer_addresses[2],
        "{buffer_addresses:?}"
    );
}
