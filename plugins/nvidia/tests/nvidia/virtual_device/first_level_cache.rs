//! Sectors that leave the multiprocessor, beside those that accesses touch: sequences of accesses counted by hand.

use crate::virtual_device::bench::{Given, Shape, kernel, run};

/// Runs a body and returns the sectors that its loads touch and miss, and those that its stores touch and write
/// through.
fn sectors(body: &str, shape: Shape) -> ([u64; 2], [u64; 2]) {
    let (_, report) = run(&kernel(body), "k", shape, &[Given::Buffer(vec![0; 1 << 20])]).unwrap();
    ([report.transactions_loaded, report.l2_sectors_loaded], [report.transactions_stored, report.l2_sectors_stored])
}

/// The sectors of loads of one warp.
fn loads(body: &str) -> [u64; 2] {
    sectors(body, Shape::warps(1)).0
}

#[test]
fn a_sector_is_loaded_once() {
    // Lane 0 alone loads words: two of one sector, then one of the next sector of the line.
    let one = "setp.ne.u32 %p0, %lane, 0; @%p0 ret; ld.global.u32 %r0, [%io]; ld.global.u32 %r1, [%io+28];";
    assert_eq!(loads(one), [2, 1]);
    assert_eq!(loads(&format!("{one} ld.global.u32 %r2, [%io+32]; ld.global.u32 %r3, [%io+4];")), [4, 2]);
    // Two warps load 128 bytes each, the same ones: four sectors, the second time from the cache.
    let same = "and.b32 %r0, %lane, 31; mul.wide.u32 %d0, %r0, 4; add.u64 %d0, %d0, %io; ld.global.u32 %r1, [%d0];";
    assert_eq!(sectors(same, Shape::warps(2)).0, [8, 4]);
    // Each block runs on a multiprocessor whose cache has nothing of the blocks before.
    assert_eq!(sectors(same, Shape { grid: [3, 1, 1], ..Shape::warps(2) }).0, [24, 12]);
}

#[test]
fn accesses_that_pass_the_cache_always_leave() {
    for load in ["volatile.global.u32", "global.cg.u32", "global.cv.u32", "relaxed.gpu.global.u32"] {
        let body = format!("ld.global.u32 %r0, [%io]; ld.{load} %r1, [%io]; ld.global.u32 %r2, [%io];");
        assert_eq!(loads(&body), [3, 2], "{load}");
    }
    // An atomic operation leaves, and its sector is loaded again.
    let add = "ld.global.u32 %r0, [%io]; red.global.add.u32 [%io], 1; ld.global.u32 %r1, [%io];";
    assert_eq!(sectors(add, Shape::warps(1)), ([2, 2], [1, 1]));
    // An acquire at the scope of the device invalidates the whole cache, one at the scope of the block nothing.
    for (between, missed) in [
        ("fence.acq_rel.gpu;", 2),
        ("membar.gl;", 2),
        ("atom.global.gpu.acq_rel.add.u32 %r2, [%io+64], 1;", 2),
        ("fence.acq_rel.cta;", 1),
        ("bar.sync 0;", 1),
    ] {
        let body = format!("ld.global.u32 %r0, [%io]; {between} ld.global.u32 %r1, [%io];");
        assert_eq!(loads(&body), [2, missed], "{between}");
    }
}

#[test]
fn stores_write_through_and_allocate_nothing() {
    // Two stores to one sector write through twice; the load after them misses, and a store keeps what is loaded.
    let body = "st.global.u32 [%io], %lane; st.global.u32 [%io+4], %lane; ld.global.u32 %r0, [%io]; \
                st.global.u32 [%io+8], %lane; ld.global.u32 %r1, [%io+8];";
    assert_eq!(sectors(body, Shape::warps(1)), ([2, 1], [3, 3]));
}

#[test]
fn asynchronous_copies_use_the_cache_unless_they_name_the_second_level() {
    let copies = |path: &str| {
        format!(
            ".shared .align 16 .b8 m[16]; mov.u32 %r0, m; setp.ne.u32 %p0, %lane, 0; @%p0 ret; \
             cp.async.{path}.shared.global [%r0], [%io], 16; cp.async.wait_all; \
             cp.async.{path}.shared.global [%r0], [%io+16], 16; cp.async.wait_all;"
        )
    };
    assert_eq!((loads(&copies("ca")), loads(&copies("cg"))), ([2, 1], [2, 2]));
}

/// Loads one word of each of `lines` lines by one warp, 32 lines at a time, twice in the same order.
fn walk(lines: u32) -> String {
    format!(
        "mov.u32 %r5, 0; first: mov.u32 %r1, %lane; \
         next: mul.wide.u32 %d0, %r1, 128; add.u64 %d0, %d0, %io; ld.global.u32 %r2, [%d0]; add.u32 %r1, %r1, 32; \
         setp.lt.u32 %p0, %r1, {lines}; @%p0 bra next; \
         add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2; @%p1 bra first;"
    )
}

#[test]
fn the_line_that_was_used_least_recently_is_replaced() {
    // The a100's multiprocessor has 192 KiB, 1536 lines of 128 bytes. If one line more than fit are read in order, each
    // is replaced before its second use.
    assert_eq!(loads(&walk(1536)), [3072, 1536]);
    assert_eq!(loads(&walk(1536 + 32)), [3136, 3136]);
    // A block with 64 KiB of shared memory leaves 1024 lines.
    let with_shared = |lines| sectors(&walk(lines), Shape { shared_bytes: 65536, ..Shape::warps(1) }).0;
    assert_eq!((with_shared(1024), with_shared(1536)), ([2048, 1024], [3072, 3072]));
}
