//! What programs may not do is said, with the line.

use crate::virtual_device::bench::{Given, Shape, fault, kernel, run};

fn says(body: &str, warps: u32, words: &[&str]) {
    let message = fault(body, warps);
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

const PLACE: &str = ".shared .align 16 .b8 m[256]; shl.b32 %r1, %lane, 2; mov.u32 %r2, m; add.u32 %r3, %r1, %r2;";

#[test]
fn accesses_outside_of_memory() {
    says("ld.global.u32 %r1, [%io+4096];", 1, &["lane 0", "offset 4096 of buffer 1, which has 4096 bytes", "line"]);
    says("ld.global.u32 %r1, [%io+-4];", 1, &["offset -4"]);
    says("mov.u64 %d0, 64; ld.global.u32 %r1, [%d0];", 1, &["no buffer is near"]);
    says(&format!("{PLACE} st.shared.u32 [%r3+256], 1;"), 1, &["256 bytes", "shared"]);
    says(".local .b32 l; st.local.u64 [l], %io;", 1, &["local"]);
    says("ld.param.u64 %d0, [io+8];", 1, &["the kernel was given 8 bytes"]);
}

#[test]
fn misaligned_accesses() {
    says("ld.global.u32 %r1, [%io+2];", 1, &["no multiple of 4"]);
    says("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%io+8];", 1, &["no multiple of 16"]);
    says("atom.global.add.u64 %d0, [%io+4], 1;", 1, &["no multiple of 8"]);
}

#[test]
fn values_that_nothing_has_written() {
    says("st.global.u32 [%io], %r9;", 1, &["stored to global memory", "undefined"]);
    says(
        "add.u32 %r8, %r9, 1; mul.wide.u32 %d0, %r8, 4; add.u64 %d0, %d0, %io; ld.global.u32 %r1, [%d0];",
        1,
        &["the address", "undefined"],
    );
    says("@%p5 bra OUT; mov.u32 %r0, 1; OUT: ret;", 1, &["the predicate", "undefined"]);
    says(&format!("{PLACE} ld.shared.u32 %r4, [%r3];"), 1, &["before anything is written"]);
    says("prmt.b32 %r0, 1, %r9, 0x4210; st.global.u32 [%io], %r0;", 1, &["stored to global memory"]);
    // What is undefined and does not matter is allowed.
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

#[test]
fn races() {
    let other = "xor.b32 %r5, %r1, 4; add.u32 %r5, %r5, %r2;";
    says(&format!("{PLACE} {other} st.shared.u32 [%r3], 1; ld.shared.u32 %r4, [%r5];"), 1, &["races", "Store by lane"]);
    let far = "xor.b32 %r5, %r1, 128; add.u32 %r5, %r5, %r2;";
    let second = "setp.ge.u32 %p0, %lane, 32; @%p0 ld.shared.u32 %r4, [%r5];";
    says(&format!("{PLACE} {far} st.shared.u32 [%r3], 1; bar.warp.sync -1; {second}"), 2, &["races", "of warp 0"]);
    // The write comes after a read of another warp.
    says(
        &format!(
            "{PLACE} st.shared.u32 [%r3], 1; bar.sync 0; xor.b32 %r5, %r1, 128; add.u32 %r5, %r5, %r2; \
             setp.lt.u32 %p0, %lane, 32; @%p0 ld.shared.u32 %r4, [%r5]; @!%p0 st.shared.u32 [%r3], 2;"
        ),
        2,
        &["races", "Load by"],
    );
    // A barrier between them is enough.
    let body = format!("{PLACE} {far} st.shared.u32 [%r3], 1; bar.sync 0; ld.shared.u32 %r4, [%r5];");
    run(&kernel(&body), "k", Shape::warps(2), &[Given::Buffer(vec![0; 4])]).unwrap();
    let body = format!("{PLACE} {other} st.shared.u32 [%r3], 1; bar.warp.sync -1; ld.shared.u32 %r4, [%r5];");
    run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap();
}

#[test]
fn barriers_that_not_all_come_to() {
    let half = "setp.lt.u32 %p0, %lane, 16;";
    says(&format!("{half} @%p0 bar.sync 0;"), 1, &["must execute this together"]);
    says(&format!("{half} @%p0 bra L; bar.warp.sync -1; L: mov.u32 %r0, 1;"), 1, &["0xffffffff", "0xffff0000"]);
    says(&format!("{half} @%p0 shfl.sync.bfly.b32 %r0, %lane, 1, 31, -1;"), 1, &["together"]);
    says("setp.lt.u32 %p0, %lane, 32; @%p0 bra L; bar.sync 1, 64; L: bar.sync 0; bar.sync 2, 64;", 3, &["barrier"]);
    says("bar.sync 16;", 1, &["sixteen"]);
    // Lanes that have ended are not waited for.
    let body = format!("{half} @%p0 exit; bar.warp.sync -1; bar.sync 0; st.global.u32 [%io], 1;");
    run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap();
}

#[test]
fn copies_that_were_not_waited_for() {
    let copy = "setp.eq.u32 %p0, %lane, 0; @%p0 cp.async.ca.shared.global [%r2], [%io], 4; cp.async.commit_group;";
    says(&format!("{PLACE} {copy} ld.shared.u32 %r4, [m];"), 1, &["asynchronous copy"]);
    says(&format!("{PLACE} {copy} cp.async.wait_group 1; ld.shared.u32 %r4, [m];"), 1, &["asynchronous copy"]);
    let body = format!("{PLACE} {copy} cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r4, [m];");
    run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap();
}

#[test]
fn traps_and_mbarriers() {
    says("trap;", 1, &["trapped"]);
    says(".shared .align 8 .b64 b; mbarrier.arrive.shared.b64 %d0, [b];", 1, &["none was made"]);
    let made = "setp.eq.u32 %p0, %lane, 0; @%p0 mbarrier.init.shared.b64 [b], 1; bar.sync 0;";
    says(&format!(".shared .align 8 .b64 b; {made} ld.shared.u32 %r1, [b];"), 1, &["a plain access"]);
    says(&format!(".shared .align 8 .b64 b; {made} mbarrier.arrive.shared.b64 %d0, [b], 2;"), 1, &["1 are missing"]);
}
