//! Layout assignment of long programs: time and memory per operation must not depend on the number of operations.

#![allow(missing_docs)]

use tilewright_testkit::long_program;

use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tilewright_assign::{LaunchConfig, Strategy, assign_layouts};
use tilewright_layout::families::NeutralFamilies;
use tilewright_plan::movement::PlanContext;
use tilewright_target::TargetDescription;
use tilewright_tile::op::Dialects;
use tilewright_tile::text;

/// An allocator that counts the heap bytes in use and their maximum.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// `GlobalAlloc` is unsafe to implement; this allocator forwards every call to the system's.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        let now = NOW.fetch_add(block.size(), Ordering::Relaxed) + block.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(block) }
    }

    unsafe fn dealloc(&self, at: *mut u8, block: Block) {
        NOW.fetch_sub(block.size(), Ordering::Relaxed);
        // SAFETY: as above; `at` came from the system's allocator.
        unsafe { System.dealloc(at, block) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Max heap bytes that `work` uses, besides those in use before.
fn most_bytes(work: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    work();
    MOST.load(Ordering::Relaxed) - before
}

fn long_programs(criterion: &mut Criterion) {
    let target = include_str!("../../targets/h100.toml");
    let target = TargetDescription::from_toml("h100.toml", target).expect("a target");
    let config = LaunchConfig { context: PlanContext::new(&target), families: &NeutralFamilies, lanes: 32, warps: 4 };
    for (name, strategy) in [("propagation", Strategy::Propagation), ("least cost", Strategy::LeastCost)] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for count in [1000, 2000, 5000, 10_000] {
            let module = text::parse_module(&long_program::text(count), &Dialects::neutral()).expect("a program");
            let most = most_bytes(|| drop(black_box(assign_layouts(black_box(&module), &config, strategy))));
            println!("{name}/{count}: {} bytes of heap for each operation at most", most / count);
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::from_parameter(count), |b| {
                b.iter(|| assign_layouts(black_box(&module), &config, strategy));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, long_programs);
criterion_main!(benches);
