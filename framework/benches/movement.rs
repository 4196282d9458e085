//! Planning: conversions of real kernels, and reductions, scans and gathers of their sources, uncached. `all` plans every conversion of the known answers
//! once; `typical` is the one whose time is the median, `slowest` the one that takes longest.

#![allow(missing_docs)]

#[path = "../tests/known_answers/mod.rs"]
mod known_answers;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use known_answers::sample_and_full;
use tilewright::layout::{Dim, LinearLayout, layout_from_json};
use tilewright::movement::{ScanDirection, convert, gather, reduce, scan};
use tilewright::target::TargetDescription;

struct Conversion<'a> {
    id: String,
    src: LinearLayout,
    dst: LinearLayout,
    bits: u32,
    target: &'a TargetDescription,
}

impl Conversion<'_> {
    fn plan(&self) {
        let plan = convert(black_box(&self.src), black_box(&self.dst), self.bits, self.target);
        black_box(plan.expect("a plan"));
    }

    /// The least time of several tries.
    fn time(&self) -> Duration {
        let tried = (0..20).map(|_| {
            let start = Instant::now();
            self.plan();
            start.elapsed()
        });
        tried.min().unwrap_or_default()
    }
}

fn targets() -> BTreeMap<String, TargetDescription> {
    let names: BTreeMap<String, String> =
        serde_json::from_str(include_str!("../tests/data/conversion_targets.json")).expect("names by target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../targets");
    let read = |(name, file): (String, String)| {
        let text = std::fs::read_to_string(folder.join(&file)).expect("the target's file");
        (name, TargetDescription::from_toml(&file, &text).expect("a sound target"))
    };
    names.into_iter().map(read).collect()
}

fn conversions(targets: &BTreeMap<String, TargetDescription>) -> Vec<Conversion<'_>> {
    let rows = sample_and_full(include_str!("../tests/data/conversions.jsonl"), "oracle/conversions.jsonl");
    let conversions = rows.iter().filter_map(|row| {
        let target = targets.get(row["target"].as_str()?)?;
        let layout = |side: &str| layout_from_json(&row[side]["layout"]).expect("a layout");
        let bits = row["element_bits"].as_u64()? as u32;
        Some(Conversion { id: row["id"].to_string(), src: layout("src"), dst: layout("dst"), bits, target })
    });
    conversions.collect()
}

fn planning(criterion: &mut Criterion) {
    let targets = targets();
    let mut conversions: Vec<_> = conversions(&targets).into_iter().map(|one| (one.time(), one)).collect();
    conversions.sort_by_key(|(time, _)| *time);
    let shown =
        [conversions.len() / 2, conversions.len() * 9 / 10, conversions.len() * 99 / 100, conversions.len() - 1];
    for at in shown {
        let (time, one) = &conversions[at];
        println!("{:3}% take at most {time:?} ({})", 100 * (at + 1) / conversions.len(), one.id);
    }
    let mut group = criterion.benchmark_group("plan_conversion");
    group.bench_function("typical", |b| b.iter(|| conversions[conversions.len() / 2].1.plan()));
    group.bench_function("slowest", |b| b.iter(|| conversions[conversions.len() - 1].1.plan()));
    group.throughput(Throughput::Elements(conversions.len() as u64));
    group.bench_function("all", |b| b.iter(|| conversions.iter().for_each(|(_, one)| one.plan())));
}

/// Along the last axis of each conversion's source; some of them have no scan.
fn along_an_axis(criterion: &mut Criterion) {
    let targets = targets();
    let conversions = conversions(&targets);
    let axis = |layout: &LinearLayout| layout.outs().dims().max().unwrap_or(Dim::tensor(0));
    let mut group = criterion.benchmark_group("plan_along_an_axis");
    group.throughput(Throughput::Elements(conversions.len() as u64));
    let mut bench = |name: &str, plan: &dyn Fn(&Conversion<'_>, Dim)| {
        group.bench_function(name, |b| b.iter(|| conversions.iter().for_each(|one| plan(one, axis(&one.src)))));
    };
    bench("reduce", &|one, axis| drop(black_box(reduce(&one.src, axis, &[one.bits], one.target))));
    bench("scan", &|one, axis| drop(black_box(scan(&one.src, axis, &[one.bits], ScanDirection::Up, one.target))));
    bench("gather", &|one, axis| drop(black_box(gather(&one.src, &one.src, axis, one.bits, one.target))));
}

criterion_group!(benches, planning, along_an_axis);
criterion_main!(benches);
