//! Transformations of tile programs preserve semantics.

mod accumulators;
mod floats;
mod interpreter;
mod loops;
mod pointer_bases;
mod split_dots;
mod uniform_loads;
mod volatile_loads;

use std::fmt::Write;

use interpreter::run;
use tilewright_testkit::seeded_rng::SeededRng;
use tilewright_tile::op::Dialects;
use tilewright_tile::text::{parse_module, print_module};
use tilewright_tile::transform::{
    forward_stores, fuse_multiply_adds, inline_calls, remove_unused_operations, structurize,
};
use tilewright_tile::{TileModule, TileViolation, verify_module};

fn read(text: &str) -> TileModule {
    let module = parse_module(text, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify_module(&module).unwrap_or_else(|violation| panic!("{}\n{text}", violation.to_text_error(text)));
    module
}

fn structured(module: &TileModule) -> TileModule {
    let done = structurize(module, &Dialects::neutral()).unwrap_or_else(|violation| panic!("{violation}"));
    verify_module(&done).unwrap_or_else(|violation| panic!("{violation}\n{}", print_module(&done)));
    done
}

fn has(module: &TileModule, name: &str) -> bool {
    print_module(module).contains(name)
}

/// The text of a function of blocks with random forward branches, which pass up to two block arguments.
fn random_forward_branches(random: &mut SeededRng) -> String {
    let blocks = 2 + random.below(9);
    let takes: Vec<_> = (0..blocks).map(|block| if block == 0 { 0 } else { random.below(3) }).collect();
    let mut text = "module {\n tt.func public @f(%a: i32, %b: i32) -> i32 {\n".to_owned();
    text += "  %one = arith.constant 1 : i32\n  %seven = arith.constant 7 : i32\n";
    for block in 0..blocks {
        if block > 0 {
            let arguments: Vec<_> = (0..takes[block]).map(|one| format!("%x{block}_{one}: i32")).collect();
            let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
            let _ = writeln!(text, " ^b{block}{arguments}:");
        }
        let mut known = vec!["%a".to_owned(), "%b".to_owned(), "%one".to_owned(), "%seven".to_owned()];
        known.extend((0..takes[block]).map(|one| format!("%x{block}_{one}")));
        for op in 0..random.below(3) {
            let (a, b) = (&known[random.below(known.len())], &known[random.below(known.len())]);
            let name = ["addi", "muli"][random.below(2)];
            let _ = writeln!(text, "  %v{block}_{op} = arith.{name} {a}, {b} : i32");
            known.push(format!("%v{block}_{op}"));
        }
        let pick = |random: &mut SeededRng| known[random.below(known.len())].clone();
        let _ = writeln!(text, "  tt.print \"\" {{hex = false, isSigned = array<i32: 1>}} : {} : i32", pick(random));
        let to = |random: &mut SeededRng, plain: bool| {
            let target = block + 1 + random.below(blocks - block - 1);
            let along: Vec<_> = (0..takes[target]).map(|_| pick(random)).collect();
            let types = vec!["i32"; along.len()].join(", ");
            let _ = plain;
            if along.is_empty() { format!("^b{target}") } else { format!("^b{target}({} : {types})", along.join(", ")) }
        };
        let terminator = if block + 1 == blocks { 0 } else { random.below(5) };
        match terminator {
            0 => _ = writeln!(text, "  tt.return {} : i32", pick(random)),
            1 => _ = writeln!(text, "  cf.br {}", to(random, true)),
            4 => {
                let (a, b, c) = (to(random, false), to(random, false), to(random, false));
                let flag = pick(random);
                let _ = writeln!(text, "  cf.switch {flag} : i32, [\n default: {a},\n 1: {b},\n 7: {c}\n ]");
            }
            _ => {
                let (a, b) = (pick(random), pick(random));
                let _ = writeln!(text, "  %c{block} = arith.cmpi slt, {a}, {b} : i32");
                let (yes, no) = (to(random, false), to(random, false));
                let _ = writeln!(text, "  cf.cond_br %c{block}, {yes}, {no}");
            }
        }
    }
    text + " }\n}\n"
}

#[test]
fn forward_branches_become_equivalent_ifs() {
    let mut random = SeededRng::new(1);
    let (mut choices, mut operations) = (0, (0, 0));
    for _ in 0..600 {
        let text = random_forward_branches(&mut random);
        let module = read(&text);
        let done = structured(&module);
        assert!(!has(&done, " cf."), "{}", print_module(&done));
        choices += usize::from(has(&done, "scf.if"));
        let count = |module: &TileModule, name: &str| print_module(module).matches(name).count();
        // No operation is duplicated.
        assert!(count(&done, "tt.print") <= count(&module, "tt.print"), "{text}\n{}", print_module(&done));
        operations.0 += count(&module, "\n");
        operations.1 += count(&done, "\n");
        for (a, b) in [(0, 0), (1, 0), (0, 1), (7, 3), (3, 7), (1, 7), (100, 2)] {
            assert_eq!(
                run(&done, "f", &[a, b]),
                run(&module, "f", &[a, b]),
                "{a} {b}\n{text}\n{}",
                print_module(&done)
            );
        }
    }
    assert!(choices > 300, "{choices}");
    assert!(operations.1 < 4 * operations.0, "{operations:?}");
}

#[test]
fn an_early_return_becomes_a_choice_without_selectors() {
    let module = read(
        "module {
           tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %c: i1) {
             cf.cond_br %c, ^bb1, ^bb2
           ^bb1:
             tt.return
           ^bb2:
             tt.store %p, %n : !tt.ptr<i32>
             tt.return
           }
         }",
    );
    let expected = "module {
  tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %c: i1) {
    scf.if %c {
    } else {
      tt.store %p, %n : !tt.ptr<i32>
    }
    tt.return
  }
}
";
    assert_eq!(print_module(&structured(&module)), expected);
}

#[test]
fn regions_with_branches_become_one_block() {
    let module = read(
        "module {
           tt.func public @f(%a: tensor<8xi32>, %b: tensor<8xi32>) -> tensor<8xi32> {
             %m = \"tt.map_elementwise\"(%a, %b) <{pack = 1 : i32}> ({
             ^bb0(%p: i32, %q: i32):
               %more = arith.cmpi sgt, %p, %q : i32
               cf.cond_br %more, ^bb1, ^bb2
             ^bb1:
               %d = arith.subi %p, %q : i32
               cf.br ^bb3(%d : i32)
             ^bb2:
               cf.br ^bb3(%q : i32)
             ^bb3(%r: i32):
               tt.map_elementwise.return %r : i32
             }) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
             tt.return %m : tensor<8xi32>
           }
         }",
    );
    let printed = print_module(&structured(&module));
    let lines: Vec<_> = printed.lines().map(str::trim).skip(3).take(9).collect();
    assert_eq!(
        lines,
        [
            "^bb0(%p: i32, %q: i32):",
            "%more = arith.cmpi sgt, %p, %q : i32",
            "%r = scf.if %more -> (i32) {",
            "%d = arith.subi %p, %q : i32",
            "scf.yield %d : i32",
            "} else {",
            "scf.yield %q : i32",
            "}",
            "tt.map_elementwise.return %r : i32",
        ]
    );
}

#[test]
fn unreachable_blocks_are_removed() {
    let module = read(
        "module {
           tt.func public @f(%n: i32) -> i32 {
             tt.return %n : i32
           ^bb1:
             cf.br ^bb1
           }
         }",
    );
    assert!(!has(&structured(&module), "cf.br"));
}

const CALLS: &str = "module {
  tt.func private @inner(%x: i32, %y: i32) -> (i32, i32) {
    %c = arith.cmpi slt, %x, %y : i32
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %s = arith.addi %x, %y : i32
    tt.return %s, %x : i32, i32
  ^bb2:
    tt.print \"\" {hex = false, isSigned = array<i32: 1>} : %y : i32
    tt.return %y, %x : i32, i32
  }
  tt.func private @middle(%x: i32) -> i32 {
    %c2 = arith.constant 2 : i32
    %r:2 = tt.call @inner(%x, %c2) : (i32, i32) -> (i32, i32)
    %s:2 = tt.call @inner(%r#1, %r#0) : (i32, i32) -> (i32, i32)
    %t = arith.muli %s#0, %s#1 : i32
    tt.return %t : i32
  }
  tt.func public @f(%n: i32, %m: i32) -> i32 {
    %c = arith.cmpi slt, %n, %m : i32
    %r = scf.if %c -> (i32) {
      %a = tt.call @middle(%n) : (i32) -> i32
      scf.yield %a : i32
    } else {
      %b = scf.execute_region -> i32 {
        cf.cond_br %c, ^bb1, ^bb2
      ^bb1:
        scf.yield %n : i32
      ^bb2:
        %d = tt.call @middle(%m) : (i32) -> i32
        scf.yield %d : i32
      }
      scf.yield %b : i32
    }
    tt.return %r : i32
  }
}
";

#[test]
fn what_is_called_does_the_same_where_it_is_called() {
    let module = read(CALLS);
    let done = inline_calls(&structured(&module), &Dialects::neutral()).expect("no function calls itself");
    verify_module(&done).unwrap_or_else(|violation| panic!("{violation}\n{}", print_module(&done)));
    assert_eq!(done.functions.len(), 1);
    assert!(!has(&done, "tt.call") && !has(&done, "execute_region"));
    for n in 0..6 {
        for m in 0..6 {
            assert_eq!(run(&done, "f", &[n, m]), run(&module, "f", &[n, m]), "{n} {m}\n{}", print_module(&done));
        }
    }
}

fn refused(text: &str) -> String {
    let error: TileViolation = inline_calls(&read(text), &Dialects::neutral()).expect_err("a call that cannot be");
    error.to_text_error(text).to_string()
}

#[test]
fn calls_that_cannot_be_inlined_are_rejected_at_their_location() {
    let recursive = "module {
  tt.func private @a(%x: i32) {
    tt.call @b(%x) : (i32) -> ()
    tt.return
  }
  tt.func private @b(%x: i32) {
    tt.call @a(%x) : (i32) -> ()
    tt.return
  }
  tt.func public @f(%x: i32) {
    tt.call @a(%x) : (i32) -> ()
    tt.return
  }
}";
    assert_eq!(refused(recursive), "7:5: `tt.call`: `@a` calls itself, by `@f`, `@a`, `@b`: use a loop");
    let declared = "module {
  tt.func private @a(i32)
  tt.func public @f(%x: i32) {
    tt.call @a(%x) : (i32) -> ()
    tt.return
  }
}";
    assert_eq!(refused(declared), "4:5: `tt.call`: `@a` is a declaration without a body");
    // Each function calls the next one four times.
    let mut deep = "module {\n".to_owned();
    for level in 0..20 {
        let call = format!("    tt.call @f{}() : () -> ()\n", level + 1).repeat(4);
        let _ = writeln!(
            deep,
            "  tt.func {} @f{level}() {{\n{call}    tt.return\n  }}",
            if level == 0 { "public" } else { "private" }
        );
    }
    deep += "  tt.func private @f20() {\n    %c = arith.constant 1 : i32\n    tt.return\n  }\n}";
    assert!(refused(&deep).ends_with("`tt.call`: the calls become more than 1048576 operations"));
}

/// An operation in a branch or loop that was removed for itself is not counted again when the branch or loop is
/// removed.
#[test]
fn a_select_is_placed_after_its_operands() {
    let mut module = read(
        "module {
           tt.func public @f(%n: i32, %c: i1) {
             %c1 = arith.constant 1 : i32
             %x = scf.if %c -> (i32) {
               %d = arith.addi %n, %c1 : i32
               %e = arith.muli %d, %c1 : i32
               scf.yield %n : i32
             } else {
               scf.yield %c1 : i32
             }
             %s = scf.for %i = %c1 to %n step %c1 iter_args(%t = %n) -> (i32) : i32 {
               %u = arith.addi %t, %i : i32
               %v = arith.addi %u, %c1 : i32
               scf.yield %u : i32
             }
             tt.return
           }
         }",
    );
    remove_unused_operations(&mut module);
    assert_eq!(print_module(&module), "module {\n  tt.func public @f(%n: i32, %c: i1) {\n    tt.return\n  }\n}\n");
}

#[test]
fn unused_operations_go_with_what_only_they_use() {
    let mut module = read(
        "module {
           tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %c: i1) {
             %c1 = arith.constant 1 : i32
             %c2 = arith.constant 2 : i32
             %a = arith.addi %n, %c1 : i32
             %b = arith.muli %a, %a : i32
             %x = scf.if %c -> (i32) {
               %d = arith.addi %n, %c2 : i32
               scf.yield %d : i32
             } else {
               scf.yield %n : i32
             }
             %y = scf.if %c -> (i32) {
               tt.store %p, %c2 : !tt.ptr<i32>
               scf.yield %n : i32
             } else {
               scf.yield %n : i32
             }
             %s = scf.for %i = %c1 to %n step %c2 iter_args(%t = %n) -> (i32) : i32 {
               %u = arith.addi %t, %i : i32
               scf.yield %u : i32
             }
             %l = tt.load %p : !tt.ptr<i32>
             tt.return
           }
         }",
    );
    remove_unused_operations(&mut module);
    verify_module(&module).expect("what is used is still there");
    let expected = "module {
  tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %c: i1) {
    %c2 = arith.constant 2 : i32
    %y = scf.if %c -> (i32) {
      tt.store %p, %c2 : !tt.ptr<i32>
      scf.yield %n : i32
    } else {
      scf.yield %n : i32
    }
    %l = tt.load %p : !tt.ptr<i32>
    tt.return
  }
}
";
    assert_eq!(print_module(&module), expected);
}

/// Checks which additions become multiply-adds: a multiplication with no other use precedes them, and the type has a
/// multiply-add.
#[test]
fn products_without_other_uses_are_fused_with_their_sum() {
    for (body, expected) in [
        ("%p = arith.mulf %a, %b : f32\n %r = arith.addf %p, %c : f32", "%r = math.fma %a, %b, %c : f32"),
        ("%p = arith.mulf %a, %b : f32\n %r = arith.addf %c, %p : f32", "%r = math.fma %a, %b, %c : f32"),
        (
            "%p = arith.mulf %a, %b : f32\n %r = arith.subf %p, %c : f32",
            "%0 = arith.negf %c : f32\n %r = math.fma %a, %b, %0 : f32",
        ),
        (
            "%p = arith.mulf %a, %b : f32\n %r = arith.subf %c, %p : f32",
            "%0 = arith.negf %a : f32\n %r = math.fma %0, %b, %c : f32",
        ),
        (
            "%p = arith.mulf %a, %b : f32\n %q = arith.mulf %a, %c : f32\n %r = arith.addf %p, %q : f32",
            "%q = arith.mulf %a, %c : f32\n %r = math.fma %a, %b, %q : f32",
        ),
        (
            "%p = arith.mulf %a, %b : f32\n %s = arith.addf %p, %c : f32\n %r = arith.addf %p, %s : f32",
            "%p = arith.mulf %a, %b : f32\n %s = arith.addf %p, %c : f32\n %r = arith.addf %p, %s : f32",
        ),
    ] {
        let program = |body: &str, element: &str| {
            let body = body.replace("f32", element);
            read(&format!(
                "module {{ tt.func public @f(%a: {element}, %b: {element}, %c: {element}) -> {element} {{
 {body}
 tt.return %r : {element}
 }} }}"
            ))
        };
        for (element, is_fused) in [("f16", true), ("f32", true), ("f64", true), ("bf16", false)] {
            let before = program(body, element);
            let mut fused = fuse_multiply_adds(&before, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}"));
            remove_unused_operations(&mut fused);
            let expected = if is_fused { program(expected, element) } else { before };
            assert_eq!(print_module(&fused), print_module(&expected), "{element}");
        }
    }
}

/// A function that stores through a pointer, executes `between`, and loads through it.
fn store_and_load(between: &str, load: &str) -> String {
    format!(
        "module {{
 tt.func public @f(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %a: i32, %m: i1) -> i32 {{
  tt.store %p, %a : !tt.ptr<i32>
  {between}
  %x = tt.load {load} : !tt.ptr<i32>
  tt.return %x : i32
 }}
}}"
    )
}

#[test]
fn a_load_through_the_pointer_of_the_last_store_is_the_stored_value() {
    let unrelated = "%b = tt.load %q : !tt.ptr<i32>\n  %c = arith.addi %a, %b : i32";
    for (between, load, is_forwarded) in [
        ("", "%p", true),
        ("", "%p, %m", true),
        (unrelated, "%p", true),
        ("", "%p, %m, %a", false),
        ("", "%p {isVolatile = true}", false),
        ("", "%q", false),
        ("tt.store %q, %a : !tt.ptr<i32>", "%p", false),
        ("gpu.barrier", "%p", false),
        ("scf.if %m {\n   tt.store %q, %a : !tt.ptr<i32>\n  }", "%p", false),
    ] {
        let module = read(&store_and_load(between, load));
        let done = forward_stores(&module, &Dialects::neutral()).unwrap_or_else(|violation| panic!("{violation}"));
        verify_module(&done).unwrap_or_else(|violation| panic!("{violation}\n{}", print_module(&done)));
        let text = print_module(&done);
        assert_eq!(text.contains("tt.return %x"), !is_forwarded, "{between} {load}\n{text}");
        assert!(text.contains("tt.store"), "{text}");
    }
}
