//! The text form: what is parsed is printed again, as Triton prints it.

use std::path::{Path, PathBuf};

use tilewright_tile::op::Dialects;
use tilewright_tile::text::{parse_module, print_module};
use tilewright_tile::{TileModule, verify_module};

/// The programs of a folder of this crate, each with its path.
fn programs(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut programs: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|end| ["ttir", "ttgir"].iter().any(|known| end == *known)))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a program that can be read");
            (path, text)
        })
        .collect();
    programs.sort();
    programs
}

fn read(path: &Path, text: &str) -> TileModule {
    let module = parse_module(text, &Dialects::neutral()).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
    if let Err(violation) = verify_module(&module) {
        panic!("{}:{}", path.display(), violation.to_text_error(text));
    }
    module
}

/// The programs are Triton 3.9.0's own output for the same programs, except the names of values; `older.ttir` has what
/// Triton 3.8 writes differently.
#[test]
fn every_operation_is_written_as_triton_writes_it() {
    for (path, text) in programs("tests/programs") {
        let written = text.lines().filter(|line| !line.starts_with("//")).map(|line| format!("{line}\n"));
        let (written, printed) = (written.collect::<String>(), print_module(&read(&path, &text)));
        for (expected, found) in written.lines().zip(printed.lines()) {
            assert_eq!(found, expected, "{}", path.display());
        }
        assert_eq!(printed.lines().count(), written.lines().count(), "{}", path.display());
    }
}

/// The generic form parses to the same module, which prints in the custom format.
#[test]
fn the_generic_form_is_read_too() {
    let generic = r#""builtin.module"() ({
  "tt.func"() <{arg_attrs = [{}, {}, {tt.divisibility = 16 : i32}], function_type = (tensor<8x!tt.ptr<f32>>, tensor<8xi1>, f32) -> (), sym_name = "f", sym_visibility = "public"}> ({
  ^bb0(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %x: f32):
    %v = "tt.load"(%p, %m) <{isVolatile = false, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<8xf32>
    %c = "arith.cmpf"(%x, %x) <{fastmath = #arith.fastmath<none>, predicate = 2 : i64}> {note = "kept"} : (f32, f32) -> i1
    "cf.cond_br"(%c, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, f32) -> ()
  ^bb1(%y: f32):
    "tt.return"() : () -> ()
  ^bb2:
    "tt.return"() : () -> ()
  }) {noinline = false} : () -> ()
}) {ttg.target = "none"} : () -> ()
"#;
    let plain = "module attributes {ttg.target = \"none\"} {
  tt.func public @f(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %x: f32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %v = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
    %c = arith.cmpf ogt, %x, %x {note = \"kept\"} : f32
    cf.cond_br %c, ^bb1(%x : f32), ^bb2
  ^bb1(%y: f32):
    tt.return
  ^bb2:
    tt.return
  }
}
";
    assert_eq!(print_module(&read(Path::new("generic"), generic)), plain);
}

/// Aliases of locations, layouts and types are resolved, and comments are dropped. Operations and attributes with names
/// of earlier versions are read, and printed by their current names.
#[test]
fn earlier_names_are_read() {
    let earlier = "module {\n  tt.func @f() attributes {tw.ahead} {\n    tw.await_boxes {outstanding = 0 : i32}\n    tt.return\n  }\n}\n";
    let current = earlier.replace("tw.ahead", "tw.prefetch").replace("tw.await_boxes", "tw.bulk_tensor_wait");
    let printed = |text: &str| print_module(&read(Path::new("earlier.ttir"), text));
    assert_eq!(printed(earlier), printed(&current));
    assert!(printed(earlier).contains("tw.bulk_tensor_wait"), "{}", printed(earlier));
}

#[test]
fn names_stand_for_what_they_name() {
    let text = "#loc = loc(\"f.py\":1:2)
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
!pointer = !tt.ptr<f16>
module attributes {\"ttg.num-warps\" = 1 : i32} {
  tt.func @f(%p: !pointer loc(\"p\"(#loc)), %x: tensor<8x16xf32, #rows>) { // a comment
    %y = arith.addf %x, %x : tensor<8x16xf32, #rows> loc(#loc1)
    %s = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(callsite(\"y\"(#loc) at unknown))
";
    let printed = print_module(&read(Path::new("names"), text));
    let blocked =
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";
    let expected = format!(
        "#blocked = {blocked}
#slice = #ttg.slice<{{dim = 1, parent = {blocked}}}>
module attributes {{ttg.num-warps = 1 : i32}} {{
  tt.func @f(%p: !tt.ptr<f16>, %x: tensor<8x16xf32, #blocked>) {{
    %y = arith.addf %x, %x : tensor<8x16xf32, #blocked> loc(callsite(\"y\"(\"f.py\":1:2) at unknown))
    %s = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32, #slice>
    tt.return loc(\"f.py\":1:2)
  }} loc(\"f.py\":1:2)
}} loc(\"f.py\":1:2)
"
    );
    assert_eq!(printed, expected.replace("{ttg.num-warps", "{\"ttg.num-warps\""));
    assert_eq!(print_module(&read(Path::new("names"), &printed)), printed);
}
