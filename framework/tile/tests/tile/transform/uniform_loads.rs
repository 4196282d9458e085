//! Loads of one address for all elements become scalar loads.

use tilewright_tile::op::Dialects;
use tilewright_tile::text::print_module;
use tilewright_tile::transform::{load_uniform_addresses_once, remove_unused_operations};

use super::read;

/// A function that loads one scale for each group of 128 columns; a program has `columns` of them.
fn load_scales(columns: u64, load: &str) -> String {
    format!(
        "module {{
 tt.func public @f(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %k: i32, %m: i1) {{
  %size = arith.constant {columns} : i32
  %group = arith.constant dense<128> : tensor<{columns}xi32>
  %id = tt.get_program_id x : i32
  %first = arith.muli %id, %size : i32
  %firsts = tt.splat %first : i32 -> tensor<{columns}xi32>
  %range = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
  %n = arith.addi %firsts, %range : tensor<{columns}xi32>
  %g = arith.divsi %n, %group : tensor<{columns}xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<{columns}x!tt.ptr<f32>>
  %at = tt.addptr %ps, %g : tensor<{columns}x!tt.ptr<f32>>, tensor<{columns}xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<{columns}x!tt.ptr<f32>>
  %to = tt.addptr %os, %n : tensor<{columns}x!tt.ptr<f32>>, tensor<{columns}xi32>
  %ms = tt.splat %m : i1 -> tensor<{columns}xi1>
  %zeros = arith.constant dense<0.0> : tensor<{columns}xf32>
  {load}
  tt.store %to, %x : tensor<{columns}x!tt.ptr<f32>>
  tt.return
 }}
}}"
    )
}

/// The lines of the transformed function with loads.
fn loads(columns: u64, load: &str) -> Vec<String> {
    let module = read(&load_scales(columns, load));
    let mut done = load_uniform_addresses_once(&module, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}"));
    remove_unused_operations(&mut done);
    let text = print_module(&done);
    read(&text);
    text.lines().filter(|line| line.contains("tt.load")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_load_of_one_scale_for_all_columns_is_scalar() {
    let plain = |columns: u64| format!("%x = tt.load %at : tensor<{columns}x!tt.ptr<f32>>");
    let masked = "%x = tt.load %at, %ms, %zeros : tensor<64x!tt.ptr<f32>>";
    let is_scalar = |lines: Vec<String>| matches!(&lines[..], [line] if !line.contains("tensor"));
    assert!(is_scalar(loads(64, &plain(64))));
    assert!(is_scalar(loads(128, &plain(128))));
    assert!(is_scalar(loads(64, masked)));
    // The columns of one program belong to two groups.
    assert!(!is_scalar(loads(256, &plain(256))));
    // Volatile loads stay as they are, and a mask may select some elements only.
    assert!(!is_scalar(loads(64, "%x = tt.load %at {isVolatile = true} : tensor<64x!tt.ptr<f32>>")));
    let partly = "%is = arith.cmpi slt, %range, %ks : tensor<64xi32>";
    let partly = format!(
        "%ks = tt.splat %k : i32 -> tensor<64xi32>\n  {partly}\n  %x = tt.load %at, %is, %zeros : tensor<64x!tt.ptr<f32>>"
    );
    assert!(!is_scalar(loads(64, &partly)));
}
