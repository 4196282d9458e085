//! Faults of programs: the virtual device reports each with the line of the PTX.

use crate::virtual_device::bench::{Given, Shape, device_of, fault, kernel, run, run_on};

fn assert_error(body: &str, warps: u32, words: &[&str]) {
    let message = fault(body, warps);
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

const PLACE: &str = ".shared .align 16 .b8 m[256]; shl.b32 %r1, %lane, 2; mov.u32 %r2, m; add.u32 %r3, %r1, %r2;";

#[test]
fn accesses_outside_of_memory() {
    assert_error(
        "ld.global.u32 %r1, [%io+4096];",
        1,
        &["lane 0", "offset 4096 of buffer 1, which has 4096 bytes", "line"],
    );
    assert_error("ld.global.u32 %r1, [%io+-4];", 1, &["offset -4"]);
    assert_error("mov.u64 %d0, 64; ld.global.u32 %r1, [%d0];", 1, &["no buffer is near"]);
    assert_error(&format!("{PLACE} st.shared.u32 [%r3+256], 1;"), 1, &["256 bytes", "shared"]);
    assert_error(".local .b32 l; st.local.u64 [l], %io;", 1, &["local"]);
    assert_error("ld.param.u64 %d0, [io+8];", 1, &["the kernel was launched with 8 bytes"]);
}

#[test]
fn misaligned_accesses() {
    assert_error("ld.global.u32 %r1, [%io+2];", 1, &["not a multiple of 4"]);
    assert_error("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%io+8];", 1, &["not a multiple of 16"]);
    assert_error("atom.global.add.u64 %d0, [%io+4], 1;", 1, &["not a multiple of 8"]);
}

#[test]
fn values_that_nothing_has_written() {
    assert_error("st.global.u32 [%io], %r9;", 1, &["stored to global memory", "undefined"]);
    assert_error(
        "add.u32 %r8, %r9, 1; mul.wide.u32 %d0, %r8, 4; add.u64 %d0, %d0, %io; ld.global.u32 %r1, [%d0];",
        1,
        &["the address", "undefined"],
    );
    assert_error("@%p5 bra OUT; mov.u32 %r0, 1; OUT: ret;", 1, &["the predicate", "undefined"]);
    assert_error(&format!("{PLACE} ld.shared.u32 %r4, [%r3];"), 1, &["is read before it is written"]);
    assert_error("prmt.b32 %r0, 1, %r9, 0x4210; st.global.u32 [%io], %r0;", 1, &["stored to global memory"]);
    // An undefined value is allowed if it does not affect the result.
    let body = "prmt.b32 %r0, 1, %r9, 0x3210; st.global.u32 [%io], %r0;";
    run(&kernel(body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap();
    run(
        &kernel("add.u32 %r1, %r9, 1; setp.eq.u32 %p0, 1, 1; selp.u32 %r0, 5, %r9, %p0; st.global.u32 [%io], %r0;"),
        "k",
        Shape::warps(1),
        &[Given::Buffer(vec![0; 4])],
    )
    .unwrap();
}

/// Checks that each byte of a register is defined on its own when bits are moved or packed elements computed: a packed
/// half, an inserted field, a selected byte, an element of a packed sum, of a conversion or of a bitwise `and`, and the
/// words of `stmatrix`.
#[test]
fn bytes_that_nothing_has_written() {
    let right = |body: &str| {
        let result = run(&kernel(body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]);
        result.unwrap_or_else(|error| panic!("{body}: {error}"));
    };
    let half = ".reg .b16 %h<4>; mov.b16 %h0, 7; mov.b32 %r0, {%h1, %h0};";
    right(&format!("{half} prmt.b32 %r2, %r0, 0, 0x7732; st.global.u32 [%io], %r2;"));
    right(&format!("{half} mov.b32 %r2, %r0; mov.b32 {{%h2, %h3}}, %r2; st.global.b16 [%io], %h3;"));
    right(&format!("{half} bfi.b32 %r2, 5, %r0, 0, 16; st.global.u32 [%io], %r2;"));
    right(&format!("{half} bfi.b32 %r2, %r0, 5, 16, 16; prmt.b32 %r3, %r2, 0, 0x7710; st.global.u32 [%io], %r3;"));
    for packed in ["add.f16x2 %r2, %r0, %r0;", "cvt.rn.f16x2.f32 %r2, 0f3F800000, %r9;", "and.b32 %r2, %r0, 0xff00ff;"]
    {
        right(&format!("{half} {packed} mov.b32 {{%h2, %h3}}, %r2; st.global.b16 [%io], %h3;"));
        let body = format!("{half} {packed} mov.b32 {{%h2, %h3}}, %r2; st.global.b16 [%io], %h2;");
        assert_error(&body, 1, &["stored to global memory", "undefined"]);
    }
    for body in [
        "st.global.u32 [%io], %r0;",
        "prmt.b32 %r2, %r0, 0, 0x7721; st.global.u32 [%io], %r2;",
        "mov.b32 {%h2, %h3}, %r0; st.global.b16 [%io], %h2;",
        "bfi.b32 %r2, 5, %r0, 0, 12; st.global.u32 [%io], %r2;",
        "bfi.b32 %r2, 5, %r9, 0, 8; st.global.b16 [%io], %r2;",
        "add.u32 %r2, %r0, 0; st.global.b16 [%io], %r2;",
    ] {
        assert_error(&format!("{half} {body}"), 1, &["stored to global memory", "undefined"]);
    }
    // The lanes of a matrix store to a row of 16 bytes: lane 1 to bytes 4 to 7 of the first one.
    let matrix = ".shared .align 16 .b8 m[128]; shl.b32 %r1, %lane, 4; and.b32 %r1, %r1, 127; mov.u32 %r2, m; \
        add.u32 %r3, %r1, %r2; setp.ne.u32 %p0, %lane, 1; @%p0 mov.u32 %r4, 3; \
        stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r4}; bar.warp.sync -1;";
    let load = |at: u32| {
        let body = format!("{matrix} ld.shared.u32 %r5, [%r2+{at}]; st.global.u32 [%io], %r5;");
        run_on(&mut device_of("h100").1, &kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])])
    };
    load(8).unwrap();
    let Err(error) = load(4) else { panic!("lane 1 stores a value that nothing has written") };
    assert!(error.to_string().contains("is read before it is written"), "{error}");
}

#[test]
fn races() {
    let other = "xor.b32 %r5, %r1, 4; add.u32 %r5, %r5, %r2;";
    assert_error(
        &format!("{PLACE} {other} st.shared.u32 [%r3], 1; ld.shared.u32 %r4, [%r5];"),
        1,
        &["races", "Store by lane"],
    );
    let far = "xor.b32 %r5, %r1, 128; add.u32 %r5, %r5, %r2;";
    let second = "setp.ge.u32 %p0, %lane, 32; @%p0 ld.shared.u32 %r4, [%r5];";
    assert_error(
        &format!("{PLACE} {far} st.shared.u32 [%r3], 1; bar.warp.sync -1; {second}"),
        2,
        &["races", "of warp 0"],
    );
    // The write of one warp comes after the read of another without a barrier.
    assert_error(
        &format!(
            "{PLACE} st.shared.u32 [%r3], 1; bar.sync 0; xor.b32 %r5, %r1, 128; add.u32 %r5, %r5, %r2; \
             setp.lt.u32 %p0, %lane, 32; @%p0 ld.shared.u32 %r4, [%r5]; @!%p0 st.shared.u32 [%r3], 2;"
        ),
        2,
        &["races", "Load by"],
    );
    // A barrier between both accesses suffices.
    let body = format!("{PLACE} {far} st.shared.u32 [%r3], 1; bar.sync 0; ld.shared.u32 %r4, [%r5];");
    run(&kernel(&body), "k", Shape::warps(2), &[Given::Buffer(vec![0; 4])]).unwrap();
    let body = format!("{PLACE} {other} st.shared.u32 [%r3], 1; bar.warp.sync -1; ld.shared.u32 %r4, [%r5];");
    run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap();
}

#[test]
fn barriers_that_not_all_come_to() {
    let half = "setp.lt.u32 %p0, %lane, 16;";
    assert_error(&format!("{half} @%p0 bar.sync 0;"), 1, &["must execute this together"]);
    assert_error(&format!("{half} @%p0 bra L; bar.warp.sync -1; L: mov.u32 %r0, 1;"), 1, &["0xffffffff", "0xffff0000"]);
    assert_error(&format!("{half} @%p0 shfl.sync.bfly.b32 %r0, %lane, 1, 31, -1;"), 1, &["together"]);
    assert_error(
        "setp.lt.u32 %p0, %lane, 32; @%p0 bra L; bar.sync 1, 64; L: bar.sync 0; bar.sync 2, 64;",
        3,
        &["barrier"],
    );
    assert_error("bar.sync 16;", 1, &["sixteen"]);
    // A barrier does not wait for lanes that have exited.
    let body = format!("{half} @%p0 exit; bar.warp.sync -1; bar.sync 0; st.global.u32 [%io], 1;");
    run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap();
}

#[test]
fn copies_that_were_not_waited_for() {
    let copy = "setp.eq.u32 %p0, %lane, 0; @%p0 cp.async.ca.shared.global [%r2], [%io], 4; cp.async.commit_group;";
    assert_error(&format!("{PLACE} {copy} ld.shared.u32 %r4, [m];"), 1, &["asynchronous copy"]);
    assert_error(&format!("{PLACE} {copy} cp.async.wait_group 1; ld.shared.u32 %r4, [m];"), 1, &["asynchronous copy"]);
    let body = format!("{PLACE} {copy} cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r4, [m];");
    run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap();
}

#[test]
fn traps_and_mbarriers() {
    assert_error("trap;", 1, &["trapped"]);
    assert_error(".shared .align 8 .b64 b; mbarrier.arrive.shared.b64 %d0, [b];", 1, &["not initialized"]);
    let initialized = "setp.eq.u32 %p0, %lane, 0; @%p0 mbarrier.init.shared.b64 [b], 1; bar.sync 0;";
    assert_error(&format!(".shared .align 8 .b64 b; {initialized} ld.shared.u32 %r1, [b];"), 1, &["a plain access"]);
    let invalidated = format!(".shared .align 8 .b64 b; {initialized} @%p0 mbarrier.inval.shared.b64 [b]; bar.sync 0;");
    assert_error(&format!("{invalidated} mbarrier.arrive.shared.b64 %d0, [b];"), 1, &["not initialized"]);
    assert_error(&format!("{invalidated} @%p0 mbarrier.inval.shared.b64 [b];"), 1, &["not initialized"]);
    assert_error(
        &format!(".shared .align 8 .b64 b; {initialized} mbarrier.arrive.shared.b64 %d0, [b], 2;"),
        1,
        &["1 are missing"],
    );
}
