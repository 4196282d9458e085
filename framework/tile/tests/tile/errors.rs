//! Errors of tile programs: the message, and its position in the text.

use proptest::prelude::*;

use tilewright_tile::op::Dialects;
use tilewright_tile::text::{parse_module, print_module};
use tilewright_tile::verify_module;

/// The text of a function with these operations, one per line, starting in line 2.
fn function(operations: &str) -> String {
    let arguments = "%x: f32, %n: i32, %c: i1, %t: tensor<4x8xf32>, %p: !tt.ptr<f32>, %i: tensor<8xi32>";
    format!("tt.func @f({arguments}) {{\n{operations}\ntt.return\n}}")
}

/// The error message of the parser, or, if the text parses, of the verifier.
fn message(text: &str) -> String {
    match parse_module(text, &Dialects::neutral()) {
        Err(error) => error.to_string(),
        Ok(module) => match verify_module(&module) {
            Err(violation) => violation.to_text_error(text).to_string(),
            Ok(()) => "nothing".to_owned(),
        },
    }
}

#[test]
fn parse_errors_show_location_and_expectation() {
    for (operations, expected) in [
        ("%y = arith.adf %x, %x : f32", "2:6: there is no operation `arith.adf`; did you mean `arith.addf`?"),
        ("%y = nothing.like.it %x", "2:6: there is no operation `nothing.like.it`; a dialect file can add it"),
        ("%y = arith.addf %x, %z : f32", "2:21: `%z` is not defined before"),
        (
            "%total = arith.addf %x, %x : f32\n%y = arith.addf %totl, %x : f32",
            "3:17: `%totl` is not defined before; did you mean `%total`?",
        ),
        ("%y = arith.addf %x, %n : f32", "2:21: the value is a `i32`, and here a `f32` is expected"),
        ("%y = arith.addf %x %x : f32", "2:20: expected `,`, found `%`"),
        ("%y = arith.addf %x, %x : f33", "2:26: expected a type, found `f33`"),
        (
            "%y = arith.cmpi lt, %n, %n : i32",
            "2:17: `lt` is no `predicate`: expected one of `eq`, `ne`, `sge`, `sgt`, `sle`, `slt`, `uge`, `ugt`, `ule`, `ult`",
        ),
        ("%y = arith.constant 300 : i8", "2:21: the number is out of the range of `i8`"),
        ("%y = arith.constant 1 : f32", "2:21: expected a number with a point, since it is a `f32`: `1.0`"),
        ("%y = arith.constant 0x1FFFF : f16", "2:21: expected the 16 bits of a `f16`"),
        ("%y = arith.constant dense<[1, 2]> : tensor<3xi32>", "2:27: the elements have shape [2], the type has [3]"),
        (
            "%y = arith.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>",
            "2:27: the parts of this list are not equally long",
        ),
        ("%y:2 = arith.addf %x, %x : f32", "2:1: `arith.addf` has 1 results, and 2 are named"),
        ("%x = arith.addf %x, %x : f32", "2:1: `%x` is defined twice"),
        ("%y = tt.make_range {start = 0 : i32} : tensor<8xi32>", "2:6: `tt.make_range` lacks its attribute `end`"),
        (
            "%y = tt.expand_dims %t {axis = 1.0 : f32} : tensor<4x8xf32> -> tensor<4x1x8xf32>",
            "2:6: `axis = 1.000000e+00 : f32`: expected an integer of type `i32`",
        ),
        (
            "%y = tt.load %p {isVolatile = 1 : i32} : !tt.ptr<f32>",
            "2:6: `isVolatile = 1 : i32`: expected `true` or `false`",
        ),
        ("tt.assert %c, \"never closed : i1", "2:15: this quote is never closed"),
        ("%y = tt.splat %x : f32 -> tensor<8xf32, #rows>", "2:41: `#rows` is not defined before, nor does `<` follow"),
        ("%y = tt.splat %x : f32 -> tensor<?xf32>", "2:34: sizes are known in tile programs: expected a number"),
        (
            "scf.if %c {\n  %y = arith.addf %x, %x : f32\n}\n%z = arith.addf %y, %x : f32",
            "5:17: `%y` is not defined before",
        ),
        ("cf.br ^nowhere", "2:7: there is no block `^nowhere`"),
        (
            "cf.br ^last\n^first:\n%z = arith.addf %total, %x : f32\ntt.return\n^last:\ncf.br ^first",
            "4:17: `%total` is not defined before",
        ),
        (
            "cf.br ^last\n^first:\n%z = arith.addf %y, %x : f32\ntt.return\n^last:\n%y = arith.addi %n, %n : i32\ncf.br ^first",
            "4:17: the value is a `i32`, and here a `f32` is expected",
        ),
        (
            "cf.br ^last\n^first:\n%z = arith.addf %y#2, %x : f32\ntt.return\n^last:\n%y = arith.addf %x, %x : f32\ncf.br ^first",
            "4:17: `%y` stands for 1 results only",
        ),
        (
            "cf.cond_br %c, ^next, ^last\n^last:\n%z = arith.addf %y, %x : f32\ntt.return\n^next:\n\
             %y = arith.addf %x, %x : f32",
            "4:6: `arith.addf`: it uses a value `%y` that is defined by `arith.addf`, whose definition does not dominate it",
        ),
        ("%y = \"arith.addf\"(%x) : (f32) -> f32", "2:6: 1 operands cannot be split into the operands of `arith.addf`"),
        (
            "%y = \"tt.reduce\"(%t) <{axis = 0 : i32}> : (tensor<4x8xf32>) -> tensor<8xf32>",
            "2:6: `tt.reduce` has 0 regions",
        ),
        ("%y = tt.reduce %t : f32", "2:6: `tt.reduce` has no custom syntax: expected `\"tt.reduce\"(...)`"),
    ] {
        assert_eq!(message(&function(operations)), expected, "{operations}");
    }
    for (text, expected) in [
        ("module {", "1:9: expected a function: `tt.func`, found the end of the text"),
        ("tt.func @f() { tt.return }\ntt.func @f() { tt.return }", "2:9: `@f` is defined twice"),
        ("tt.func @f(f32) { tt.return }", "1:17: expected no body, since the arguments have no names, found `{`"),
        ("#a = #ttg.blocked<{order = [0]}>\n#a = #ttg.blocked<{order = [0]}>", "2:1: `#a` is defined twice"),
    ] {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn the_verifier_names_the_rule() {
    for (operations, expected) in [
        (
            "%y = tt.broadcast %t : tensor<4x8xf32> -> tensor<8x8xf32>",
            "2:6: `tt.broadcast`: [4, 8] becomes [8, 8]: only axes of size 1 may grow",
        ),
        (
            "%y = tt.expand_dims %i {axis = 2 : i32} : tensor<8xi32> -> tensor<8x1xi32>",
            "2:6: `tt.expand_dims`: there is no axis 2: expected one from 0 to 1",
        ),
        (
            "%y = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<8x1xi32>",
            "2:6: `tt.expand_dims`: [8] becomes [8, 1]: expected [1, 8]",
        ),
        (
            "%y = tt.reshape %t : tensor<4x8xf32> -> tensor<16xf32>",
            "2:6: `tt.reshape`: [4, 8] has 32 elements, and [16] has 16",
        ),
        (
            "%y = tt.reshape %t : tensor<4x8xf32> -> tensor<32xf16>",
            "2:6: `tt.reshape`: elements of `f32` become `f16`, but must not change",
        ),
        (
            "%y = tt.trans %t {order = array<i32: 0, 0>} : tensor<4x8xf32> -> tensor<4x8xf32>",
            "2:6: `tt.trans`: `order` is [0, 0]: expected each of the 2 axes once",
        ),
        (
            "%y = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<4xi32>",
            "2:6: `tt.make_range`: the numbers from 0 up to 8 do not form a tensor of [4]",
        ),
        (
            "%y = tt.make_range {start = 0 : i32, end = 6 : i32} : tensor<6xi32>",
            "2:6: `tt.make_range`: the size 6 of `tensor<6xi32>` is not a power of two",
        ),
        (
            "%y = tt.splat %x : f32 -> tensor<1024x2048xf32>",
            "2:6: `tt.splat`: `tensor<1024x2048xf32>` has more than 1048576 elements",
        ),
        (
            "%y = tt.join %t, %t : tensor<4x8xf32> -> tensor<2x4x8xf32>",
            "2:6: `tt.join`: two tensors of [4, 8] are joined to [2, 4, 8]: expected [4, 8] with a last axis of 2",
        ),
        ("%y = arith.extf %x : f32 to f16", "2:6: `arith.extf`: `f32` becomes `f16`: expected a wider type"),
        (
            "%y = tt.bitcast %x : f32 -> i64",
            "2:6: `tt.bitcast`: `f32` becomes `i64`: expected a type of the same width",
        ),
        (
            "%y = arith.addi %x, %x : f32",
            "2:6: `arith.addi`: `lhs` is a `f32`: expected a scalar or tensor of signless integers or `index`",
        ),
        (
            "%y = arith.sitofp %i : tensor<8xi32> to tensor<4xf32>",
            "2:6: `arith.sitofp`: `tensor<8xi32>` and `tensor<4xf32>` differ in shape or layout, which must be one",
        ),
        (
            "%y = tt.dot %t, %t, %t : tensor<4x8xf32> * tensor<4x8xf32> -> tensor<4x8xf32>",
            "2:6: `tt.dot`: a dot of [4, 8] and [4, 8] does not have the result [4, 8]",
        ),
        (
            "%y = \"tt.map_elementwise\"(%i) <{pack = 2044544287 : i32}> ({\n^bb0(%e: i32):\ntt.map_elementwise.return %e : i32\n}) : (tensor<8xi32>) -> tensor<8xi32>",
            "2:6: `tt.map_elementwise`: its region takes 1 elements, which are not 2044544287 of each tensor",
        ),
        (
            "%m = arith.cmpi eq, %i, %i : tensor<8xi32>\n%y = arith.select %m, %t, %t : tensor<8xi1>, tensor<4x8xf32>",
            "3:6: `arith.select`: `tensor<8xi1>` chooses a `tensor<4x8xf32>`: expected one condition, or one for each element in its layout",
        ),
        (
            "%m = arith.cmpi eq, %i, %i : tensor<8xi32>\n%y = arith.select %m, %x, %x : tensor<8xi1>, f32",
            "3:6: `arith.select`: `tensor<8xi1>` chooses a `f32`: expected one condition, or one for each element in its layout",
        ),
        (
            "%a = arith.constant dense<0> : tensor<16x32xi64>\n%b = arith.constant dense<0> : tensor<32x16xi8>\n%z = arith.constant dense<0.0> : tensor<16x16xf32>\n%y = tt.dot_scaled %a, %b, %z lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x32xi64> * tensor<32x16xi8> -> tensor<16x16xf32>",
            "5:6: `tt.dot_scaled`: `a` is a `tensor<16x32xi64>`: expected a tensor of floating-point numbers or `i8`",
        ),
        (
            "%a = arith.constant dense<0> : tensor<16x32xi8>\n%b = arith.constant dense<0> : tensor<32x16xi8>\n%s = arith.constant dense<0> : tensor<16x1xi64>\n%z = arith.constant dense<0.0> : tensor<16x16xf32>\n%y = tt.dot_scaled %a scale %s, %b, %z lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x32xi8>, tensor<16x1xi64> * tensor<32x16xi8> -> tensor<16x16xf32>",
            "6:6: `tt.dot_scaled`: `a_scale` is a `tensor<16x1xi64>`: expected a tensor of floating-point numbers or `i8`",
        ),
        ("tt.return %x : f32", "2:1: `tt.return`: it ends a block, and others follow it there"),
        ("%y = tt.call @g(%x) : (f32) -> f32", "2:6: `tt.call`: there is no function `@g`"),
        (
            "%y = tt.call @f(%x) : (f32) -> f32",
            "2:6: `tt.call`: `@f` takes `f32`, `i32`, `i1`, `tensor<4x8xf32>`, `!tt.ptr<f32>`, `tensor<8xi32>` and \
             returns nothing",
        ),
        (
            "%y = scf.if %c -> (f32) {\n  scf.yield %x : f32\n}",
            "2:6: `scf.if`: results need a region for the other case: `else`",
        ),
        (
            "%y = scf.if %c -> (f32) {\n  scf.yield %x : f32\n} else {\n  scf.yield %n : i32\n}",
            "2:6: `scf.if`: `scf.yield` yields `i32`: expected `f32`",
        ),
        (
            "%y = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n^bb0(%a: f32):\n  tt.reduce.return %a : f32\n}) : (tensor<4x8xf32>) -> tensor<8xf32>",
            "2:6: `tt.reduce`: a region takes `f32`: expected `f32`, `f32`",
        ),
        (
            "%y = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n^bb0(%a: f32, %b: f32):\n  tt.reduce.return %a : f32\n}) : (tensor<4x8xf32>) -> tensor<4xf32>",
            "2:6: `tt.reduce`: `tensor<4x8xf32>` become `tensor<4xf32>`: expected the shape [8]",
        ),
        (
            "cf.cond_br %c, ^bb1, ^bb2\n^bb1:\n%y = arith.addf %x, %x : f32\ncf.br ^bb2\n^bb2:\n%z = arith.addf %y, %x : f32",
            "7:6: `arith.addf`: it uses a value `%y` that is defined by `arith.addf`, whose definition does not dominate it",
        ),
        ("cf.br ^bb1(%x : f32)\n^bb1(%y: i32):", "2:1: `cf.br`: a jump brings `f32`, and the block takes `i32`"),
    ] {
        assert_eq!(message(&function(operations)), expected, "{operations}");
    }
}

#[test]
fn arguments_are_no_larger_than_other_tensors() {
    let text = "tt.func @f(%t: tensor<1024x1024x1024xf32>) {\ntt.return\n}";
    assert_eq!(message(text), "1:9: `tt.func`: `tensor<1024x1024x1024xf32>` has more than 1048576 elements");
}

const SOURCES: [&str; 4] = [
    include_str!("../programs/arith.ttir"),
    include_str!("../programs/control.ttir"),
    include_str!("../programs/tile.ttir"),
    "#a = #ttg.blocked<{order = [1, 0]}>\n!p = !tt.ptr<f16>\nmodule attributes {x = 1 : i32} {\n  tt.func @f(%p: !p, %t: tensor<4x8xf32, #a>) {\n    tt.return loc(\"f\":1:2)\n  }\n}",
];

/// Tokens that a mutation inserts: at token boundaries they cause errors that random characters rarely reach.
const PIECES: [&str; 16] = [
    "%",
    "#",
    "(",
    "{",
    "}",
    "<",
    "dense<",
    "tensor<",
    "^bb9",
    " : ",
    "-> ",
    "\"",
    "loc(",
    "0x",
    "99999999999999999999",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A mutated program is either rejected with a position in the text, or parses; if it also verifies, its printed
    /// text parses again.
    #[test]
    fn broken_programs_are_rejected_at_a_location(
        source in 0..SOURCES.len(),
        changes in prop::collection::vec((0.0..1.0f64, 0..3usize, 0..PIECES.len(), 1..20usize), 1..4),
    ) {
        let mut text: Vec<char> = SOURCES[source].chars().collect();
        for (fraction, change, piece, length) in changes {
            let at = (fraction * text.len() as f64) as usize;
            let end = (at + length).min(text.len());
            match change {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..at, PIECES[piece].chars()).collect::<Vec<_>>()),
                _ => {
                    let copied: Vec<char> = text[at..end].to_vec();
                    text.splice(at..at, copied);
                }
            }
        }
        let text: String = text.into_iter().collect();
        match parse_module(&text, &Dialects::neutral()) {
            Err(error) => prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at)),
            Ok(module) => {
                let is_valid = verify_module(&module).is_ok();
                let printed = print_module(&module);
                let reparsed = parse_module(&printed, &Dialects::neutral());
                prop_assert!(reparsed.is_ok() || !is_valid, "{}\n{printed}", reparsed.err().map(|e| e.to_string()).unwrap_or_default());
                if let Ok(reparsed) = reparsed {
                    prop_assert_eq!(print_module(&reparsed), printed);
                }
            }
        }
    }
}

/// A module whose function has these arguments and operations, with aliases of layouts.
fn with_layouts(arguments: &str, operations: &str) -> String {
    format!(
        "#rows = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}}>
#pairs = #ttg.blocked<{{sizePerThread = [1, 4, 2], threadsPerWarp = [8, 4, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}}>
#row = #ttg.slice<{{dim = 1, parent = #rows}}>
#column = #ttg.slice<{{dim = 0, parent = #rows}}>
#flat = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#list = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#smem = #ttg.shared_memory
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32}} {{
tt.func @f({arguments}) {{\n{operations}\ntt.return\n}}\n}}"
    )
}

/// For rules of Triton's verifier: a program that breaks the rule, and the end of the message.
#[test]
fn rules_of_rows_name_what_was_expected_and_what_was_found() {
    const REDUCTION: &str = "%r = \"tt.reduce\"(%a) <{axis = 1 : i32}> ({\n^bb0(%x: f32, %y: f32):\ntt.reduce.return %x : f32\n}) : (tensor<64x64xf32, #rows>) -> tensor<64xf32, #column>";
    const PARTITION: &str = "ttg.warp_specialize(%x)\ndefault {\nttg.warp_yield\n}\npartition0(%a: i64) num_warps(4) {\nttg.warp_return\n} : (i32) -> ()";
    let rules = [
        (
            "%a: tensor<64x64xf32, #rows>",
            REDUCTION,
            "expected `#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>}>`",
        ),
        (
            "%a: tensor<64xf32, #column>",
            "%r = tt.expand_dims %a {axis = 1 : i32} : tensor<64xf32, #column> -> tensor<64x1xf32, #rows>",
            "is no slice along axis 1",
        ),
        (
            "%a: tensor<64x64xf32, #rows>",
            "%r = tt.trans %a {order = array<i32: 1, 0>} : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #rows>",
            "with axes [1, 0]",
        ),
        (
            "%a: tensor<64x64xf32, #rows>",
            "%r = tt.reshape %a : tensor<64x64xf32, #rows> -> tensor<128x32xf32, #rows>",
            "expected the same places, or `allow_reorder`",
        ),
        (
            "%a: tensor<64x64x2xf32, #pairs>",
            "%r, %s = tt.split %a : tensor<64x64x2xf32, #pairs> -> tensor<64x64xf32, #row>",
            "has 2 axes, and its layout 1",
        ),
        (
            "%a: tensor<64x64xf32, #row>",
            "%r = tt.precise_sqrt %a : tensor<64x64xf32, #row>",
            "has 2 axes, and its layout 1",
        ),
        (
            "%d: !tt.tensordesc<64x64xf16>, %i: i32",
            "%r = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf32>",
            "blocks of `f16` and a tensor of `f32`: expected one element type",
        ),
        (
            "%d: !tt.tensordesc<32xf16>, %x: tensor<32xi32>, %i: i32",
            "%r = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<32xf16>, tensor<32xi32>, i32) -> tensor<32x32xf16>",
            "the descriptor has blocks of [32]: expected two axes, [1, columns]",
        ),
        (
            "%p: !tt.ptr<i32>, %v: i64",
            "%r = tt.atomic_cas acq_rel, gpu, %p, %v, %v : (!tt.ptr<i32>, i64, i64) -> i64",
            "`cmp` is a `i64`: expected `i32`",
        ),
        (
            "%p: !tt.ptr<i32>",
            "%r = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32",
            "`sem = release`: expected one of acquire, relaxed",
        ),
        (
            "",
            "%r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi64>",
            "`result` is a `tensor<8xi64>`: expected elements of i32",
        ),
        (
            "%a: tensor<8xf8E8M0FNU>",
            "%r = tt.reshape %a : tensor<8xf8E8M0FNU> -> tensor<1x8xf8E8M0FNU>",
            "expected elements of f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f16, bf16, f32, f64, i1, i4, i8, i16, i32, i64",
        ),
        ("%x: i32", PARTITION, "partition 0 takes `i64`: expected the types of the captures, `i32`"),
        (
            "%i: i32",
            "%m = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #flat, #smem, mutable>\n%r = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64x64xf16, #flat, #smem, mutable> -> !ttg.memdesc<64x32xf16, #flat, #smem, mutable>",
            "[2, 64, 64] becomes [64, 32]: expected [64, 64]",
        ),
        (
            "",
            "%m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #flat, #smem, mutable>\n%r = ttg.memdesc_reinterpret %m : !ttg.memdesc<64x64xf16, #flat, #smem, mutable> -> !ttg.memdesc<64x64xf32, #flat, #smem, mutable>",
            "the result takes 16384 bytes, and the operand has 8192",
        ),
        (
            "%a: tensor<64x64xf16, #rows>, %m: !ttg.memdesc<64x64xf16, #flat, #smem>",
            "ttg.local_store %a, %m : tensor<64x64xf16, #rows> -> !ttg.memdesc<64x64xf16, #flat, #smem>",
            "is written: expected memory that is `mutable`",
        ),
        (
            "%a: f32",
            "%r = arith.addf %a, %a fastmath<quick> : f32",
            "`quick` is no `#arith.fastmath`: expected one of `none`, `reassoc`, `nnan`, `ninf`, `nsz`, `arcp`, `contract`, `afn`, `fast`",
        ),
    ];
    for (arguments, operations, expected) in rules {
        let found = message(&with_layouts(arguments, operations));
        assert!(found.ends_with(expected), "{operations}:\n{found}\n{expected}");
    }
}

/// An error in an operation's row is reported with the dialect file, the operation and the faulty word.
#[test]
fn faulty_rows_are_errors_of_their_file() {
    for (row, expected) in [
        ("types = \"nope = result\"", "`types` or `verify` speak of `nope`, which is no operand and no result"),
        (
            "types = \"result = element(nope)\"",
            "`types` or `verify` speak of `nope`, which is no operand and no result",
        ),
        ("verify = \"nope = result\"", "`types` or `verify` speak of `nope`, which is no operand and no result"),
        ("verify = \"beautiful\"", "`verify` has a condition `beautiful`, which is not known"),
        ("traits = \"lazy\"", "`lazy` is not a trait"),
    ] {
        let file = format!(
            "dialect = \"mine\"\n[operations]\nact = {{ results = \"result\", format = \"{{}} : #result\", {row} }}"
        );
        let error = Dialects::neutral().add_dialect("mine.toml", &file).expect_err(row);
        assert_eq!(error.to_string(), format!("mine.toml: `act`: {expected}"));
    }
}
