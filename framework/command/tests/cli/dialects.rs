//! Tests of `tilewright operations`, which describes the operations of tile programs.

use std::collections::BTreeSet;

use tilewright::tile::{OpDefinition, ValueGroup};

use crate::command::{run, tilewright};

fn operations(name: &str) -> String {
    run(tilewright().args(["operations", name])).ok().to_owned()
}

/// The first words of the lines behind the header.
fn first_words(text: &str) -> Vec<&str> {
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn every_operation_is_listed() {
    let dialects = run(tilewright().arg("operations")).ok().to_owned();
    let listed: Vec<String> = first_words(&dialects).into_iter().map(operations).collect();
    let listed: BTreeSet<&str> = listed.iter().flat_map(|text| first_words(text)).collect();
    let known = tilewright_dialects::all_dialects();
    assert_eq!(listed, known.iter().map(|definition| &*definition.name).collect());
}

#[test]
fn a_description_has_operands_results_attributes_and_rules() {
    let text = operations("tt.atomic_cas");
    for line in [
        "operands    ptr: a scalar or tensor of pointers",
        "results     result: a scalar or tensor of values",
        "attributes  sem: one of `acq_rel`, `acquire`, `relaxed`, `release`",
        "rules       cmp = pointee(ptr)",
        "compiled    yes",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(operations("ttng.tc_gen5_mma").contains("compiled    as neutral operations"));
    assert!(operations("amdg.masked_load").contains("compiled    no: the pointers of LLVM"));
}

/// Returns the names of the operations that `tilewright operations` lists as compiled, without a replacement.
fn compiled() -> Vec<String> {
    let dialects = run(tilewright().arg("operations")).ok().to_owned();
    let listed: Vec<String> = first_words(&dialects).into_iter().map(operations).collect();
    let lines = listed.iter().flat_map(|text| text.lines().skip(1));
    let names = lines.filter(|line| line.ends_with(" yes")).filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// Returns operation `number` of a program in MLIR's generic form, on the tensors `%f` of `f32` and `%i` of `i32`; `None`
/// unless all operands are numbers of one of these types and the result has the type of an operand.
fn elementwise_operation(number: usize, definition: &OpDefinition) -> Option<String> {
    let of = |group: &ValueGroup| match group.class.to_string() {
        class if class.contains("floating-point numbers") => Some(("%f", "f32")),
        class if class.contains("integers") => Some(("%i", "i32")),
        _ => None,
    };
    let operands: Vec<_> = definition.operands.iter().map(of).collect::<Option<_>>()?;
    let result = definition.results.first().filter(|_| definition.results.len() == 1)?;
    let is_rule =
        |left: &str, right: &str| definition.types.iter().any(|rule| rule.to_string() == format!("{left} = {right}"));
    let equal = |group: &ValueGroup| is_rule(&group.name, &result.name) || is_rule(&result.name, &group.name);
    let (value, element) = operands[definition.operands.iter().position(equal)?];
    let is_complete = definition.attributes.iter().all(|attribute| !attribute.required || attribute.default.is_some());
    let values: Vec<&str> = operands.iter().map(|(value, _)| *value).collect();
    let types: Vec<String> = operands.iter().map(|(_, element)| format!("tensor<128x{element}>")).collect();
    let (name, values, types) = (&definition.name, values.join(", "), types.join(", "));
    let stored = format!("tt.store %p{}, %r{number} : tensor<128x!tt.ptr<{element}>>", &value[1..]);
    is_complete
        .then(|| format!("    %r{number} = \"{name}\"({values}) : ({types}) -> tensor<128x{element}>\n    {stored}\n"))
}

/// Checks that elementwise operations which are listed as compiled are: one program has all that a simple form fits.
#[test]
fn listed_elementwise_operations_are_compiled() {
    let (known, listed) = (tilewright_dialects::all_dialects(), compiled());
    let is_listed = |one: &OpDefinition| one.traits.elementwise && listed.iter().any(|name| **name == *one.name);
    let definitions = known.iter().filter(|one| is_listed(one)).enumerate();
    let operations: Vec<String> = definitions.filter_map(|(number, one)| elementwise_operation(number, one)).collect();
    assert!(operations.len() > 100, "{} operations", operations.len());
    let start = "module {
  tt.func public @k(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>) {
    %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %pf = tt.addptr %ps, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %f = tt.load %pf : tensor<128x!tt.ptr<f32>>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %pi = tt.addptr %qs, %at : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %i = tt.load %pi : tensor<128x!tt.ptr<i32>>\n";
    let program = format!("{start}{}    tt.return\n  }}\n}}\n", operations.concat());
    let file = std::env::temp_dir().join(format!("tilewright-operations-{}.ttir", std::process::id()));
    std::fs::write(&file, program).expect("a file");
    let compile = ["compile", "--target", "a100", "--warps", "4", "--emit", "kernel", "-o", "/dev/null"];
    let ran = run(tilewright().args(compile).arg(&file));
    std::fs::remove_file(&file).expect("the file");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// Checks operations that are read and verified but have no meaning in a tile program.
#[test]
fn operations_without_a_lowering_are_listed_with_the_remedy() {
    for name in ["gpu.thread_id", "llvm.mlir.constant", "builtin.unrealized_conversion_cast", "arith.scaling_truncf"] {
        assert!(operations(name).contains("compiled    no: "), "{name}");
    }
}

#[test]
fn an_unknown_operation_is_answered_with_the_nearest() {
    let failed = run(tilewright().args(["operations", "ttng.tc_gen5_mm"]));
    assert_eq!(failed.code, Some(2));
    let expected = "error: there is no dialect or operation `ttng.tc_gen5_mm`; did you mean `ttng.tc_gen5_mma`?\n";
    assert_eq!(failed.err, expected);
}
