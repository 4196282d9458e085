//! Benchmarks of planning data movement without caches: layout conversions of real kernels, once with plain accesses
//! and once with all instructions of the target; and reductions, scans and gathers of the conversions' source layouts.
//!
//! The benchmark `all` plans every conversion of the known answers once. `typical` plans the conversion with the median
//! planning time, and `slowest` the conversion with the longest.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tilewright_layout::{Dim, LinearLayout, layout_from_json};
use tilewright_plan::movement::{PlanContext, ScanDirection, plan_conversion, plan_gather, plan_reduction, plan_scan};
use tilewright_target::{Instruction, TargetDescription};
use tilewright_testkit::known_answers::Answers;
use tilewright_testkit::shared_data;

struct Conversion<'a> {
    id: String,
    src: LinearLayout,
    dst: LinearLayout,
    bits: u32,
    target: &'a BenchTarget,
}

/// A target description with the instruction table of its plugin.
struct BenchTarget {
    target: TargetDescription,
    rows: Vec<Instruction>,
}

impl Conversion<'_> {
    fn plan(&self, by_rows: bool) {
        let plan_context = PlanContext::new(&self.target.target);
        let plan_context = if by_rows { plan_context.with_instructions(&self.target.rows) } else { plan_context };
        let plan = plan_conversion(black_box(&self.src), black_box(&self.dst), self.bits, plan_context);
        black_box(plan.expect("a plan"));
    }

    /// Returns the shortest planning time of 20 runs, since interruptions only add time.
    fn time(&self, by_rows: bool) -> Duration {
        let tried = (0..20).map(|_| {
            let start = Instant::now();
            self.plan(by_rows);
            start.elapsed()
        });
        tried.min().unwrap_or_default()
    }
}

fn bench_targets() -> BTreeMap<String, BenchTarget> {
    let names: BTreeMap<String, String> =
        serde_json::from_str(include_str!("../../../plugins/testkit/data/conversion_targets.json"))
            .expect("names by target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets");
    let read = |(name, file): (String, String)| {
        let text = std::fs::read_to_string(folder.join(&file)).expect("the target's file");
        let target = TargetDescription::from_toml(&file, &text).expect("a sound target");
        let mut rows = tilewright_nvidia_tables::instructions::instructions_of(&target.architecture);
        rows.extend(tilewright_amd_tables::instructions::instructions_of(&target.architecture));
        (name, BenchTarget { target, rows })
    };
    names.into_iter().map(read).collect()
}

fn conversions(targets: &BTreeMap<String, BenchTarget>) -> Vec<Conversion<'_>> {
    const FULL: &str = "oracle/conversions.jsonl";
    let answers = if shared_data::path(FULL).exists() { Answers::All } else { Answers::Sample };
    let rows = answers.rows(include_str!("../../../plugins/testkit/data/conversions.jsonl"), FULL);
    let conversions = rows.iter().filter_map(|row| {
        let target = targets.get(row["target"].as_str()?)?;
        let layout = |side: &str| layout_from_json(&row[side]["layout"]).expect("a layout");
        let bits = row["element_bits"].as_u64()? as u32;
        Some(Conversion { id: row["id"].to_string(), src: layout("src"), dst: layout("dst"), bits, target })
    });
    conversions.collect()
}

fn planning(criterion: &mut Criterion) {
    let targets = bench_targets();
    for (name, by_rows) in [("plan_conversion", false), ("plan_conversion_by_rows", true)] {
        let conversions = conversions(&targets).into_iter().map(|one| (one.time(by_rows), one));
        let mut conversions: Vec<_> = conversions.collect();
        conversions.sort_by_key(|(time, _)| *time);
        let last = conversions.len() - 1;
        println!("{name}:");
        for at in [last / 2, last * 9 / 10, last * 99 / 100, last] {
            let (time, one) = &conversions[at];
            println!("{:3}% take at most {time:?} ({})", 100 * (at + 1) / conversions.len(), one.id);
        }
        let mut group = criterion.benchmark_group(name);
        group.bench_function("typical", |b| b.iter(|| conversions[last / 2].1.plan(by_rows)));
        group.bench_function("slowest", |b| b.iter(|| conversions[last].1.plan(by_rows)));
        group.throughput(Throughput::Elements(conversions.len() as u64));
        group.bench_function("all", |b| b.iter(|| conversions.iter().for_each(|(_, one)| one.plan(by_rows))));
    }
}

/// Benchmarks plans along the last axis of each conversion's source layout. A layout without a scan is skipped.
fn along_an_axis(criterion: &mut Criterion) {
    let targets = bench_targets();
    let conversions = conversions(&targets);
    let axis = |layout: &LinearLayout| layout.outs().dims().max().unwrap_or(Dim::tensor(0));
    let mut group = criterion.benchmark_group("plan_along_an_axis");
    group.throughput(Throughput::Elements(conversions.len() as u64));
    let mut bench = |name: &str, plan: &dyn Fn(&Conversion<'_>, Dim)| {
        group.bench_function(name, |b| b.iter(|| conversions.iter().for_each(|one| plan(one, axis(&one.src)))));
    };
    bench("reduce", &|one, axis| drop(black_box(plan_reduction(&one.src, axis, &[one.bits], &one.target.target))));
    bench("scan", &|one, axis| {
        drop(black_box(plan_scan(&one.src, axis, &[one.bits], ScanDirection::Forward, &one.target.target)))
    });
    bench("gather", &|one, axis| drop(black_box(plan_gather(&one.src, &one.src, axis, one.bits, &one.target.target))));
}

criterion_group!(benches, planning, along_an_axis);
criterion_main!(benches);
