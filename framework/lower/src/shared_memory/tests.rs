//! Places and barriers, of kernels that say what they do with their buffers.

use std::collections::HashMap;

use super::{Access, Annotations, Part};
use tilewright_kernel::{Kernel, Value, text};

/// Of buffers that movements bring.
fn placed(kernel: Kernel) -> Kernel {
    super::placed(kernel, &Annotations::default(), u64::MAX)
}

/// A kernel of two warps with these buffers and this body; `%0` is a pointer, `%1` to `%3` are 0, 4 and 1.
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

/// The names of the operations, regions in brackets.
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
fn buffers_in_use_one_after_the_other_share_a_place_behind_a_barrier() {
    let kernel = placed(kernel(&[64, 128], ONE_AFTER_THE_OTHER));
    assert_eq!(addresses(&kernel), [0, 0]);
    assert_eq!(kernel.shared_bytes(), 128);
    assert_eq!(names(&kernel), "store barrier load barrier store barrier load");
}

#[test]
fn buffers_in_use_together_lie_apart_and_need_no_barrier() {
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
fn a_loop_meets_before_it_comes_back_to_a_buffer() {
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
fn a_turn_that_ends_with_a_barrier_waits_no_more_often() {
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
fn a_buffer_of_the_outside_is_in_use_for_the_whole_loop() {
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
fn what_a_loop_carries_keeps_its_place() {
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
fn what_is_used_in_two_arms_shares_a_place_without_a_barrier() {
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

/// Places and barriers of a kernel that accesses a tensor of its own, in buffer 0, where `%100` and the values after it are
/// defined.
fn of_accesses(body: &str, accesses: &[Access]) -> String {
    let body = format!("  %50: ptr.shared = shared_address 0\n{body}");
    let accesses = (100..).map(Value).zip(accesses.iter().map(|&access| (access, None))).collect();
    names(&super::placed(
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
fn nobody_waits_where_the_program_has_a_barrier() {
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
    assert_eq!(names(&super::placed(kernel(&[64, 64], body), &annotations, u64::MAX)), "store store barrier load load");
}

/// The barrier before the place is used again does not stand for the one between the store and the load.
#[test]
fn tensors_at_one_place_are_stored_behind_a_barrier_and_loaded_behind_another() {
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
    let kernel = super::placed(
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
    let made = of_accesses(COPY_AND_READ, &accesses);
    assert_eq!(made, "instruction commit instruction commit wait barrier load");
}

/// The second copy lands with a later wait: what it wrote others see behind one more barrier.
#[test]
fn each_wait_may_land_copies() {
    let body = format!("{COPY_AND_READ}\n  wait copies 0\n  %103: i1 = constant 0\n  %52: i32 = load %50 align 4");
    let accesses = [Access::Copy, Access::Copy, Access::Load, Access::Load];
    let made = of_accesses(&body, &accesses);
    assert_eq!(made, "instruction commit instruction commit wait barrier load wait barrier load");
    let all_landed = body.replace("copies 1", "copies 0");
    let made = of_accesses(&all_landed, &accesses);
    assert_eq!(made, "instruction commit instruction commit wait barrier load wait load");
}

/// A program that has its own meetings says which stores need none: others of the buffer do.
#[test]
fn stores_apart_need_no_barrier() {
    let body = "  for %1 to %2 step %3 (%60: i32) {
    barrier block all
    %100: i1 = constant 0
    %51: i32 = load %50 align 4
    %101: i1 = constant 0
    store %50, %1 align 4
    yield
  }";
    assert_eq!(of_accesses(body, &[Access::Load, Access::Apart]), "for[barrier load store]");
    assert_eq!(of_accesses(body, &[Access::Load, Access::Store]), "for[barrier load barrier store]");
}

#[test]
fn a_copy_comes_after_the_loads_of_the_turn_before() {
    let body = "  for %1 to %2 step %3 (%60: i32) {
    %100: i1 = constant 0
    instruction \"copy\" %50, %0
    commit copies
    wait copies 0
    %101: i1 = constant 0
    %51: i32 = load %50 align 4
    yield
  }";
    let made = of_accesses(body, &[Access::Copy, Access::Load]);
    assert_eq!(made, "for[barrier instruction commit wait barrier load]");
}

/// Where both arms read, what follows them comes after both; where one has met, it still comes after the other.
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
    let made = of_accesses(body, &[Access::Load, Access::Load, Access::Store]);
    assert_eq!(made, "compare if[load barrier|load] barrier store");
}

/// A buffer that copies are under way to keeps its place until the wait that leaves none.
#[test]
fn a_buffer_is_in_use_until_its_copies_have_landed() {
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
        addresses(&super::placed(kernel(&[64, 64], &body), &annotations, u64::MAX))
    };
    assert_ne!(of(1)[0], of(1)[1]);
    assert_eq!(of(0), [0, 0]);
}

#[test]
fn movements_store_together_where_they_can_and_meet_once() {
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
    let short = super::placed(kernel, &Annotations::default(), 191);
    assert_eq!(names(&short), "store barrier load barrier store barrier load");
    assert_eq!(addresses(&short), [0, 0]);
}

#[test]
fn a_buffer_that_is_filled_again_keeps_its_barriers() {
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
    // The buffers are not in use at the same time, and so lie at one place.
    assert_eq!(names(&placed(kernel(&[64, 64], body))), "store barrier load load barrier store barrier load");
}

#[test]
fn movements_of_a_loop_meet_once_more_before_they_come_back() {
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

/// Two movements would share a barrier, but between them the program accesses a tensor of its own; so the second one has
/// the first one's place, and the block meets before it.
#[test]
fn movements_on_either_side_of_an_access_of_the_programs_do_not_meet() {
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
    let kernel = super::placed(kernel(&[64, 64, 64], body), &annotations, u64::MAX);
    assert_eq!(names(&kernel), "store barrier load store barrier store barrier load load");
    assert_eq!(addresses(&kernel)[0], addresses(&kernel)[1]);
}

/// Names of a kernel that reads one tensor of an allocation of two and stores another, the turn between by itself.
fn of_parts(parts: [Option<Part>; 2]) -> String {
    let body = "  %50: ptr.shared = shared_address 0
  for %1 to %2 step %3 (%5: i32) {
    barrier block all
    %100: i1 = constant 0
    %51: i32 = load %50 align 4
    %101: i1 = constant 0
    store %50 + 32, %5 align 4
    yield
  }";
    let accesses = [Access::Load, Access::Store].into_iter().zip(parts);
    let accesses = (100..).map(Value).zip(accesses).collect();
    names(&super::placed(
        kernel(&[64], body),
        &Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() },
        u64::MAX,
    ))
}

/// Of two parts whose numbers are known to differ none waits for the other within a turn; in the next one they may be each other.
#[test]
fn one_part_is_stored_while_another_is_read() {
    let part = |number, flipped| Some(Part { number, flipped });
    assert_eq!(of_parts([part(7, 0), part(7, 1)]), "for[barrier load store]");
    for parts in [[part(7, 0), part(7, 0)], [part(7, 0), part(8, 1)], [part(7, 0), None], [None, None]] {
        assert_eq!(of_parts(parts), "for[barrier load barrier store]", "{parts:?}");
    }
}

/// What was read in the turn before is not known to be another part than what is stored in this one.
#[test]
fn parts_of_another_turn_may_be_any() {
    let body = "  %50: ptr.shared = shared_address 0
  for %1 to %2 step %3 (%5: i32) {
    %101: i1 = constant 0
    store %50 + 32, %5 align 4
    %100: i1 = constant 0
    %51: i32 = load %50 align 4
    yield
  }";
    let part = |flipped| Some(Part { number: 7, flipped });
    let accesses =
        [(Value(100), (Access::Load, part(0))), (Value(101), (Access::Store, part(1)))].into_iter().collect();
    let annotations = Annotations { allocations: vec![Value(50)], accesses, ..Annotations::default() };
    assert_eq!(names(&super::placed(kernel(&[64], body), &annotations, u64::MAX)), "for[barrier store load]");
}

/// Two groups of warps, of which the second stores what the first loads; before and after the first has a buffer for itself. Where
/// all meet in between, that may lie at the same place.
#[test]
fn groups_of_warps_share_places_with_what_comes_before_they_part() {
    let of = |meets: &str| {
        let body = format!(
            "  %40: i1 = constant 1
  if %40 {{
    %5: ptr.shared = shared_address 0
    store %5, %1 align 4
    barrier block all
    %6: i32 = load %5 align 4
    {meets}
    %7: ptr.shared = shared_address 1
    barrier block all
    %8: i32 = load %7 align 4
    {meets}
    %9: ptr.shared = shared_address 2
    store %9, %8 align 4
    yield
  }} else {{
    {meets}
    %10: ptr.shared = shared_address 1
    store %10, %2 align 4
    {meets}
    yield
  }}"
        );
        let annotations = Annotations { partings: vec![Value(40)], ..Annotations::default() };
        addresses(&super::placed(kernel(&[64, 64, 64], &body), &annotations, u64::MAX))
    };
    assert_eq!(of("group_barrier 0, 2"), [0, 0, 0]);
    // What one group does while the other does something else is never apart in time.
    let places = of("");
    assert!(places[1] != places[0] && places[1] != places[2], "{places:?}");
}
