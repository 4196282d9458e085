//! The choice of shared-memory layouts for operands of AMD's matrix instructions. The memory is filled from registers,
//! or by asynchronous copies that write consecutive addresses.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_amd::AmdTarget;
use tilewright_plan::movement::{
    SharedLayoutKind, SharedLayoutSearchOptions, WarpAddressedSharedCopy, choose_shared_layout,
};
use tilewright_vendor_testkit::layouts::{resolve_distributed, resolve_memory};
use tilewright_vendor_testkit::memory_choice::{check, executed};
use tilewright_vendor_testkit::prelude::*;

fn cdna_targets() -> [AmdTarget; 2] {
    [target("mi300x"), target("mi355x")]
}

const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";

fn operand(index: u32) -> String {
    format!(
        "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_mfma<{{version = 3, warpsPerCTA = [2, 2], \
         instrShape = [32, 32, 8], isTransposed = false}}>, kWidth = 8}}>"
    )
}

/// Checks the chosen padding against Triton's documentation (Triton Bespoke Layouts), which pads 16-bit rows of 128
/// bytes by a vector of 16 bytes: the choice takes no more wavefronts, and for equal wavefronts no more bytes.
#[test]
fn padding_is_no_worse_than_a_vector_a_row() {
    for target in cdna_targets() {
        let accessors = [
            SharedMemoryAccessor::store(resolve_distributed(&target, ROWS, &[64, 64])),
            SharedMemoryAccessor::load(resolve_distributed(&target, &operand(0), &[64, 64])),
        ];
        let only = SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Padding);
        let choice = choose_shared_layout(&accessors, 16, &only, target.description()).unwrap();
        let text = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>";
        let known = resolve_memory(&target, text, &[64, 64]);
        let theirs: u64 =
            accessors.iter().map(|a| executed(&a.layout, a.direction, &known, 16, target.description().into())).sum();
        let chosen = choice.chosen();
        let ours = (chosen.weighted_wavefronts(), chosen.bytes);
        assert!(ours <= (theirs, known.allocated_elements() * 2), "{ours:?}, {theirs}");
        choice.candidates.iter().for_each(|candidate| check(candidate, &accessors, 16, target.description().into()));
    }
}

/// Checks layouts for asynchronous copies of 4 bytes per lane on MI300X and of 16 bytes on MI355X.
#[test]
fn copies_permute_what_they_fetch() {
    for (target, access_bits) in cdna_targets().into_iter().zip([32, 128]) {
        let size = access_bits / 16;
        let threads = 64 / size;
        let fetched = format!(
            "#ttg.blocked<{{sizePerThread = [1, {size}], threadsPerWarp = [{}, {threads}], warpsPerCTA = [4, 1], \
             order = [1, 0]}}>",
            64 / threads
        );
        let global = GlobalTensor::row_major(&[64, 64], 16);
        let accessors = [
            SharedMemoryAccessor::store(resolve_distributed(&target, &fetched, &[64, 64]))
                .with_copy(WarpAddressedSharedCopy { global, access_bits }),
            SharedMemoryAccessor::load(resolve_distributed(&target, &operand(0), &[64, 64])),
        ];
        let choice =
            choose_shared_layout(&accessors, 16, &SharedLayoutSearchOptions::default(), target.description()).unwrap();
        let of = |kind: SharedLayoutKind| choice.candidates.iter().find(|candidate| candidate.kind == kind).unwrap();
        let (plain, padded, permuted) =
            (of(SharedLayoutKind::Plain), of(SharedLayoutKind::Padding), of(SharedLayoutKind::PermutedGlobal));
        assert!(
            permuted.weighted_wavefronts() <= padded.weighted_wavefronts()
                && padded.weighted_wavefronts() <= plain.weighted_wavefronts()
        );
        assert!(
            permuted.conflict_wavefronts() < plain.conflict_wavefronts(),
            "{} and {}",
            permuted.conflict_wavefronts(),
            plain.conflict_wavefronts()
        );
        let fetch = permuted.fetch.as_ref().unwrap();
        assert_eq!(fetch.transactions, fetch.straight_transactions);
        let chunk = 64 * u64::from(size);
        assert!(padded.memory.padding.iter().all(|p| p.interval >= chunk), "{:?}", padded.memory.padding);
        assert!(permuted.memory.linear.in_bits(Dim::OFFSET) == 12);
        println!(
            "{}: plain {}, padding {} in {} bytes, permuted {}",
            target.description().name,
            plain.weighted_wavefronts(),
            padded.weighted_wavefronts(),
            padded.bytes,
            permuted.weighted_wavefronts()
        );
        choice.candidates.iter().for_each(|candidate| check(candidate, &accessors, 16, target.description().into()));
    }
}

/// Checks operands with K across the stored rows: `ds_read_b64_tr_b16` transposes them without bank conflicts. 16-byte
/// stores, and copies with consecutive addresses, write the layout without conflicts too. Without transposing loads,
/// either the stores or the loads access single elements.
#[test]
fn transposing_loads_are_free_of_conflicts_where_the_tile_lies() {
    let [_, target] = cdna_targets();
    let turned = "#ttg.dot_op<{opIdx = 1, parent = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], \
                  instrShape = [32, 32, 16], isTransposed = false}>, kWidth = 8}>";
    let stored = SharedMemoryAccessor::store(resolve_distributed(&target, ROWS, &[64, 64]));
    let loaded = SharedMemoryAccessor::load(resolve_distributed(&target, turned, &[64, 64]));
    let global = GlobalTensor::row_major(&[64, 64], 16);
    let copied = stored.clone().with_copy(WarpAddressedSharedCopy { global, access_bits: 128 });
    for (first, kind) in [(stored, SharedLayoutKind::Functor), (copied, SharedLayoutKind::PermutedGlobal)] {
        let accessors = [first, loaded.clone()];
        let choice =
            choose_shared_layout(&accessors, 16, &SharedLayoutSearchOptions::default(), build_plan_context(&target))
                .unwrap();
        let chosen = choice.chosen();
        let by = chosen.accessors[1].instruction.as_deref();
        assert_eq!(
            (by, chosen.conflict_wavefronts(), choice.wavefronts_above_bound()),
            (Some("ds_read_b64_tr_b16"), 0, 0)
        );
        assert_eq!((chosen.kind, chosen.accessors[0].vector_elements), (kind, 8));
        choice.candidates.iter().for_each(|candidate| check(candidate, &accessors, 16, build_plan_context(&target)));
        let plain =
            choose_shared_layout(&accessors, 16, &SharedLayoutSearchOptions::only_kind(kind), target.description())
                .unwrap();
        let narrowest = plain.chosen().accessors.iter().map(|stats| stats.vector_elements).min();
        assert_eq!(narrowest, Some(1), "{:?}", plain.chosen().accessors);
    }
}
