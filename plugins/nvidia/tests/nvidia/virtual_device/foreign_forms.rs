//! Forms of PTX that other compilers emit and this plugin does not: updates of vectors, tensor maps that the device
//! makes, bulk reductions, calls of functions, and stores of replicated values.

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device, device_of, kernel, run, run_on, words};

fn floats(bytes: &[u8]) -> Vec<f32> {
    words(bytes).into_iter().map(f32::from_bits).collect()
}

#[test]
fn a_vector_is_updated_element_by_element() {
    let body = "cvt.rn.f32.u32 %r1, %lane; and.b32 %r2, %lane, 1; mul.wide.u32 %d0, %r2, 16; add.u64 %d0, %d0, %io; \
                red.global.gpu.relaxed.add.v4.f32 [%d0], {%r1, 0f3F800000, %r1, 0f40000000};";
    let (left, report) = run(&kernel(body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 32])]).unwrap();
    assert_eq!(floats(&left[0]), [240.0, 16.0, 240.0, 32.0, 256.0, 16.0, 256.0, 32.0]);
    assert_eq!(report.transactions_stored, 1, "the two vectors are in one sector");
    assert_eq!(report.issued["red.global.gpu.relaxed.add.v4.f32"], 1);
    let run =
        |body: &str| run(&kernel(body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 64])]).unwrap_err().to_string();
    assert!(run("red.global.add.v4.f32 [%io+8], {%r1, %r1, %r1, %r1};").contains("not a multiple of 16"));
    assert!(run("red.global.add.v4.f32 [%io], {%r1, %r1};").contains("groups of 4 registers"));
    assert!(run("red.global.add.v4.u32 [%io], {%r1, %r1, %r1, %r1};").contains("combination of modifiers and types"));
}

/// Returns PTX: two warps of two lanes each store `%r4` to one address, and all lanes read it after the barrier.
fn store_twice(between: &str) -> String {
    let body = format!(
        ".shared .align 16 .b8 m[64]; mov.u32 %r1, m; and.b32 %r2, %lane, 31; shr.u32 %r3, %lane, 5; {between} \
         setp.lt.u32 %p0, %r2, 2; @%p0 st.shared.u32 [%r1], %r4; bar.sync 0; ld.shared.u32 %r0, [m]; \
         setp.eq.u32 %p0, %lane, 0; @%p0 st.global.u32 [%io], %r0;"
    );
    kernel(&body)
}

#[test]
fn replicated_values_may_be_stored_where_it_is_allowed() {
    let given = [Given::Buffer(vec![0; 4])];
    let equal = store_twice("mov.u32 %r4, 7;");
    let different = store_twice("add.u32 %r4, %r3, 7;");
    for text in [&equal, &different] {
        let error = run(text, "k", Shape::warps(2), &given).unwrap_err().to_string();
        assert!(error.contains("races with an earlier Store"), "{error}");
    }
    let permit = |text: &str| run_on(&mut device().with_replicated_stores(), text, "k", Shape::warps(2), &given);
    let (left, report) = permit(&equal).unwrap();
    assert_eq!(words(&left[0]), [7]);
    // Counts of one warp, their sums, and instructions of both warps; the last store is issued without lanes in one.
    assert_eq!((report.counts.shared_stores, report.totals.shared_stores, report.totals.shared_loads), (1, 2, 2));
    assert_eq!((report.issued["bar.sync"], report.issued["st.global.u32"]), (2, 2));
    let line_of = |text: &str| equal.lines().position(|line| line.contains(text)).unwrap() as u32 + 1;
    assert_eq!(report.issued_by_line[&line_of("ret;")], 2);
    assert_eq!(report.issued_by_line.values().sum::<u64>(), report.issued.values().sum::<u64>());
    let metrics = report.metrics();
    assert_eq!(["barrier", "shared", "global", "control"].map(|class| metrics[class]), [2, 4, 2, 2]);
    let classes = metrics
        .iter()
        .filter(|(name, _)| !["issued", "sectors", "l2_sectors", "wavefronts", "matrix_work"].contains(name));
    assert_eq!(classes.map(|(_, times)| times).sum::<u64>(), metrics["issued"]);
    assert_eq!(["sectors", "l2_sectors", "wavefronts"].map(|name| metrics[name]), [1, 1, 4]);
    assert!([7, 8].contains(&words(&permit(&different).unwrap().0[0])[0]));
    // A store by another instruction is still a race.
    let other = store_twice("mov.u32 %r4, 7; setp.eq.u32 %p1, %lane, 40; @%p1 st.shared.u32 [m], 7;");
    let error = permit(&other).unwrap_err().to_string();
    assert!(error.contains("races with an earlier Store"), "{error}");
}

/// A tensor map of 4 rows of 8 words, stride 48 bytes, boxes of 2 rows of 4 words, made in shared memory by lane 0.
const FIELDS: &str = "rank.shared::cta.b1024.b32 [m], 1; global_address.shared::cta.b1024.b64 [m], %io; \
    box_dim.shared::cta.b1024.b32 [m], 0, 4; box_dim.shared::cta.b1024.b32 [m], 1, 2; \
    global_dim.shared::cta.b1024.b32 [m], 0, 8; global_dim.shared::cta.b1024.b32 [m], 1, 4; \
    global_stride.shared::cta.b1024.b64 [m], 0, 48; element_stride.shared::cta.b1024.b32 [m], 0, 1; \
    element_stride.shared::cta.b1024.b32 [m], 1, 1; elemtype.shared::cta.b1024.b32 [m], 7; \
    interleave_layout.shared::cta.b1024.b32 [m], 0; swizzle_mode.shared::cta.b1024.b32 [m], 0; \
    fill_mode.shared::cta.b1024.b32 [m], 0;";

/// Returns PTX that makes the map, copies it to byte 256 of the buffer, and copies the box at column 6, row 1 to byte
/// 512 through it.
fn copy_through_map(fields: &str) -> String {
    let replace: String = fields
        .split_inclusive(';')
        .map(|field| format!("@%p0 tensormap.replace.tile.{} ", field.trim_start()))
        .collect();
    let body = format!(
        ".shared .align 128 .b8 m[128]; .shared .align 128 .b8 box[128]; .shared .align 8 .b64 b; \
         setp.eq.u32 %p0, %lane, 0; shl.b32 %r1, %lane, 2; mov.u32 %r2, m; add.u32 %r2, %r2, %r1; \
         st.shared.u32 [%r2], 0; bar.sync 0; {replace} bar.warp.sync -1; \
         tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%io+256], [m], 128; \
         fence.proxy.tensormap::generic.acquire.gpu [%io+256], 128; add.u64 %d1, %io, 256; \
         @%p0 mbarrier.init.shared.b64 [b], 1; bar.sync 0; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [b], 32; \
         mov.u32 %r6, 6; mov.u32 %r7, 1; \
         @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], [%d1, {{%r6, %r7}}], [b]; \
         W: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra W; \
         mov.u32 %r3, box; add.u32 %r3, %r3, %r1; setp.lt.u32 %p2, %lane, 8; @%p2 ld.shared.u32 %r4, [%r3]; \
         cvt.u64.u32 %d0, %r1; add.u64 %d0, %d0, %io; @%p2 st.global.u32 [%d0+512], %r4;"
    );
    kernel(&body)
}

fn run_map(fields: &str) -> Result<Vec<u32>, DeviceError> {
    let tensor: Vec<u8> = (0..160u32).flat_map(u32::to_le_bytes).collect();
    let given = [Given::Buffer(tensor)];
    // Buffers are aligned to 256 bytes, as the map must be to 128.
    run_on(&mut device_of("h100").1, &copy_through_map(fields), "k", Shape::warps(1), &given)
        .map(|(left, _)| words(&left[0])[128..136].to_vec())
}

#[test]
fn the_device_creates_a_tensor_map() {
    // Columns 6 to 9 of rows 1 and 2; rows are 12 words apart, and columns from 8 on are outside.
    assert_eq!(run_map(FIELDS).unwrap(), [18, 19, 0, 0, 30, 31, 0, 0]);
    for (field, other, words) in [
        ("fill_mode.shared::cta.b1024.b32 [m], 0", "fill_mode.shared::cta.b1024.b32 [m], 2", "`fill_mode`"),
        ("[m], 0, 48", "[m], 0, 40", "`global_stride`"),
        ("elemtype.shared::cta.b1024.b32 [m], 7", "elemtype.shared::cta.b1024.b32 [m], 13", "`elemtype`"),
        ("rank.shared::cta.b1024.b32 [m], 1", "rank.shared::cta.b1024.b32 [m], 2", "3 axes for 2 coordinates"),
        ("[m], 1, 2;", "[m], 5, 2;", "at most 5 axes"),
    ] {
        let error = run_map(&FIELDS.replace(field, other)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_bulk_reduction_updates_elements_in_bounds() {
    // The box at column 6, row 1 has columns 6 and 7 in bounds; lane `l` stores `l` plus 100 in the box.
    let text = copy_through_map(&FIELDS.replace("[m], 7;", "[m], 2;")).replace(
        "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], [%d1, {%r6, %r7}], [b];",
        "mov.u32 %r3, box; add.u32 %r3, %r3, %r1; add.u32 %r8, %lane, 100; st.shared.u32 [%r3], %r8; bar.sync 0; \
         @%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%d1, {%r6, %r7}], [box]; \
         @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0; ret;",
    );
    let run = |text: &str| {
        let tensor: Vec<u8> = (0..160u32).flat_map(u32::to_le_bytes).collect();
        run_on(&mut device_of("h100").1, text, "k", Shape::warps(1), &[Given::Buffer(tensor)])
    };
    let left = words(&run(&text).unwrap().0[0]);
    let added: Vec<u32> = left[..48].iter().zip(0..).map(|(&word, index)| word - index).collect();
    let expected = |index: usize| [(18, 100), (19, 101), (30, 104), (31, 105)].iter().find(|&&(at, _)| at == index);
    for (index, added) in added.into_iter().enumerate() {
        assert_eq!(added, expected(index).map_or(0, |&(_, added)| added), "word {index}");
    }
    let error =
        run(&text.replace("cta.add.tile", "cta.inc.tile").replace("[m], 2;", "[m], 7;")).unwrap_err().to_string();
    assert!(error.contains("`inc` of elements of Some(\"f32\")"), "{error}");
}

/// Functions: `twice` returns early for large numbers, `thrice` calls it, and both have registers of the same names.
const FUNCTIONS: &str = ".func (.param .b32 twice_result) twice(.param .b32 twice_a)\n{ .reg .b32 %r<3>; .reg .pred %p<2>; \
    ld.param.b32 %r1, [twice_a]; setp.gt.u32 %p1, %r1, 20; st.param.b32 [twice_result], %r1; @%p1 ret; \
    add.u32 %r1, %r1, %r1; st.param.b32 [twice_result], %r1; ret; }\n\
    .func (.param .b32 thrice_result) thrice(.param .b32 thrice_a)\n{ .reg .b32 %r<4>; ld.param.b32 %r1, [thrice_a]; \
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), twice, (x); ld.param.b32 %r2, [y]; } \
    add.u32 %r2, %r2, %r1; st.param.b32 [thrice_result], %r2; ret; }\n";

fn run_calling(body: &str, functions: &str) -> Result<Vec<u32>, DeviceError> {
    let store = "mul.wide.u32 %d0, %lane, 4; add.u64 %d0, %d0, %io; st.global.u32 [%d0], %r0;";
    let (head, entry) =
        kernel(&format!("{body} {store}")).split_once(".visible").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let text = format!("{head}{functions}.visible{entry}");
    run(&text, "k", Shape::warps(1), &[Given::Buffer(vec![0; 128])]).map(|(left, _)| words(&left[0]))
}

#[test]
fn functions_of_the_module_are_called() {
    let call =
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %lane; call.uni (y), thrice, (x); ld.param.b32 %r0, [y]; }";
    let thrice = |lane: u32| if lane > 20 { 2 * lane } else { 3 * lane };
    assert_eq!(run_calling(call, FUNCTIONS).unwrap(), (0..32).map(thrice).collect::<Vec<_>>());
    // Only the lanes with the predicate call the function.
    let guarded = format!("setp.lt.u32 %p0, %lane, 4; {}", call.replace("call.uni", "st.param.b32 [y], 7; @%p0 call"));
    let expected = |lane: u32| if lane < 4 { 3 * lane } else { 7 };
    assert_eq!(run_calling(&guarded, FUNCTIONS).unwrap(), (0..32).map(expected).collect::<Vec<_>>());
    let error = |body: &str, functions: &str| run_calling(body, functions).unwrap_err().to_string();
    assert!(error(&call.replace("(x)", "(x, x)"), FUNCTIONS).contains("has 3 variables, the function 2"));
    assert!(error(&call.replace("(x)", "(z)"), FUNCTIONS).contains("`z` is not a parameter"));
    assert!(error(call, &FUNCTIONS.replace("(y), twice", "(y), thrice")).contains("calls itself"));
}
