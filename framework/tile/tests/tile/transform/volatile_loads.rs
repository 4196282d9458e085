//! Volatile loads.

use tilewright_tile::op::Dialects;
use tilewright_tile::text::{parse_module, print_module};
use tilewright_tile::transform::replace_volatile_loads;
use tilewright_tile::verify_transformed_module;

/// Returns the lines of a program with one load, after the transformation.
fn replaced(load: &str) -> Vec<String> {
    let text = format!(
        "tt.func @load(%p: !tt.ptr<i32>, %q: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>, %b: !tt.ptr<i1>) {{
  %z = arith.constant dense<0.0> : tensor<64xf32>
  %x = tt.load {load}
  tt.return
}}"
    );
    let module = parse_module(&text, &Dialects::neutral()).expect("a program");
    let replaced = replace_volatile_loads(&module, &Dialects::neutral()).expect("a program");
    verify_transformed_module(&replaced).expect("a program without violations");
    let lines = print_module(&replaced);
    lines
        .lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| line.starts_with("%") && !line.contains("constant"))
        .collect()
}

#[test]
fn volatile_loads_are_atomic() {
    let scalar = replaced("%p {isVolatile = true} : !tt.ptr<i32>");
    assert_eq!(scalar, ["%x = tt.atomic_load relaxed, sys, %p : (!tt.ptr<i32>) -> i32"]);
    let masked = replaced("%q, %m {isVolatile = true} : tensor<64x!tt.ptr<f32>>");
    let types = "(tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32>";
    let expected = [format!("%x = tt.atomic_load relaxed, sys, %q, %m : {types}")];
    assert_eq!(masked, expected);
    assert_eq!(replaced("%q, %m, %z {isVolatile = true} : tensor<64x!tt.ptr<f32>>"), expected);
    let [load, select] = &replaced("%q, %m, %o {isVolatile = true} : tensor<64x!tt.ptr<f32>>")[..] else {
        panic!("two operations")
    };
    let loaded = load.split(' ').next().expect("a result");
    assert!(load.ends_with(&format!("tt.atomic_load relaxed, sys, %q, %m : {types}")), "{load}");
    assert_eq!(*select, format!("%x = arith.select %m, {loaded}, %o : tensor<64xi1>, tensor<64xf32>"));
}

#[test]
fn other_loads_stay() {
    for load in ["%p : !tt.ptr<i32>", "%b {isVolatile = true} : !tt.ptr<i1>"] {
        assert!(replaced(load)[0].contains("tt.load"), "{load}");
    }
}
