//! Times the construction of the layouts of `layouts.json`, including those of the vendors' layout families.

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tilewright_peers::{call_with_all_vendor_families, read_layout_timing_cases};

fn families(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("family");
    call_with_all_vendor_families(|families| {
        for case in read_layout_timing_cases().expect("the layouts") {
            families.resolve(&case.spec, &case.shape, families).expect("a layout");
            group.bench_function(&case.name, |bencher| {
                bencher.iter(|| families.resolve(black_box(&case.spec), black_box(&case.shape), families));
            });
        }
    });
    group.finish();
}

criterion_group!(benches, families);
criterion_main!(benches);
