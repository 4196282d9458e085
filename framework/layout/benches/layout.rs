//! The layout core's operations, on layouts of real kernels: a 128x64 tensor, 4 warps of 32 lanes.

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, FamilySpec, LinearLayout, parse_family_spec};

const SHAPE: [u64; 2] = [128, 64];

fn family(text: &str) -> FamilySpec {
    parse_family_spec(text).expect("a family")
}

fn blocked(size: &str, lanes: &str, order: &str) -> FamilySpec {
    family(&format!(
        "#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {lanes}, warpsPerCTA = [4, 1], order = {order}}}>"
    ))
}

fn resolved(spec: &FamilySpec) -> LinearLayout {
    NeutralFamilies.resolve(spec, &SHAPE, &NeutralFamilies).expect("a layout").linear().clone()
}

fn algebra(criterion: &mut Criterion) {
    let rows = resolved(&blocked("[1, 8]", "[4, 8]", "[1, 0]"));
    let columns = resolved(&blocked("[4, 1]", "[8, 4]", "[0, 1]"));
    let inverse = columns.invert().expect("one value an element");
    let point = [(Dim::REGISTER, 5), (Dim::LANE, 13), (Dim::WARP, 2)];
    let quarter = LinearLayout::identity(4, Dim::BLOCK, Dim::tensor(0)).expect("a power of two");
    criterion.bench_function("apply", |b| b.iter(|| black_box(&rows).apply(black_box(&point))));
    criterion.bench_function("apply_packed", |b| b.iter(|| black_box(&rows).apply_packed(black_box(0b11_0110_1101))));
    criterion.bench_function("compose", |b| b.iter(|| black_box(&rows).compose(black_box(&inverse))));
    criterion.bench_function("invert", |b| b.iter(|| black_box(&rows).invert()));
    criterion.bench_function("pseudoinvert", |b| b.iter(|| black_box(&rows).pseudoinvert()));
    criterion
        .bench_function("invert_and_compose", |b| b.iter(|| black_box(&rows).invert_and_compose(black_box(&columns))));
    criterion.bench_function("direct_sum", |b| b.iter(|| black_box(&rows).direct_sum(black_box(&quarter))));
}

fn families(criterion: &mut Criterion) {
    let parent =
        "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let layouts = [
        ("family_blocked", parent.to_owned(), 2),
        ("family_slice", format!("#ttg.slice<{{dim = 1, parent = {parent}}}>"), 1),
        ("family_dot_operand", format!("#ttg.dot_op<{{opIdx = 0, parent = {parent}}}>"), 2),
        (
            "family_swizzled_shared",
            "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>".to_owned(),
            2,
        ),
    ];
    for (name, text, rank) in layouts {
        let (spec, shape) = (family(&text), &SHAPE[..rank]);
        NeutralFamilies.resolve(&spec, shape, &NeutralFamilies).expect("a layout");
        criterion.bench_function(name, |b| {
            b.iter(|| NeutralFamilies.resolve(black_box(&spec), black_box(shape), &NeutralFamilies))
        });
    }
}

fn planning(criterion: &mut Criterion) {
    let text = tilewright_testkit::test_targets::SMALL;
    let target = tilewright_target::TargetDescription::from_toml("small.toml", text).expect("a target");
    let small = |order: [u64; 2]| {
        let lanes = u64::from(target.lanes.default);
        let text = format!(
            "#ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [{}, 2], warpsPerCTA = [1, 2], order = {order:?}}}>",
            lanes / 2
        );
        NeutralFamilies.resolve(&family(&text), &[16, 16], &NeutralFamilies).expect("a layout").linear().clone()
    };
    let (src, dst) = (small([1, 0]), small([0, 1]));
    tilewright_plan::movement::plan_conversion(&src, &dst, 32, &target).expect("a plan");
    criterion.bench_function("plan_conversion", |b| {
        b.iter(|| tilewright_plan::movement::plan_conversion(black_box(&src), black_box(&dst), 32, &target))
    });
}

criterion_group!(benches, algebra, families, planning);
criterion_main!(benches);
