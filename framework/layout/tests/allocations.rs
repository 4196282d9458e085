//! Heap allocations of the layout core: none to apply a layout, at most one to compose two, none to build a family's
//! layout of two axes.

use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::cell::Cell;

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{AffineLayout, Dim, Families, LinearLayout, parse_family_spec};

/// An allocator that counts the allocations of the current thread.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count_one() {
    // A thread that is ending has no counter any more.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// The unsafe trait is implemented by passing every call unchanged to the system's allocator. The counter, an integer
// initialised at compile time, does not allocate.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        count_one();
        // SAFETY: the caller guarantees the requirements of the system's allocator.
        unsafe { System.alloc(block) }
    }

    unsafe fn alloc_zeroed(&self, block: Block) -> *mut u8 {
        count_one();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(block) }
    }

    unsafe fn realloc(&self, at: *mut u8, block: Block, size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as above; `at` came from the system's allocator.
        unsafe { System.realloc(at, block, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, block: Block) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, block) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of heap allocations of `work`.
fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    let before = COUNT.get();
    let result = work();
    let after = COUNT.get();
    drop(result);
    after - before
}

/// A layout with registers along the second axis, and five bits of lanes and two of warps along the first.
fn tile(register_bits: u32) -> LinearLayout {
    let identity_of =
        |bits: u32, dim, axis| LinearLayout::identity(1u64 << bits, dim, Dim::tensor(axis)).expect("few bits");
    let registers = identity_of(register_bits, Dim::REGISTER, 1);
    registers
        .direct_sum(&identity_of(5, Dim::LANE, 0))
        .and_then(|l| l.direct_sum(&identity_of(2, Dim::WARP, 0)))
        .expect("few bits")
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| vec![1u8]), 1);
    assert_eq!(allocations(|| vec![0u8; 100]), 1);
    assert_eq!(allocations(|| 1u8), 0);
}

#[test]
fn applying_allocates_nothing() {
    let of_sixteen_axes = (0..16).fold(LinearLayout::empty(), |sum, axis| {
        sum.direct_sum(&LinearLayout::identity(2, Dim::LANE, Dim::tensor(axis)).expect("few bits")).expect("few bits")
    });
    for layout in [tile(6), tile(40), of_sixteen_axes] {
        let point = [(Dim::LANE, 17)];
        assert_eq!(allocations(|| layout.apply_packed(77)), 0);
        assert_eq!(allocations(|| layout.apply(&point).expect("a lane")), 0);
        let affine = AffineLayout::from(layout);
        assert_eq!(allocations(|| affine.apply(&point).expect("a lane")), 0);
    }
}

#[test]
fn composing_allocates_at_most_once() {
    let small = tile(6);
    let inverse = small.invert().expect("one to one");
    assert_eq!(allocations(|| small.compose(&inverse)), 0);
    assert_eq!(allocations(|| small.invert()), 0);
    assert_eq!(allocations(|| small.pseudoinvert()), 0);
    let blocks = LinearLayout::identity(4, Dim::BLOCK, Dim::tensor(0)).expect("a power of two");
    assert_eq!(allocations(|| small.direct_sum(&blocks)), 0);
    assert_eq!(allocations(|| small.invert_and_compose(&small)), 0);
    for register_bits in [17, 18, 25, 40, 57] {
        let large = tile(register_bits);
        let inverse = large.invert().expect("one to one");
        assert!(allocations(|| large.compose(&inverse)) <= 1, "{register_bits} bits of registers");
    }
}

#[test]
fn building_a_family_of_two_axes_allocates_nothing() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], \
                   order = [1, 0]}>";
    let texts = [
        blocked.to_owned(),
        format!("#ttg.slice<{{dim = 1, parent = {blocked}}}>"),
        format!("#ttg.dot_op<{{opIdx = 0, parent = {blocked}}}>"),
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>".to_owned(),
    ];
    for (text, rank) in texts.iter().zip([2, 1, 2, 2]) {
        let spec = parse_family_spec(text).expect("a family");
        let shape = &[128, 64][..rank];
        assert!(NeutralFamilies.resolve(&spec, shape, &NeutralFamilies).is_ok(), "{text}");
        assert_eq!(allocations(|| NeutralFamilies.resolve(&spec, shape, &NeutralFamilies)), 0, "{text}");
    }
}
