//! Syntax of MLIR that texts may use: tables of texts that Triton 3.9.0 accepts, with the text that it prints, and of
//! texts that it rejects.

use tilewright_tile::op::Dialects;
use tilewright_tile::text::{parse_module, print_module};
use tilewright_tile::verify_module;

/// A function with these statements.
fn function(statements: &str) -> String {
    format!(
        "tt.func public @k(%x: i32, %y: f32, %c: i1, %p: !tt.ptr<f32>, %s: tensor<f32>) {{\n  {statements}\n  tt.return\n}}\n"
    )
}

/// The statements of the printed module, or the first error.
fn printed(text: &str) -> Result<Vec<String>, String> {
    let module = parse_module(text, &Dialects::neutral()).map_err(|error| error.to_string())?;
    verify_module(&module).map_err(|violation| violation.to_text_error(text).to_string())?;
    let printed = print_module(&module);
    let reparsed = parse_module(&printed, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(print_module(&reparsed), printed);
    let body = printed.lines().skip_while(|line| !line.contains("tt.func")).skip(1);
    Ok(body.map(|line| line.trim().to_owned()).take_while(|line| line != "tt.return").collect())
}

#[test]
fn statements_are_read_as_mlir_reads_them() {
    for (statement, expected) in [
        ("%0 = arith.cmpi \"slt\", %x, %x : i32", "%0 = arith.cmpi slt, %x, %x : i32"),
        ("%0 = arith.cmpf \"oeq\", %y, %y : f32", "%0 = arith.cmpf oeq, %y, %y : f32"),
        ("%0 = tt.get_program_id \"x\" : i32", "%0 = tt.get_program_id x : i32"),
        ("%0 = tt.fp_to_fp %y, rounding = \"rtne\" : f32 -> f16", "%0 = tt.fp_to_fp %y, rounding = rtne : f32 -> f16"),
        ("%0 = arith.truncf %y \"downward\" : f32 to f16", "%0 = arith.truncf %y downward : f32 to f16"),
        ("%0=arith.addi %x,%x:i32", "%0 = arith.addi %x, %x : i32"),
        ("%0 = arith.addi %x, // { ( \"\n %x : i32", "%0 = arith.addi %x, %x : i32"),
        ("%0 = \"arith.cmpi\"(%x, %x) <{predicate = 2}> : (i32, i32) -> i1", "%0 = arith.cmpi slt, %x, %x : i32"),
        (
            "%0 = \"arith.addi\"(%x, %x) <{overflowFlags = #arith<overflow<nsw>>}> : (i32, i32) -> i32",
            "%0 = arith.addi %x, %x overflow<nsw> : i32",
        ),
        ("llvm.intr.assume %c : i1 {tt.hint}", "llvm.intr.assume %c : i1 {tt.hint}"),
        (
            "llvm.intr.assume %c [\"align\"(%x, %y : i32, f32), \"cold\"()] : i1",
            "llvm.intr.assume %c [\"align\"(%x, %y : i32, f32), \"cold\"()] : i1",
        ),
        (
            "\"llvm.intr.assume\"(%c, %x) <{op_bundle_sizes = array<i32: 1>, op_bundle_tags = [\"t\"]}> : (i1, i32) -> ()",
            "llvm.intr.assume %c [\"t\"(%x : i32)] : i1",
        ),
        ("%0 = tt.splat %s : tensor<f32> -> tensor<64xf32>", "%0 = tt.splat %s : tensor<f32> -> tensor<64xf32>"),
        ("%0 = tt.splat %y : f32 -> tensor <4 x 8 xf32>", "%0 = tt.splat %y : f32 -> tensor<4x8xf32>"),
        ("%0 = tt.bitcast %p : !tt<ptr<f32>> -> !tt.ptr<i32>", "%0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>"),
        (
            "%0 = tt.bitcast %p : !tt.ptr<f32, \"global\"> -> !tt.ptr<i8>",
            "%0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>",
        ),
        ("%0 = arith.constant - 1.0 : f32", "%0 = arith.constant -1.000000e+00 : f32"),
        ("%0 = arith.constant 1.0e39 : f32", "%0 = arith.constant 0x7F800000 : f32"),
        ("%0 = arith.constant -1000.0 : f8E4M3FN", "%0 = arith.constant 0xFF : f8E4M3FN"),
        ("%0 = arith.constant dense<\"0x05\"> : tensor<4xi1>", "%0 = arith.constant dense<true> : tensor<4xi1>"),
        (
            "%0 = arith.constant dense<\"0x07000000\"> : tensor<1024x1024xi32>",
            "%0 = arith.constant dense<7> : tensor<1024x1024xi32>",
        ),
        (
            "%0 = arith.constant dense<\"0x00010001\"> : tensor<4xi1>",
            "%0 = arith.constant dense<[false, true, false, true]> : tensor<4xi1>",
        ),
        ("\"ttg.barrier\"() <{addrSpace = 3 : i32}> : () -> ()", "ttg.barrier local|global_read"),
        ("\"ttg.barrier\"() <{addrSpace = 31 : i32}> : () -> ()", "ttg.barrier all"),
        (
            "%0 = arith.addi %x, %x {a = affine_map<(d0) -> (d0)>, b = dense_resource<r> : tensor<4xi32>} : i32",
            "%0 = arith.addi %x, %x {a = affine_map<(d0) -> (d0)>, b = dense_resource<r> : tensor<4xi32>} : i32",
        ),
        (
            "%0 = arith.addi %x, %x : i32 loc(fused<\"m\">[\"a\", // [\n unknown, \"f\" : 1:2 to :4, callsite(\"n\"(unknown) at \"g\":3:4)])",
            "%0 = arith.addi %x, %x : i32 loc(fused<\"m\">[\"a\", unknown, \"f\":1:2 to :4, callsite(\"n\"(unknown) at \"g\":3:4)])",
        ),
    ] {
        assert_eq!(printed(&function(statement)), Ok(vec![expected.to_owned()]), "{statement}");
    }
}

#[test]
fn statements_that_mlir_rejects_are_rejected() {
    for (statement, message) in [
        ("%0 = arith.cmpi \"foo\", %x, %x : i32", "`foo` is no `predicate`"),
        ("%0 = arith.constant true : i1", "expected an operation"),
        ("%0 = arith.addi %x, %x {a = array<i32: >} : i32", "expected a number"),
        ("%0 = arith.addi %x, %x {a = \"two\nlines\"} : i32", "this quote is never closed"),
        ("%0 = arith.addi %x, %x {\"\" = 1} : i32", "an attribute needs a name"),
        ("%0 = arith.addi %x, %x : i32 loc()", "expected a location"),
        ("%0 = arith.addi %x, %x : i32 loc(here)", "expected a location"),
        ("%0 = arith.addi %x, %x : i32 loc(\"f\":1)", "expected `:`"),
        ("%0 = arith.addi %x, %x : i32 loc(#nowhere)", "`#nowhere` is not defined"),
        ("%0 = arith.constant dense<\"01000000\"> : tensor<4xi32>", "expected `0x`"),
        ("%0 = arith.constant dense<\"0x0100\"> : tensor<16xi1>", "2 bytes: expected 1 for each element"),
        ("%0 = tt.bitcast %p : !tt.ptr <f32> -> !tt.ptr<i32>", "directly behind `!tt.ptr`"),
        ("%0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<!tt.ptr<f32>>", "expected an integer or float type"),
        ("%0 = tt.splat %t : tensor<4xf32> -> tensor<64xf32>", "`%t` is not defined"),
        (
            "%a = tt.splat %y : f32 -> tensor<4xf32>\n %0 = tt.splat %a : tensor<4xf32> -> tensor<4xf32>",
            "is not a scalar",
        ),
    ] {
        let error = printed(&function(statement)).expect_err(statement);
        assert!(error.contains(message), "{statement}: {error}");
    }
}

/// Without an index, the name of several results (`%m` of `%m:2`) stands for the first of them (`%m#0`).
#[test]
fn a_name_of_several_results_is_the_first() {
    let text = function("%m:2 = arith.mului_extended %x, %x : i32\n %0 = arith.addi %m, %m#1 : i32");
    assert_eq!(printed(&text).map(|lines| lines[1].clone()), Ok("%0 = arith.addi %m#0, %m#1 : i32".to_owned()));
}

/// Different texts of one layout or memory type are one type: a value that is defined with one text may be used with
/// the other.
#[test]
fn different_texts_of_a_type_are_equal() {
    const BLOCKED: &str = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    let tensors = [
        "#ttg<blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>",
        "#ttg.blocked<{order = [0], sizePerThread = [0x1 : i32], threadsPerWarp = [32], warpsPerCTA = [4]}>",
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = []}>",
        "#ttg.blocked<{sizePerThread = [1], // comment\n threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
    ];
    for other in tensors {
        for text in [
            format!(
                "#b = {BLOCKED}\n#c = {other}\ntt.func @k(%a: tensor<128xf32, #c>) {{\n  %0 = arith.addf %a, %a : tensor<128xf32, #b>\n  tt.return\n}}\n"
            ),
            format!(
                "tt.func @k(%a: tensor<128xf32, {other}>) {{\n  %0 = arith.addf %a, %a : tensor<128xf32, {BLOCKED}>\n  tt.return\n}}\n"
            ),
        ] {
            assert_eq!(printed(&text).map(|lines| lines.len()), Ok(1), "{text}");
        }
    }
    let memories = [
        (
            "!ttg.memdesc<2x4xf32, #ttg.padded_shared<[4:+4] {order = [1, 0], shape = [2, 4]}>, #ttg.shared_memory, mutable>",
            "!ttg.memdesc<2x4xf32, #ttg.padded_shared<[4:+4] {offset = [[0, 1], [0, 2], [1, 0]], block = []}>, #ttg.shared_memory, mutable>",
        ),
        (
            "!ttg.memdesc<4x4xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory, mutable>",
            "!ttg.memdesc<4x4xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory, mutable, 4x4>",
        ),
    ];
    for (one, other) in memories {
        let text = format!(
            "tt.func @k() {{\n  %0 = ttg.local_alloc : () -> {one}\n  ttg.local_dealloc %0 : {other}\n  tt.return\n}}\n"
        );
        assert_eq!(printed(&text).map(|lines| lines.len()), Ok(2), "{text}");
    }
}

/// The generic form nests the partitions of `ttg.warp_specialize` in an operation `ttg.warp_specialize.partitions`. It
/// gives the case values of a switch and the sizes of its operand groups as attributes.
#[test]
fn generic_forms_of_special_operations_are_read() {
    let generic = r#""builtin.module"() ({
  "tt.func"() <{function_type = (i32) -> (), sym_name = "k"}> ({
  ^bb0(%n: i32):
    %r = "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 4, 1>}> ({
      "ttg.warp_yield"(%n) : (i32) -> ()
    }, {
      "ttg.warp_specialize.partitions"(%n) ({
      ^bb0(%a: i32):
        "ttg.warp_return"() : () -> ()
      }, {
      ^bb0(%b: i32):
        "ttg.warp_return"() : () -> ()
      }) : (i32) -> () loc(unknown)
    }) : () -> i32
    "cf.switch"(%r, %n)[^bb1, ^bb2, ^bb1] <{case_operand_segments = array<i32: 1, 0>, case_values = dense<[0, 1]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (i32, i32) -> ()
  ^bb1:
    "tt.return"() : () -> ()
  ^bb2(%m: i32):
    "tt.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"#;
    let found = printed(generic).unwrap_or_else(|error| panic!("{error}")).join("\n");
    for expected in [
        "ttg.warp_specialize(%n)",
        "partition0(%a: i32) num_warps(4) {",
        "partition1(%b: i32) num_warps(1) {",
        "} : (i32) -> i32",
        "cf.switch %r : i32, [",
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
    assert!(found.contains("0: ^bb2(%n : i32)") && found.contains("1: ^bb1"), "{found}");
}
