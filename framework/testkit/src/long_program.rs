//! Generates long tile programs for measurements of compile time.

use std::fmt::Write;

/// Returns the text of a program of slightly more than `count` operations: additions of values that were loaded or
/// computed before, with occasional transpositions. The result depends on all of the operations.
pub fn text(count: usize) -> String {
    let mut lines = String::from(
        "module { tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %b = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %a = tt.addptr %b, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %v0 = tt.load %a : tensor<1024x!tt.ptr<f32>>
",
    );
    let (line, square) = ("tensor<1024xf32>", "tensor<32x32xf32>");
    for number in 1..count {
        let before = number - 1;
        let written = match number % 10 {
            0 => writeln!(
                lines,
                "    %r{number} = tt.reshape %v{before} : {line} -> {square}
    %t{number} = tt.trans %r{number} {{order = array<i32: 1, 0>}} : {square} -> {square}
    %v{number} = tt.reshape %t{number} : {square} -> {line}"
            ),
            5 => writeln!(
                lines,
                "    %l{number} = tt.load %a : tensor<1024x!tt.ptr<f32>>
    %v{number} = arith.addf %v{before}, %l{number} : {line}"
            ),
            _ => writeln!(lines, "    %v{number} = arith.addf %v{before}, %v{} : {line}", number / 2),
        };
        written.expect("text");
    }
    let last = count - 1;
    write!(lines, "    tt.store %a, %v{last} : tensor<1024x!tt.ptr<f32>>\n    tt.return\n  }} }}").expect("text");
    lines
}
