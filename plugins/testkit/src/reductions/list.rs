//! The list of 100 layouts for tests of reductions: 20 blocked, 20 of MMA results, 10 of MMA operands, 20 slices of
//! blocked layouts, 10 slices of layouts of MMA results, 10 slices of layouts of MMA operands, and 10 without a layout
//! family.
//!
//! Table 4 of the Linear Layouts paper counts reductions over this many layouts of each kind, without listing them. The
//! functions below generate a list by enumerating parameters, for warps of any size; the vendor's tests provide the MMA
//! layouts.

use crate::layouts::format_blocked_layout;

/// A layout, and the kind under which Table 4 of the Linear Layouts paper counts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedLayout {
    pub kind: &'static str,
    pub layout: String,
}

/// A vendor's MMA layouts as text: of results and of operands, without and with a leading batch axis.
pub struct MatrixLayouts {
    pub results: Vec<String>,
    pub operands: Vec<String>,
    pub batched_results: Vec<String>,
    pub batched_operands: Vec<String>,
}

/// Returns the list for warps of `2^lane_bits` lanes; `matrix` has the vendor's MMA layouts.
pub fn list(lane_bits: u32, matrix: &MatrixLayouts) -> Vec<ListedLayout> {
    let kinds = [
        ("blocked", 20, of_two_axes(lane_bits)),
        ("mma", 20, matrix.results.clone()),
        ("mma operand", 10, matrix.operands.clone()),
        ("sliced blocked", 20, sliced(&of_three_axes(lane_bits))),
        ("sliced mma", 10, sliced(&matrix.batched_results)),
        ("sliced mma operand", 10, sliced(&matrix.batched_operands)),
        ("custom", 10, (0..10).map(|index| custom(index, lane_bits)).collect()),
    ];
    let rows = kinds.into_iter().flat_map(|(kind, count, layouts)| {
        assert!(layouts.len() >= count, "{} layouts of kind {kind}, {count} are required", layouts.len());
        layouts.into_iter().take(count).map(move |layout| ListedLayout { kind, layout })
    });
    rows.collect()
}

/// Returns blocked layouts of two axes: five sizes of a lane's tile, each with four distributions of lanes and of four
/// warps.
fn of_two_axes(lane_bits: u32) -> Vec<String> {
    let distributions =
        [(0, [4, 1], [1, 0]), (lane_bits - 2, [1, 4], [1, 0]), (2, [2, 2], [0, 1]), (lane_bits, [2, 2], [0, 1])];
    let sizes = [[1, 1], [1, 4], [4, 1], [2, 2], [1, 8]];
    let one = |size: [u64; 2], (rows, warps, order): (u32, [u64; 2], [u64; 2])| {
        format_blocked_layout(&size, &[1 << rows, 1 << (lane_bits - rows)], &warps, &order)
    };
    sizes.into_iter().flat_map(|size| distributions.map(|distribution| one(size, distribution))).collect()
}

/// Returns blocked layouts of three axes, with lanes and warps along all axes or along only two.
fn of_three_axes(lane_bits: u32) -> Vec<String> {
    let lanes = |first: u32, second: u32| [1 << first, 1 << second, 1 << (lane_bits - first - second)];
    let parents: [[[u64; 3]; 4]; 7] = [
        [[1, 1, 4], lanes(1, 2), [1, 2, 2], [2, 1, 0]],
        [[1, 4, 1], lanes(2, 1), [2, 1, 2], [1, 2, 0]],
        [[4, 1, 1], lanes(0, 2), [2, 2, 1], [0, 1, 2]],
        [[2, 2, 1], lanes(3, 0), [4, 1, 1], [2, 0, 1]],
        [[1, 2, 2], lanes(0, lane_bits), [1, 4, 1], [2, 1, 0]],
        [[1, 1, 1], lanes(2, 2), [1, 1, 4], [1, 0, 2]],
        [[2, 1, 4], lanes(1, 1), [1, 2, 2], [0, 2, 1]],
    ];
    parents.iter().map(|[size, lanes, warps, order]| format_blocked_layout(size, lanes, warps, order)).collect()
}

/// Returns the slices of every parent layout along each of its three axes.
fn sliced(parents: &[String]) -> Vec<String> {
    let of = |parent: &String| [0, 1, 2].map(|dim| format!("#ttg.slice<{{dim = {dim}, parent = {parent}}}>"));
    parents.iter().flat_map(of).collect()
}

/// Returns a layout that is given by bases. They are the unit bases of a tile of 32 columns in a pseudo-random order:
/// first for the lanes, then for four warps and for eight registers. If `index` is odd, one lane or warp basis is zero
/// (replication).
fn custom(index: u64, lane_bits: u32) -> String {
    let threads = lane_bits as usize + 2;
    let copy = (index % 2 == 1).then_some((index as usize * 3) % threads);
    let bits = threads + 3 - usize::from(copy.is_some());
    let unit = |bit: usize| if bit < 5 { [0, 1u64 << bit] } else { [1 << (bit - 5), 0] };
    let mut units: Vec<[u64; 2]> = (0..bits).map(unit).collect();
    let mut state = 2 * index + 1;
    for last in (1..units.len()).rev() {
        // The generator of Knuth's MMIX; its high bits are the most random.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        units.swap(last, ((state >> 33) % (last as u64 + 1)) as usize);
    }
    if let Some(at) = copy {
        units.insert(at, [0, 0]);
    }
    let (lanes, rest) = units.split_at(lane_bits as usize);
    let (warps, registers) = rest.split_at(2);
    format!("#ttg.linear<{{register = {registers:?}, lane = {lanes:?}, warp = {warps:?}, block = []}}>")
}
