//! Tests of the moves of shuffle plans (transpositions of position bits): for every permutation of register and lane
//! bits of a small target, the plan is compared with the cheapest sequence of elementary steps, found by exhaustive
//! search.

use tilewright_testkit::test_targets;

use std::collections::{BTreeMap, BinaryHeap};

use test_targets::{LANE_BITS, layout, target_with_swaps, target_with_xor_shuffles, test_target};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{ConversionPlan, PlanContext, plan_conversion};
use tilewright_target::{CostTable, TargetDescription};
use tilewright_verify::{build_conversion_case, check_emulated};

/// Returns the layout that has tensor bit `content[position]` at each position: registers first, then lanes.
fn with_content(content: &[usize]) -> LinearLayout {
    let (registers, lanes) = content.split_at(content.len() - LANE_BITS);
    let columns: Vec<(usize, u64)> = lanes.iter().chain(registers).map(|&bit| (0, 1 << bit)).collect();
    layout(&columns, [content.len() as u32, 0, 0], 0)
}

fn plan(target: &TargetDescription, bits: u32, content: &[usize]) -> ConversionPlan {
    let identity: Vec<usize> = (0..content.len()).collect();
    let (src, dst) = (with_content(&identity), with_content(content));
    let context = PlanContext::new(target);
    let plan = plan_conversion(&src, &dst, bits, context).expect("possible");
    build_conversion_case([&src, &dst], bits, &plan, context)
        .and_then(|case| check_emulated(&case, context))
        .unwrap_or_else(|wrong| panic!("{content:?}: {wrong}"));
    plan
}

/// Returns the numbers of shuffles, byte permutes and selects of the plan.
fn counted(target: &TargetDescription, bits: u32, content: &[usize]) -> (u64, u64, u64) {
    let counts = plan(target, bits, content).stats.counts;
    (counts.shuffles, counts.permutes, counts.selects)
}

#[test]
fn a_register_bit_for_a_lane_bit_is_a_swap_of_two_words() {
    // Registers are the bits 0 and 1, lanes 2 to 4.
    let content = [0, 2, 1, 3, 4];
    assert_eq!(counted(&target_with_swaps(&[1]), 32, &content), (2, 0, 0));
    assert_eq!(counted(&target_with_swaps(&[1]), 64, &content), (4, 0, 0), "wide words by halves");
    assert_eq!(counted(&target_with_swaps(&[2, 4]), 32, &content), (2, 0, 6), "along other bits it is no use");
    assert_eq!(counted(&test_target(), 32, &content), (2, 0, 6));
}

#[test]
fn rounds_in_which_all_lanes_differ_alike_go_by_the_constant() {
    let across = |masks: &[u32], bits: u32, content: &[usize]| {
        let counts = plan(&target_with_xor_shuffles(masks), bits, content).stats.counts;
        (counts.shuffles, counts.shuffles_xor)
    };
    assert_eq!(across(&[1], 32, &[0, 2, 1, 3, 4]), (2, 2), "a register bit for a lane bit");
    assert_eq!(across(&[1], 64, &[0, 2, 1, 3, 4]), (4, 4), "wide words by halves");
    assert_eq!(across(&[2], 32, &[0, 2, 1, 3, 4]), (2, 0), "along other bits it is no use");
    assert_eq!(across(&[1, 2, 3], 32, &[2, 3, 0, 1, 4]), (3, 3), "two register bits for two lane bits");
    assert_eq!(across(&[1, 2], 32, &[2, 3, 0, 1, 4]), (3, 2), "one round differs in both lane bits");
    assert_eq!(across(&[1], 16, &[2, 1, 0, 3, 4]).1, across(&[1], 16, &[2, 1, 0, 3, 4]).0, "inside words");
}

#[test]
fn a_cycle_is_a_sequence_of_swaps() {
    let target = target_with_swaps(&[1, 4]);
    assert_eq!(counted(&target, 32, &[0, 2, 4, 3, 1]), (4, 0, 0), "one register bit, two lane bits");
    assert_eq!(counted(&target, 32, &[4, 2, 1, 3, 0]), (4, 0, 0), "two cycles of two");
}

#[test]
fn what_all_lanes_gather_is_swapped_with_itself() {
    // Two lanes of the source hold the elements of the destination's second register bit.
    let (src, dst) = (
        layout(&[(0, 2), (0, 4), (0, 8), (0, 1)], [4, 0, 0], 0),
        layout(&[(0, 0), (0, 4), (0, 8), (0, 1), (0, 2)], [4, 0, 0], 0),
    );
    let target = target_with_swaps(&[1]);
    let plan = plan_conversion(&src, &dst, 32, &target).expect("possible");
    build_conversion_case([&src, &dst], 32, &plan, &target)
        .and_then(|case| check_emulated(&case, PlanContext::new(&target)))
        .expect("right");
    assert_eq!((plan.stats.counts.shuffles, plan.stats.counts.selects), (2, 0), "a swap for each of two words");
}

#[test]
fn bits_inside_words_are_blended_by_byte_permutes() {
    // One register bit of 16-bit elements: a word is shuffled whole and half of it kept.
    assert_eq!(counted(&test_target(), 16, &[1, 0, 2, 3]), (1, 1, 0));
    // Four bytes in a lane for four lanes.
    assert_eq!(counted(&test_target(), 8, &[2, 3, 0, 1, 4]), (2, 2, 0));
    // Two words: the elements that leave them are gathered into one.
    assert_eq!(counted(&test_target(), 16, &[2, 3, 0, 1, 4]), (2, 3, 3));
    // One bit is swapped, then a regrouping makes the other one swappable.
    assert_eq!(counted(&target_with_swaps(&[1, 2]), 16, &[2, 3, 0, 1, 4]), (2, 2, 0));
}

/// The model of the exhaustive search: elementary steps on words. Each step transposes two position bits and waits for
/// the step before.
struct Steps {
    costs: CostTable,
    registers: usize,
    /// Number of register positions inside a word, the lowest ones.
    inner: usize,
    /// Lane bits along which the target has a swap instruction.
    swapped: Vec<u32>,
}

impl Steps {
    /// Returns the cycles of a step with these numbers of shuffles, and of selects or permutes. Each takes an issue
    /// slot of half a cycle; the step ends with the latency of a shuffle, which four warps share.
    fn cycles(&self, shuffles: f64, others: f64) -> f64 {
        let latency = if shuffles > 0.0 { self.costs.shuffle.latency / 4.0 } else { 0.0 };
        shuffles * (0.5 + self.costs.shuffle.cycles) + others / 2.0 + latency
    }

    fn words(&self) -> f64 {
        f64::from(1u32 << (self.registers - self.inner))
    }

    /// Returns the pairs of positions that one step transposes, each with its cycles.
    fn shuffles(&self) -> Vec<(usize, usize, f64)> {
        let mut all = Vec::new();
        let words = self.words();
        for register in 0..self.registers {
            for lane in 0..LANE_BITS {
                let swaps = self.swapped.contains(&(1 << lane));
                let time = match register < self.inner {
                    // One shuffle and one byte permute of the two words.
                    true if words == 1.0 => self.cycles(1.0, 1.0),
                    // For each pair of words: one permute gathers the elements that leave, one shuffle moves them, two
                    // permutes insert the received ones.
                    true => self.cycles(words / 2.0, words / 2.0 * 3.0),
                    false if swaps => self.cycles(words / 2.0, 0.0),
                    // For each pair of words: one select chooses the word that leaves, one shuffle moves it, two
                    // selects insert the received ones.
                    false => self.cycles(words / 2.0, words / 2.0 * 3.0),
                };
                all.push((register, self.registers + lane, time));
            }
            for other in register + 1..self.registers {
                if register < self.inner && other >= self.inner {
                    all.push((register, other, self.cycles(0.0, words)));
                }
            }
        }
        all
    }

    /// Returns the cycles of the quickest sequence of steps for each resulting content of the positions. Renaming
    /// registers first and last is free; lanes are permuted by a shuffle of each word.
    fn quickest(&self) -> BTreeMap<Vec<usize>, f64> {
        let count = self.registers + LANE_BITS;
        let eighths = |time: f64| (time * 8.0) as i64;
        let mut best: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        let mut open = BinaryHeap::new();
        for registers in permutations(self.registers) {
            let start: Vec<usize> = registers.into_iter().chain(self.registers..count).collect();
            best.insert(start.clone(), 0.0);
            open.push((0, start));
        }
        let shuffles = self.shuffles();
        let lanes = permutations(LANE_BITS);
        while let Some((time, content)) = open.pop() {
            let time = -time as f64 / 8.0;
            if best[&content] < time {
                continue;
            }
            let bit_swaps = shuffles.iter().map(|&(a, b, step)| {
                let mut next = content.clone();
                next.swap(a, b);
                (next, step)
            });
            let permuted = lanes.iter().map(|order| {
                let of_lanes = order.iter().map(|&lane| content[self.registers + lane]);
                (content[..self.registers].iter().copied().chain(of_lanes).collect(), self.cycles(self.words(), 0.0))
            });
            for (next, step) in bit_swaps.chain(permuted).collect::<Vec<(Vec<usize>, f64)>>() {
                let total = time + step;
                if best.get(&next).is_none_or(|&known| total < known) {
                    best.insert(next.clone(), total);
                    open.push((-eighths(total), next));
                }
            }
        }
        best
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let insert =
        |rest: Vec<usize>| (0..count).map(move |at| [&rest[..at], &[last], &rest[at..]].concat()).collect::<Vec<_>>();
    permutations(last).into_iter().flat_map(insert).collect()
}

#[test]
fn no_sequence_of_elementary_steps_is_quicker_than_the_plan() {
    let mut all_dearer = Vec::new();
    for swapped in [&[][..], &[1], &[1, 4]] {
        let target = if swapped.is_empty() { test_target() } else { target_with_swaps(swapped) };
        for (bits, registers) in [(8, 1), (8, 2), (8, 3), (16, 1), (16, 2), (16, 3), (32, 1), (32, 2), (32, 3)] {
            let room = (32u32 / bits).trailing_zeros() as usize;
            let all = (0..=room.min(registers))
                .map(|inner| {
                    Steps { costs: target.costs.clone(), registers, inner, swapped: swapped.to_vec() }.quickest()
                })
                .collect::<Vec<_>>();
            let (mut accumulator, mut dearer) = ((0.0, 0.0), Vec::new());
            for content in permutations(registers + LANE_BITS) {
                let fewest = all.iter().map(|quickest| quickest[&content]).fold(f64::INFINITY, f64::min);
                let found = plan(&target, bits, &content).stats.cost;
                accumulator = (accumulator.0 + found, accumulator.1 + fewest);
                if found > fewest {
                    dearer.push(format!("{content:?}: {found}, not {fewest}"));
                }
            }
            println!(
                "{bits:2} bits, {registers} register bits, swaps {swapped:?}: {} of {}",
                accumulator.0, accumulator.1
            );
            all_dearer.extend(dearer.into_iter().map(|one| format!("{bits} bits, swaps {swapped:?}, {one}")));
        }
    }
    assert!(all_dearer.is_empty(), "{} dearer than sequences of steps:\n{}", all_dearer.len(), all_dearer.join("\n"));
}
