//! Layouts of long programs: the time for one operation must not depend on how many there are.

#![allow(missing_docs)]

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tilewright::engine::{Machine, Strategy, assign};
use tilewright::layout::families::Neutral;
use tilewright::movement::Means;
use tilewright::target::TargetDescription;
use tilewright::tile::op::Dialects;
use tilewright::tile::{Module, text};

/// A program of so many operations: sums of what was loaded or computed before, turned about now and then.
fn program(count: usize) -> Module {
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
            5 => writeln!(lines, "    %v{number} = tt.load %a : tensor<1024x!tt.ptr<f32>>"),
            _ => writeln!(lines, "    %v{number} = arith.addf %v{before}, %v{} : {line}", number / 2),
        };
        written.expect("text");
    }
    let last = count - 1;
    write!(lines, "    tt.store %a, %v{last} : tensor<1024x!tt.ptr<f32>>\n    tt.return\n  }} }}").expect("text");
    text::parse(&lines, &Dialects::neutral()).expect("a program")
}

fn long_programs(criterion: &mut Criterion) {
    let target = include_str!("../../targets/h100.toml");
    let target = TargetDescription::from_toml("h100.toml", target).expect("a target");
    let machine = Machine { means: Means::of(&target), families: &Neutral, lanes: 32, warps: 4 };
    for (name, strategy) in [("propagation", Strategy::Propagation), ("least cost", Strategy::LeastCost)] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for count in [1000, 2000, 5000, 10_000] {
            let module = program(count);
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::from_parameter(count), |b| {
                b.iter(|| assign(black_box(&module), &machine, strategy));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, long_programs);
criterion_main!(benches);
