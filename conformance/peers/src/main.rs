//! Times the layout library and prints JSON: nanoseconds of each operation on layouts and of the construction of each
//! layout.
//!
//! Each layout is part of the output, so that `beside_triton.py` can verify that both programs built the same one.
//!
//! Calls are timed in batches of some microseconds, and the fastest batch counts: on a shared machine, interruptions
//! only add to the time.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tilewright_layout::{Dim, Families, FamilyError, layout_to_json};
use tilewright_peers::{BenchmarkLayouts, LayoutTimingCase, call_with_all_vendor_families, read_layout_timing_cases};

/// Time after which a measurement starts no further batch.
const LONG: Duration = Duration::from_millis(400);
/// Target time of a batch: long enough for the clock's resolution, short enough to run without interruption.
const BATCH: Duration = Duration::from_micros(8);

fn main() -> Result<(), Box<dyn Error>> {
    let operations = operations()?;
    let cases = read_layout_timing_cases()?;
    let families = call_with_all_vendor_families(|families| {
        cases.iter().map(|case| built(case, families)).collect::<Result<Vec<_>, _>>()
    })?;
    println!("{}", json!({ "operations": operations, "families": families }));
    Ok(())
}

/// Times batches of calls of `work`, and returns the nanoseconds of one call in the fastest batch.
fn nanoseconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let (mut best, mut calls, start) = (f64::MAX, 1u32, Instant::now());
    while start.elapsed() < LONG {
        let batch = Instant::now();
        for _ in 0..calls {
            black_box(work());
        }
        let took = batch.elapsed();
        best = best.min(took.as_nanos() as f64 / f64::from(calls));
        if took < BATCH && calls < 1 << 16 {
            calls *= 2;
        }
    }
    best
}

fn operations() -> Result<BTreeMap<&'static str, f64>, Box<dyn Error>> {
    let BenchmarkLayouts { rows, columns, blocks } = BenchmarkLayouts::new()?;
    let inverse = columns.invert()?;
    let (rows, columns, inverse, blocks) = (&rows, &columns, &inverse, &blocks);
    let point = [(Dim::REGISTER, 5), (Dim::LANE, 13), (Dim::WARP, 2)];
    Ok(BTreeMap::from([
        ("apply", nanoseconds(|| black_box(rows).apply(black_box(&point)))),
        ("compose", nanoseconds(|| black_box(rows).compose(black_box(inverse)))),
        ("invert", nanoseconds(|| black_box(rows).invert())),
        ("invert_and_compose", nanoseconds(|| black_box(rows).invert_and_compose(black_box(columns)))),
        ("pseudoinvert", nanoseconds(|| black_box(rows).pseudoinvert())),
        ("direct_sum", nanoseconds(|| black_box(rows).direct_sum(black_box(blocks)))),
    ]))
}

fn built(case: &LayoutTimingCase, families: &dyn Families) -> Result<Value, FamilyError> {
    let layout = families.resolve(&case.spec, &case.shape, families)?;
    let took = nanoseconds(|| families.resolve(black_box(&case.spec), black_box(&case.shape), families));
    Ok(json!({ "name": case.name, "nanoseconds": took, "layout": layout_to_json(layout.linear()) }))
}
