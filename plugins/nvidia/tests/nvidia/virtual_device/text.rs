//! Invalid and unsupported PTX texts: the parser returns an error with the line, and never panics, for any text.

use proptest::prelude::*;
use tilewright_virtual_ptx::parse_ptx;

use crate::virtual_device::bench::{Given, Shape, kernel, run};

fn refused(body: &str) -> String {
    run(&kernel(body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 4])]).unwrap_err().to_string()
}

#[test]
fn what_is_not_known_is_named_with_its_line_and_the_nearest() {
    for (body, words) in [
        ("mull.lo.s32 %r0, 1, 2;", &["line 9", "mull.lo.s32", "`mul"] as &[&str]),
        ("mul.low.s32 %r0, 1, 2;", &["`low` is not supported for `mul`", "`lo`"]),
        ("tcgen05.wait::ld.sync.aligned;", &["tcgen05.wait::ld.sync.aligned"]),
        ("add.s32 %r0, %r1;", &["takes 3 operands, not 2"]),
        ("add.s32 %r0, %r1, %r99;", &["the register `%r99` is not declared"]),
        ("bra NOWHERE;", &["no label `NOWHERE`"]),
        ("mov.u32 %r0, %pm0;", &["%pm0"]),
        ("add.sat.u32 %r0, 1, 2;", &["this combination of modifiers and types"]),
        (
            "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};",
            &["no instruction `mma", "the nearest"],
        ),
        ("call.uni other, ();", &["`other`", "inline"]),
        ("ld.global.v2.u32 %r0, [%io];", &["takes 2 registers, not 1"]),
        ("mov.u32 %r0 1;", &["expected `,`, found `1`"]),
    ] {
        let message = refused(body);
        for word in words {
            assert!(message.contains(word), "`{word}` is not in: {message}");
        }
    }
}

#[test]
fn texts_that_end_early_or_nest_without_end_are_errors() {
    let source = kernel("mov.u32 %r0, 1;");
    for end in 0..source.trim_end().len() {
        if let Ok(module) = parse_ptx(&source[..end]) {
            assert_eq!(module.kernels().count(), 0, "{}", &source[..end]);
        }
    }
    assert!(parse_ptx(&kernel(&format!("mov.b32 %r0, {};", "{".repeat(10_000)))).is_err());
    assert!(parse_ptx(".version 8.0 .target sm_80 .address_size 32").unwrap_err().to_string().contains("32 bits"));
    assert!(parse_ptx("\u{e9}").is_err() && parse_ptx("/* open").is_err() && parse_ptx("\"open").is_err());
    assert!(parse_ptx(".global .b8 large[99999999999999999999];").is_err());
    assert!(parse_ptx(".global .b8 large[4294967295][4294967295];").is_err());
    assert!(refused(".local .b8 l[200000000]; mov.u32 %r0, 1;").contains("bytes of local memory"));
    assert!(refused(".reg .b32 %many<1000000>; mov.u32 %r0, 1;").contains("registers"));
}

/// Fragments of PTX from which random texts are made, so that some get past the lexer.
const PIECES: [&str; 44] = [
    ".version 8.0",
    ".target sm_80",
    ".address_size 64",
    ".visible .entry k(",
    ".param .u64 io",
    ")",
    "{",
    "}",
    ";",
    ",",
    ".reg .b32 %r<9>",
    ".reg .pred p",
    ".shared .align 8 .b8 m[64]",
    "[",
    "]",
    "%r1",
    "%r2",
    "p",
    "m",
    "io",
    "@p",
    "@!p",
    "add.s32",
    "mov.b64",
    "ld.param.u64",
    "st.shared.v2.b32",
    "setp.lt.s32",
    "bra L",
    "L:",
    "ret",
    "bar.sync 0",
    "0x7f",
    "-1",
    "0f3F800000",
    "1.5",
    "|",
    "=",
    "+",
    "shfl.sync.bfly.b32",
    "cvt.rn.f32.s32",
    "// implicit-def: %r3\n",
    "\n",
    ".branchtargets",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let _ = parse_ptx(&text);
    }

    #[test]
    fn no_text_of_pieces_panics(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..60)) {
        let text = pieces.join(" ");
        let _ = parse_ptx(&text);
        // As the body of a kernel it is also decoded, and run if possible.
        let body = format!("{{ .reg .b32 %q<9>; .reg .pred p; .shared .align 8 .b8 m[64]; {text} }}");
        let _ = run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 64])]);
    }
}
