//! Results of single instructions, compared with PTX ISA and with values computed by hand.

use crate::virtual_device::bench::lanes;

/// Returns the result that a body leaves in `%r0`, which is the same in all lanes.
fn value(body: &str) -> u32 {
    let all = lanes(body);
    assert!(all.iter().all(|&word| word == all[0]), "{body}: {all:x?}");
    all[0]
}

/// Returns the low and the high word of the 64-bit result that a body leaves in `%d0`.
fn long(body: &str) -> u64 {
    let low = value(&format!("{body} cvt.u32.u64 %r0, %d0;"));
    let high = value(&format!("{body} shr.u64 %d0, %d0, 32; cvt.u32.u64 %r0, %d0;"));
    u64::from(high) << 32 | u64::from(low)
}

fn check(cases: &[(&str, u32)]) {
    for &(body, expected) in cases {
        let got = value(body);
        assert_eq!(got, expected, "{body} gives {got:#x}, expected {expected:#x}");
    }
}

#[test]
fn integers() {
    check(&[
        ("add.s32 %r0, 7, -9;", -2i32 as u32),
        ("add.sat.s32 %r0, 2147483647, 5;", 0x7fff_ffff),
        ("sub.sat.s32 %r0, -2147483648, 5;", 0x8000_0000),
        ("mul.lo.s32 %r0, -3, 5;", -15i32 as u32),
        ("mul.hi.s32 %r0, -1, 2;", u32::MAX),
        ("mul.hi.u32 %r0, 0xffffffff, 0xffffffff;", 0xffff_fffe),
        ("mul24.lo.s32 %r0, 0xffffff, 2;", -2i32 as u32),
        ("mul24.hi.u32 %r0, 0xffffff, 0xffffff;", 0xffff_fe00),
        ("mad.lo.s32 %r0, 3, 4, -20;", -8i32 as u32),
        ("div.s32 %r0, -7, 2;", -3i32 as u32),
        ("div.u32 %r0, -7, 2;", 0x7fff_fffc),
        ("rem.s32 %r0, -7, 2;", -1i32 as u32),
        ("abs.s32 %r0, -7;", 7),
        ("neg.s32 %r0, 7;", -7i32 as u32),
        ("min.s32 %r0, -1, 1;", u32::MAX),
        ("min.u32 %r0, -1, 1;", 1),
        ("max.s32 %r0, -1, 1;", 1),
        ("sad.u32 %r0, 3, 10, 100;", 107),
        ("dp4a.s32.s32 %r0, 0x01ff0203, 0x02020202, 10;", 20),
        ("add.cc.u32 %r1, 0xffffffff, 1; addc.u32 %r0, 5, 6;", 12),
        ("sub.cc.u32 %r1, 0, 1; subc.u32 %r0, 5, 1;", 3),
        ("mad.lo.cc.u32 %r1, 0x80000000, 2, 0; madc.hi.u32 %r0, 0x80000000, 2, 7;", 8),
        ("mad.lo.cc.u32 %r1, 0xffffffff, 1, 2; madc.hi.u32 %r0, 3, 4, 5;", 6),
    ]);
    assert_eq!(long("mul.wide.s32 %d0, -3, 5;"), -15i64 as u64);
    assert_eq!(long("mad.wide.u32 %d0, 0xffffffff, 2, 3;"), 0x2_0000_0001);
    assert_eq!(long("mul.hi.u64 %d0, 0xffffffffffffffff, 0xffffffffffffffff;"), u64::MAX - 1);
    assert_eq!(long("mul.hi.s64 %d0, -1, 2;"), u64::MAX);
}

#[test]
fn bits() {
    check(&[
        ("and.b32 %r0, 0xff00, 0x0ff0;", 0x0f00),
        ("not.b32 %r0, 0;", u32::MAX),
        ("cnot.b32 %r0, 0;", 1),
        ("shl.b32 %r0, 1, 31;", 0x8000_0000),
        ("shl.b32 %r0, 1, 32;", 0),
        ("shr.s32 %r0, -8, 1;", -4i32 as u32),
        ("shr.s32 %r0, -8, 99;", u32::MAX),
        ("shr.u32 %r0, -8, 1;", 0x7fff_fffc),
        ("shr.u32 %r0, -8, 32;", 0),
        ("shf.l.wrap.b32 %r0, 0x80000001, 0x1, 33;", 3),
        ("shf.l.clamp.b32 %r0, 0x80000001, 0x1, 33;", 0x8000_0001),
        ("shf.r.wrap.b32 %r0, 0x80000001, 0x1, 1;", 0xc000_0000),
        ("lop3.b32 %r0, 0xf0f0, 0xcccc, 0xaaaa, 0x96;", 0xf0f0 ^ 0xcccc ^ 0xaaaa),
        ("lop3.b32 %r0, 0xf0f0, 0xcccc, 0xaaaa, 0xea;", 0xf0f0 & 0xcccc | 0xaaaa),
        ("prmt.b32 %r0, 0x33221100, 0x77665544, 0x7531;", 0x7755_3311),
        ("prmt.b32 %r0, 0x00008000, 0, 0x0009;", 0x0000_00ff),
        ("prmt.b32.f4e %r0, 0x33221100, 0x77665544, 1;", 0x4433_2211),
        ("prmt.b32.b4e %r0, 0x33221100, 0x77665544, 1;", 0x6677_0011),
        ("prmt.b32.rc8 %r0, 0x33221100, 0x77665544, 2;", 0x2222_2222),
        ("bfe.u32 %r0, 0xabcd1234, 4, 8;", 0x23),
        ("bfe.s32 %r0, 0x00000f80, 4, 8;", 0xffff_fff8),
        ("bfe.s32 %r0, 0x80000000, 28, 8;", 0xffff_fff8),
        ("bfe.u32 %r0, 0xffffffff, 4, 0;", 0),
        ("bfi.b32 %r0, 0xff, 0x0, 8, 4;", 0xf00),
        ("bmsk.clamp.b32 %r0, 4, 8;", 0xff0),
        ("szext.clamp.s32 %r0, 0x8, 4;", 0xffff_fff8),
        ("popc.b32 %r0, 0xf0f0;", 8),
        ("clz.b32 %r0, 0xffff;", 16),
        ("bfind.u32 %r0, 0x100;", 8),
        ("bfind.s32 %r0, -1;", u32::MAX),
        ("bfind.shiftamt.u32 %r0, 0x100;", 23),
        ("brev.b32 %r0, 1;", 0x8000_0000),
        ("mov.b64 %d0, {1, 2}; mov.b64 {%r1, %r0}, %d0;", 2),
        ("mov.b32 {%h0, %h1}, 0x12345678; mov.b32 %r0, {%h1, %h0};", 0x5678_1234),
    ]);
    assert_eq!(long("shl.b64 %d0, 1, 40;"), 1 << 40);
    assert_eq!(long("bfi.b64 %d0, 0xf, 0, 40, 4;"), 0xf << 40);
    assert_eq!(long("mov.b64 %d1, 0x123456789; brev.b64 %d0, %d1;"), 0x1_2345_6789u64.reverse_bits());
}

#[test]
fn floating_point() {
    let f = |value: f32| value.to_bits();
    check(&[
        ("add.f32 %r0, 0f3F800000, 0f40000000;", f(3.0)),
        ("sub.rz.f32 %r0, 0f3F800000, 0f00000001;", f(1.0).wrapping_sub(1)),
        ("add.rp.f32 %r0, 0f3F800000, 0f00000001;", f(1.0) + 1),
        ("add.f32 %r0, 0f7F800000, 0fFF800000;", 0x7fff_ffff),
        ("add.ftz.f32 %r0, 0f00000001, 0f00000001;", 0),
        ("add.sat.f32 %r0, 0f3F800000, 0f40000000;", f(1.0)),
        ("mul.f32 %r0, 0f40400000, 0f40400000;", f(9.0)),
        ("fma.rn.f32 %r0, 0f3F800001, 0f3F800001, 0fBF800002;", f(f32::EPSILON * f32::EPSILON)),
        ("div.rn.f32 %r0, 0f3F800000, 0f40400000;", f(1.0 / 3.0)),
        ("div.full.f32 %r0, 0f3F800000, 0f00000000;", f(f32::INFINITY)),
        ("rcp.rn.f32 %r0, 0f40400000;", f(1.0 / 3.0)),
        ("sqrt.rn.f32 %r0, 0f40000000;", f(2f32.sqrt())),
        ("rsqrt.approx.f32 %r0, 0f40800000;", f(0.5)),
        ("ex2.approx.f32 %r0, 0f40400000;", f(8.0)),
        ("lg2.approx.f32 %r0, 0f41000000;", f(3.0)),
        ("sin.approx.f32 %r0, 0f00000000;", 0),
        ("cos.approx.f32 %r0, 0f00000000;", f(1.0)),
        ("tanh.approx.f32 %r0, 0f42000000;", f(1.0)),
        ("abs.f32 %r0, 0fBF800000;", f(1.0)),
        ("neg.f32 %r0, 0f3F800000;", f(-1.0)),
        ("min.f32 %r0, 0f7FC00000, 0f3F800000;", f(1.0)),
        ("min.NaN.f32 %r0, 0f7FC00000, 0f3F800000;", 0x7fff_ffff),
        ("min.f32 %r0, 0f80000000, 0f00000000;", 0x8000_0000),
        ("max.f32 %r0, 0f80000000, 0f00000000;", 0),
        ("max.f32 %r0, 0fBF800000, 0f40000000;", f(2.0)),
        ("copysign.f32 %r0, 0fBF800000, 0f40000000;", f(-2.0)),
        ("testp.infinite.f32 %p0, 0f7F800000; selp.u32 %r0, 1, 0, %p0;", 1),
        ("testp.subnormal.f32 %p0, 0f00000001; selp.u32 %r0, 1, 0, %p0;", 1),
        ("testp.normal.f32 %p0, 0f00000001; selp.u32 %r0, 1, 0, %p0;", 0),
        ("mov.b32 %r1, 0x40003c00; mov.b32 %r2, 0x3c003c00; add.f16x2 %r0, %r1, %r2;", 0x4200_4000),
        ("mov.b32 %r1, 0x40003c00; fma.rn.f16x2 %r0, %r1, %r1, %r1;", 0x4600_4000),
        ("mov.b32 %r1, 0x3f803f80; mov.b32 %r2, 0; fma.rn.bf16x2 %r0, %r1, %r1, %r2;", 0x3f80_3f80),
        ("mov.b32 %r1, 0x3c00bc00; neg.f16x2 %r0, %r1;", 0xbc00_3c00),
    ]);
    assert_eq!(long("add.f64 %d0, 0d3FF0000000000000, 0d4000000000000000;"), 3f64.to_bits());
    assert_eq!(long("div.rn.f64 %d0, 0d3FF0000000000000, 0d4008000000000000;"), (1f64 / 3.0).to_bits());
    assert_eq!(long("fma.rn.f64 %d0, 0d4008000000000000, 0d4008000000000000, 0d3FF0000000000000;"), 10f64.to_bits());
}

#[test]
fn conversions() {
    let f = |value: f32| value.to_bits();
    check(&[
        ("cvt.rn.f32.s32 %r0, -3;", f(-3.0)),
        ("cvt.rn.f32.u32 %r0, 0xffffffff;", f(4_294_967_296.0)),
        ("cvt.rz.f32.u32 %r0, 0xffffffff;", 0x4f7f_ffff),
        ("cvt.rzi.s32.f32 %r0, 0fC0200000;", -2i32 as u32),
        ("cvt.rni.s32.f32 %r0, 0f40200000;", 2),
        ("cvt.rmi.s32.f32 %r0, 0fC0200000;", -3i32 as u32),
        ("cvt.rpi.s32.f32 %r0, 0fC0200000;", -2i32 as u32),
        ("cvt.rzi.s32.f32 %r0, 0f7F800000;", 0x7fff_ffff),
        ("cvt.rzi.u32.f32 %r0, 0fBF800000;", 0),
        ("cvt.rzi.s32.f32 %r0, 0f7FC00000;", 0),
        ("cvt.rni.f32.f32 %r0, 0f40200000;", f(2.0)),
        ("cvt.rmi.f32.f32 %r0, 0fC0200000;", f(-3.0)),
        ("cvt.sat.f32.f32 %r0, 0f40200000;", f(1.0)),
        ("cvt.s32.s8 %r0, 0x1ff;", u32::MAX),
        ("cvt.u32.u8 %r0, 0x1ff;", 0xff),
        ("cvt.sat.s8.s32 %r0, 300;", 127),
        ("cvt.rn.f16.f32 %h0, 0f3F800000; cvt.u32.u16 %r0, %h0;", 0x3c00),
        ("cvt.rz.f16.f32 %h0, 0f477FF000; cvt.u32.u16 %r0, %h0;", 0x7bff),
        ("mov.b16 %h0, 0x3c01; cvt.f32.f16 %r0, %h0;", f(1.0 + 1.0 / 1024.0)),
        ("mov.b16 %h0, 0x3f80; cvt.f32.bf16 %r0, %h0;", f(1.0)),
        ("cvt.rn.bf16.f32 %h0, 0f3F808000; cvt.u32.u16 %r0, %h0;", 0x3f80),
        ("cvt.rn.f16x2.f32 %r0, 0f3F800000, 0f40000000;", 0x3c00_4000),
        ("cvt.rn.bf16x2.f32 %r0, 0f3F800000, 0f40000000;", 0x3f80_4000),
        ("cvt.rn.relu.f16x2.f32 %r0, 0fBF800000, 0f40000000;", 0x0000_4000),
        ("cvt.rna.tf32.f32 %r0, 0f3F801000;", 0x3f80_2000),
        ("cvt.rn.satfinite.e4m3x2.f32 %h0, 0f44000000, 0f3F800000; cvt.u32.u16 %r0, %h0;", 0x7e38),
        ("cvt.rn.satfinite.e5m2x2.f32 %h0, 0f3F800000, 0fBF800000; cvt.u32.u16 %r0, %h0;", 0x3cbc),
        ("mov.b16 %h0, 0x7e38; cvt.rn.f16x2.e4m3x2 %r0, %h0;", 0x5f00_3c00),
        ("cvt.pack.sat.u8.s32.b32 %r0, 300, -5, 0xab;", 0x00ab_ff00),
    ]);
    assert_eq!(long("cvt.s64.s32 %d0, -3;"), -3i64 as u64);
    assert_eq!(long("cvt.f64.f32 %d0, 0f3FC00000;"), 1.5f64.to_bits());
    assert_eq!(long("cvt.rzi.s64.f64 %d0, 0dC3E0000000000001;"), i64::MIN as u64);
}

#[test]
fn comparisons() {
    check(&[
        ("setp.lt.s32 %p0, -1, 1; selp.u32 %r0, 1, 0, %p0;", 1),
        ("setp.lt.u32 %p0, -1, 1; selp.u32 %r0, 1, 0, %p0;", 0),
        ("setp.lo.u32 %p0, 1, 2; selp.u32 %r0, 1, 0, %p0;", 1),
        ("setp.eq.f32 %p0, 0f7FC00000, 0f7FC00000; selp.u32 %r0, 1, 0, %p0;", 0),
        ("setp.equ.f32 %p0, 0f7FC00000, 0f00000000; selp.u32 %r0, 1, 0, %p0;", 1),
        ("setp.nan.f32 %p0, 0f7FC00000, 0f00000000; selp.u32 %r0, 1, 0, %p0;", 1),
        ("setp.num.f32 %p0, 0f7FC00000, 0f00000000; selp.u32 %r0, 1, 0, %p0;", 0),
        ("setp.eq.f32 %p0, 0f80000000, 0f00000000; selp.u32 %r0, 1, 0, %p0;", 1),
        ("setp.ne.s32 %p1, 0, 0; setp.lt.and.s32 %p0, 1, 2, %p1; selp.u32 %r0, 1, 0, %p0;", 0),
        ("setp.ne.s32 %p1, 0, 0; setp.lt.and.s32 %p0, 1, 2, !%p1; selp.u32 %r0, 1, 0, %p0;", 1),
        ("setp.lt.s32 %p0|%p1, 1, 2; selp.u32 %r0, 1, 0, %p1;", 0),
        ("set.lt.u32.s32 %r0, 1, 2;", u32::MAX),
        ("set.lt.f32.s32 %r0, 1, 2;", 1f32.to_bits()),
        ("mov.b32 %r1, 0x7e003c00; set.nan.f16x2.f16x2 %r0, %r1, %r1;", 0x3c00_0000),
        ("slct.u32.s32 %r0, 5, 6, -1;", 6),
        ("setp.eq.s32 %p0, 1, 1; setp.eq.s32 %p1, 1, 2; xor.pred %p2, %p0, %p1; selp.u32 %r0, 1, 0, %p2;", 1),
        ("setp.eq.s32 %p0, 1, 1; not.pred %p0, %p0; selp.u32 %r0, 1, 0, %p0;", 0),
    ]);
}

#[test]
fn shuffles_follow_the_pseudocode() {
    let by = |f: fn(u32) -> u32| (0..32).map(f).collect::<Vec<u32>>();
    for (instruction, expected) in [
        ("shfl.sync.bfly.b32 %r0, %lane, 5, 31, -1;", by(|lane| lane ^ 5)),
        ("shfl.sync.idx.b32 %r0, %lane, 9, 31, -1;", by(|_| 9)),
        ("shfl.sync.up.b32 %r0, %lane, 3, 0, -1;", by(|lane| if lane >= 3 { lane - 3 } else { lane })),
        ("shfl.sync.down.b32 %r0, %lane, 3, 31, -1;", by(|lane| if lane + 3 < 32 { lane + 3 } else { lane })),
        // For segments of eight lanes, the operand has the mask 0x18 in bits 8 to 12.
        ("shfl.sync.idx.b32 %r0, %lane, 2, 0x181f, -1;", by(|lane| lane & 24 | 2)),
        ("shfl.sync.down.b32 %r0, %lane, 5, 0x181f, -1;", by(|lane| if lane % 8 < 3 { lane + 5 } else { lane })),
        ("shfl.sync.up.b32 %r1|%p0, %lane, 1, 0, -1; selp.u32 %r0, 1, 0, %p0;", by(|lane| u32::from(lane > 0))),
    ] {
        assert_eq!(lanes(instruction), expected, "{instruction}");
    }
}

#[test]
fn lanes_find_out_together() {
    let odd = "and.b32 %r1, %lane, 1; setp.ne.u32 %p0, %r1, 0;";
    let with = |text: &str| format!("{odd} {text}");
    for (body, expected) in [
        (with("vote.sync.ballot.b32 %r0, %p0, -1;"), 0xaaaa_aaaa),
        (with("vote.sync.ballot.b32 %r0, !%p0, -1;"), 0x5555_5555),
        (with("vote.sync.any.pred %p1, %p0, -1; selp.u32 %r0, 1, 0, %p1;"), 1),
        (with("vote.sync.all.pred %p1, %p0, -1; selp.u32 %r0, 1, 0, %p1;"), 0),
        (with("vote.sync.uni.pred %p1, %p0, -1; selp.u32 %r0, 1, 0, %p1;"), 0),
        ("redux.sync.add.u32 %r0, %lane, -1;".to_owned(), 496),
        ("sub.s32 %r1, %lane, 16; redux.sync.min.s32 %r0, %r1, -1;".to_owned(), -16i32 as u32),
        ("redux.sync.max.u32 %r0, %lane, -1;".to_owned(), 31),
        ("redux.sync.or.b32 %r0, %lane, -1;".to_owned(), 31),
        ("redux.sync.xor.b32 %r0, %lane, -1;".to_owned(), 0),
        ("activemask.b32 %r0;".to_owned(), u32::MAX),
    ] {
        assert_eq!(value(&body), expected, "{body}");
    }
    let matched = lanes(&with("match.any.sync.b32 %r0, %r1, -1;"));
    assert_eq!(&matched[..2], [0x5555_5555, 0xaaaa_aaaa]);
    let elected = lanes("elect.sync %r1|%p0, -1; selp.u32 %r0, 1, 0, %p0;");
    assert_eq!(elected.iter().sum::<u32>(), 1, "one lane");
}

#[test]
fn lanes_diverge_and_reconverge() {
    // Odd lanes diverge; after reconvergence all vote together.
    let body = "and.b32 %r1, %lane, 1; setp.ne.u32 %p0, %r1, 0; mov.u32 %r0, 5; @%p0 bra ODD; add.u32 %r0, %r0, 1; bra BOTH;\n\
                ODD: add.u32 %r0, %r0, 10;\n BOTH: redux.sync.add.u32 %r0, %r0, -1;";
    assert_eq!(value(body), 16 * 6 + 16 * 15);
    // Each lane iterates as often as its index.
    let body = "mov.u32 %r0, 0; mov.u32 %r1, %lane;\n LOOP: setp.eq.u32 %p0, %r1, 0; @%p0 bra OUT; add.u32 %r0, %r0, 2;\n\
                sub.u32 %r1, %r1, 1; bra LOOP;\n OUT: redux.sync.add.u32 %r2, %r0, -1; add.u32 %r0, %r0, %r2;";
    assert_eq!(lanes(body), (0..32).map(|lane| 2 * lane + 992).collect::<Vec<u32>>());
    // A branch table.
    let body = "and.b32 %r1, %lane, 3;\n TABLE: .branchtargets A, B, A, C;\n brx.idx %r1, TABLE;\n\
                A: mov.u32 %r0, 1; bra OUT;\n B: mov.u32 %r0, 2; bra OUT;\n C: mov.u32 %r0, 3;\n OUT: bar.warp.sync -1;";
    assert_eq!(lanes(body), (0..32).map(|lane| [1, 2, 1, 3][lane % 4]).collect::<Vec<u32>>());
    // Names in a scope are local to it.
    let body = "mov.u32 %r0, 1; { .reg .b32 own; mov.u32 own, 5; L: add.u32 %r0, %r0, own; }\n\
                { .reg .b32 own; mov.u32 own, 7; bra L; L: add.u32 %r0, %r0, own; }";
    assert_eq!(value(body), 13);
}

#[test]
fn memories() {
    check(&[
        (".local .align 8 .b8 own[16]; mov.u64 %d0, own; st.local.u32 [own+4], 77; ld.local.u32 %r0, [%d0+4];", 77),
        (
            ".local .b32 own; cvta.local.u64 %d0, own; mov.u64 %d1, own; cvta.local.u64 %d1, %d1; st.u32 [%d1], 9; \
          ld.local.u32 %r0, [own];",
            9,
        ),
        (
            ".shared .align 4 .b8 all[128]; shl.b32 %r1, %lane, 2; mov.u32 %r2, all; add.u32 %r1, %r1, %r2; \
          st.shared.u32 [%r1], %lane; bar.sync 0; ld.shared.u32 %r0, [all+20];",
            5,
        ),
        (
            ".shared .align 4 .u32 sum; setp.eq.u32 %p0, %lane, 0; @%p0 st.shared.u32 [sum], 0; bar.sync 0; \
          red.shared.add.u32 [sum], %lane; bar.sync 0; ld.shared.u32 %r0, [sum];",
            496,
        ),
        (
            ".shared .align 4 .u32 w; setp.eq.u32 %p0, %lane, 0; @%p0 st.shared.u32 [w], 3; bar.sync 0; \
          @%p0 atom.shared.cas.b32 %r1, [w], 3, 8; bar.sync 0; ld.shared.u32 %r0, [w];",
            8,
        ),
        ("atom.global.max.s32 %r1, [%io], %lane; bar.sync 0; ld.global.u32 %r0, [%io]; bar.sync 0;", 31),
        (
            "atom.global.add.f32 %r1, [%io], 0f3F800000; bar.sync 0; ld.global.u32 %r0, [%io]; bar.sync 0;",
            32f32.to_bits(),
        ),
        ("atom.global.inc.u32 %r1, [%io], 9; bar.sync 0; ld.global.u32 %r0, [%io]; bar.sync 0;", 2),
        (
            "setp.eq.u32 %p0, %lane, 0; @%p0 st.global.v2.u8 [%io], {1, 255}; bar.sync 0; ld.global.s8 %r0, [%io+1]; \
          bar.sync 0;",
            u32::MAX,
        ),
        (
            ".shared .align 16 .b8 to[16]; mov.u32 %r1, to; setp.eq.u32 %p0, %lane, 0; @%p0 st.global.u64 [%io], 258; \
          @%p0 cp.async.ca.shared.global [%r1], [%io], 16, 4; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; \
          ld.shared.u32 %r0, [to]; ld.shared.u32 %r2, [to+4]; add.u32 %r0, %r0, %r2;",
            258,
        ),
    ]);
    // Two warps synchronize by an mbarrier.
    let body = ".shared .align 8 .b64 b; .shared .u32 w; .reg .pred %one; setp.eq.u32 %one, %lane, 0; \
                @%one mbarrier.init.shared.b64 [b], 1; bar.sync 0; \
                @%one st.shared.u32 [w], 41; @%one mbarrier.arrive.shared.b64 _, [b]; \
                W: mbarrier.try_wait.parity.shared.b64 %p0, [b], 0; @!%p0 bra W; ld.shared.u32 %r0, [w];";
    assert_eq!(value(body), 41);
}

/// Returns two 16-bit numbers packed in a word, `low` in the low bits.
fn pack_u16x2(low: u32, high: u32) -> u32 {
    low + (high << 16)
}

#[test]
fn matrices_move_by_rows_that_lanes_address() {
    // Element (r, c) of the matrix is 16 r + c; lane t holds columns 2(t%4) and the next of row t/4.
    let fill = ".shared .align 16 .b8 m[128]; shl.b32 %r1, %lane, 2; shr.u32 %r2, %lane, 2; and.b32 %r3, %lane, 3; \
                shl.b32 %r2, %r2, 4; shl.b32 %r3, %r3, 1; add.u32 %r2, %r2, %r3; add.u32 %r3, %r2, 1; shl.b32 %r3, %r3, 16; \
                or.b32 %r2, %r2, %r3; mov.u32 %r4, m; add.u32 %r1, %r1, %r4; st.shared.u32 [%r1], %r2; bar.sync 0; \
                and.b32 %r5, %lane, 7; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r4;";
    let plain = lanes(&format!("{fill} ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r0}}, [%r5];"));
    let turned = lanes(&format!("{fill} ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{%r0}}, [%r5];"));
    for lane in 0..32u32 {
        let (row, column) = (lane / 4, lane % 4 * 2);
        assert_eq!(plain[lane as usize], pack_u16x2(16 * row + column, 16 * row + column + 1));
        assert_eq!(turned[lane as usize], pack_u16x2(16 * column + row, 16 * (column + 1) + row));
    }
}

#[test]
fn matrices_are_multiplied() {
    // A is all ones, B all twos: sixteen products of two, and the addend.
    let body = "mov.b32 %r1, 0x3c003c00; mov.b32 %r2, 0x40004000; mov.b32 %r3, 0f40A00000; \
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r4,%r5,%r6}, {%r1,%r1,%r1,%r1}, {%r2,%r2}, \
                {%r3,%r3,%r3,%r3};";
    assert_eq!(value(body), 37f32.to_bits());
    // A has bytes of -1 and B bytes of 100 along K of 32, whose sum does not saturate.
    let body = "mov.b32 %r1, 0xffffffff; mov.b32 %r2, 0x64646464; mov.b32 %r3, 7; \
                mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%r0,%r4,%r5,%r6}, {%r1,%r1,%r1,%r1}, {%r2,%r2}, \
                {%r3,%r3,%r3,%r3};";
    assert_eq!(value(body), -3193i32 as u32);
    // Row 0 of A is one at K = 0 alone: lane 0 has it in its first half; B's column 0 is 3 at K = 0.
    let body = "setp.eq.u32 %p0, %lane, 0; selp.b32 %r1, 0x3c00, 0, %p0; selp.b32 %r2, 0x4200, 0, %p0; mov.b32 %r3, 0; \
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r4,%r5,%r6}, {%r1,%r3,%r3,%r3}, {%r2,%r3}, \
                {%r3,%r3,%r3,%r3};";
    let accumulator = lanes(body);
    assert_eq!((accumulator[0], accumulator[1..].iter().max()), (3f32.to_bits(), Some(&0)));
}
