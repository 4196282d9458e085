//! Warpgroup MMAs on the virtual device: every kind of instruction as this plugin emits it, on matrices in every
//! canonical layout of PTX ISA; and the fault of a write to shared memory that an MMA is reading.

use crate::prelude::*;
use crate::virtual_device::bench::device_of;
use crate::virtual_device::bench::{Given, Shape, run_on};

/// Runs all types and majornesses with 8 columns, and all numbers of columns with one type.
#[test]
fn every_row_multiplies() {
    let (target, mut device) = device_of("h100");
    let rows = target.instructions().iter().filter(|row| row.name.starts_with("wgmma"));
    let chosen = rows.filter(|row| {
        ["m64n8k", "m64n32k"].iter().any(|shape| row.name.contains(shape)) || row.name.ends_with("f32.bf16.bf16.ss.km")
    });
    let mut ran = 0;
    for row in chosen {
        let result = build_instruction_case(row, build_plan_context(&target))
            .and_then(|case| check_on_device(&case, &target, &mut device));
        result.unwrap_or_else(|wrong| panic!("{}: {wrong}", row.name));
        ran += 1;
    }
    assert!(ran > 100, "{ran} rows");
}

const BEGIN: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 io)\n{\n\
    .reg .pred %p; .reg .b32 %r<20>; .reg .b64 %d<4>; .reg .f32 %f<4>; .shared .align 1024 .b8 m[4096];\n\
    mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, 32; mov.u32 %r2, m; add.u32 %r1, %r1, %r2; mov.u32 %r3, 0;\n\
    st.shared.v4.u32 [%r1], {%r3, %r3, %r3, %r3}; st.shared.v4.u32 [%r1+16], {%r3, %r3, %r3, %r3};\n\
    fence.proxy.async.shared::cta; bar.sync 0; mov.f32 %f0, 0f3f800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
    cvt.u64.u32 %d0, %r2; shr.u64 %d0, %d0, 4; or.b64 %d0, %d0, 0x0000000800080000; setp.eq.u32 %p, 0, 0;\n\
    wgmma.fence.sync.aligned;\n\
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d0, %p, 1, 1, 0, 0;\n\
    wgmma.commit_group.sync.aligned;\n";

/// Checks that the operands in shared memory may be overwritten after the wait for the MMA, and not before.
#[test]
fn operands_stay_until_the_wait() {
    let (_, mut device) = device_of("h100");
    let mut end = |text: &str| {
        let ptx = format!("{BEGIN}{text}\nret;\n}}\n");
        run_on(&mut device, &ptx, "k", Shape::warps(4), &[Given::Buffer(vec![0; 16])])
    };
    let (wait, write) = ("wgmma.wait_group.sync.aligned 0;", "bar.sync 0; st.shared.u32 [%r1], %r3;");
    end(&format!("{wait} {write}")).unwrap();
    let early = end(&format!("{write} {wait}")).unwrap_err().to_string();
    assert!(early.contains("being read by an asynchronous operation"), "{early}");
    let left = end("wgmma.wait_group.sync.aligned 1; bar.sync 0; st.shared.u32 [%r1], %r3;").unwrap_err().to_string();
    assert!(left.contains("being read by an asynchronous operation"), "{left}");
}
