//! Exchanging bits of positions: every permutation of register and lane bits of a small machine, held
//! against the cheapest sequence of elementary steps that a search over all of them finds.

use tilewright_testkit::machines;

use std::collections::{BTreeMap, BinaryHeap};

use machines::{LANE_BITS, layout, machine, machine_that_crosses, machine_that_swaps};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{Plan, PlanContext, convert, slots};
use tilewright_target::TargetDescription;
use tilewright_verify::{check_emulated, conversion_case};

/// The layout that has tensor bit `content[position]` at each position: registers first, then lanes.
fn with_content(content: &[usize]) -> LinearLayout {
    let (registers, lanes) = content.split_at(content.len() - LANE_BITS);
    let columns: Vec<(usize, u64)> = lanes.iter().chain(registers).map(|&bit| (0, 1 << bit)).collect();
    layout(&columns, [content.len() as u32, 0, 0], 0)
}

fn plan(target: &TargetDescription, bits: u32, content: &[usize]) -> Plan {
    let identity: Vec<usize> = (0..content.len()).collect();
    let (src, dst) = (with_content(&identity), with_content(content));
    let context = PlanContext::of(target);
    let plan = convert(&src, &dst, bits, context).expect("possible");
    conversion_case([&src, &dst], bits, &plan, context)
        .and_then(|case| check_emulated(&case, context))
        .unwrap_or_else(|wrong| panic!("{content:?}: {wrong}"));
    plan
}

/// What is counted of a plan: exchanges, byte permutes, selects.
fn counted(target: &TargetDescription, bits: u32, content: &[usize]) -> (u64, u64, u64) {
    let counts = plan(target, bits, content).stats.counts;
    (counts.exchanges, counts.permutes, counts.selects)
}

#[test]
fn a_register_bit_for_a_lane_bit_is_a_swap_of_two_words() {
    // Registers are the bits 0 and 1, lanes 2 to 4.
    let content = [0, 2, 1, 3, 4];
    assert_eq!(counted(&machine_that_swaps(&[1]), 32, &content), (2, 0, 0));
    assert_eq!(counted(&machine_that_swaps(&[1]), 64, &content), (4, 0, 0), "wide words by halves");
    assert_eq!(counted(&machine_that_swaps(&[2, 4]), 32, &content), (2, 0, 6), "along other bits it is no use");
    assert_eq!(counted(&machine(), 32, &content), (2, 0, 6));
}

#[test]
fn rounds_in_which_all_lanes_differ_alike_go_by_the_constant() {
    let across = |masks: &[u32], bits: u32, content: &[usize]| {
        let counts = plan(&machine_that_crosses(masks), bits, content).stats.counts;
        (counts.exchanges, counts.exchanges_xor)
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
    let target = machine_that_swaps(&[1, 4]);
    assert_eq!(counted(&target, 32, &[0, 2, 4, 3, 1]), (4, 0, 0), "one register bit, two lane bits");
    assert_eq!(counted(&target, 32, &[4, 2, 1, 3, 0]), (4, 0, 0), "two cycles of two");
}

#[test]
fn what_all_lanes_gather_is_swapped_with_itself() {
    // The destination holds along its second register bit what two lanes hold of the source.
    let (src, dst) = (
        layout(&[(0, 2), (0, 4), (0, 8), (0, 1)], [4, 0, 0], 0),
        layout(&[(0, 0), (0, 4), (0, 8), (0, 1), (0, 2)], [4, 0, 0], 0),
    );
    let target = machine_that_swaps(&[1]);
    let plan = convert(&src, &dst, 32, &target).expect("possible");
    conversion_case([&src, &dst], 32, &plan, &target)
        .and_then(|case| check_emulated(&case, PlanContext::of(&target)))
        .expect("right");
    assert_eq!((plan.stats.counts.exchanges, plan.stats.counts.selects), (2, 0), "a swap for each of two words");
}

#[test]
fn bits_inside_words_are_blended_by_byte_permutes() {
    // One register bit of 16-bit elements: a word is exchanged whole and half of it kept.
    assert_eq!(counted(&machine(), 16, &[1, 0, 2, 3]), (1, 1, 0));
    // Four bytes in a lane for four lanes.
    assert_eq!(counted(&machine(), 8, &[2, 3, 0, 1, 4]), (2, 2, 0));
    // Two words: the elements that leave them are gathered into one.
    assert_eq!(counted(&machine(), 16, &[2, 3, 0, 1, 4]), (2, 3, 3));
    // One bit is swapped, regrouping brings the other where it can be.
    assert_eq!(counted(&machine_that_swaps(&[1, 2]), 16, &[2, 3, 0, 1, 4]), (2, 2, 0));
}

/// Elementary steps of words, as exchanges of positions with their prices in slots of a word.
struct Steps {
    registers: usize,
    /// Register positions inside words, the lowest.
    inner: usize,
    /// Lane bits along which words are swapped.
    swapped: Vec<u32>,
}

impl Steps {
    fn words(&self) -> f64 {
        f64::from(1u32 << (self.registers - self.inner))
    }

    /// Pairs of positions that a step exchanges, with its price.
    fn exchanges(&self) -> Vec<(usize, usize, f64)> {
        let mut all = Vec::new();
        let words = self.words();
        for register in 0..self.registers {
            for lane in 0..LANE_BITS {
                let swaps = self.swapped.contains(&(1 << lane));
                let price = match register < self.inner {
                    // A word from the lane across, and a byte permute of the two.
                    true if words == 1.0 => 1.25,
                    // For each two words a permute of what is given, an exchange, two permutes of what is kept.
                    true => words / 2.0 * 1.75,
                    false if swaps => words / 2.0,
                    // For each two words a select of what is given, an exchange, two selects of what is kept.
                    false => words / 2.0 * 1.75,
                };
                all.push((register, self.registers + lane, price));
            }
            for other in register + 1..self.registers {
                if register < self.inner && other >= self.inner {
                    all.push((register, other, words / 4.0));
                }
            }
        }
        all
    }

    /// Prices of the cheapest sequences by the content that they bring to the positions. Registers are
    /// renamed at no price in the end as in the beginning; lanes permuted by an exchange of each word.
    fn prices(&self) -> BTreeMap<Vec<usize>, f64> {
        let count = self.registers + LANE_BITS;
        let quarter = |price: f64| (price * 8.0) as i64;
        let mut best: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        let mut open = BinaryHeap::new();
        for registers in permutations(self.registers) {
            let start: Vec<usize> = registers.into_iter().chain(self.registers..count).collect();
            best.insert(start.clone(), 0.0);
            open.push((0, start));
        }
        let exchanges = self.exchanges();
        let lanes = permutations(LANE_BITS);
        while let Some((price, content)) = open.pop() {
            let price = -price as f64 / 8.0;
            if best[&content] < price {
                continue;
            }
            let exchanged = exchanges.iter().map(|&(a, b, step)| {
                let mut next = content.clone();
                next.swap(a, b);
                (next, step)
            });
            let permuted = lanes.iter().map(|order| {
                let of_lanes = order.iter().map(|&lane| content[self.registers + lane]);
                (content[..self.registers].iter().copied().chain(of_lanes).collect(), self.words())
            });
            for (next, step) in exchanged.chain(permuted).collect::<Vec<(Vec<usize>, f64)>>() {
                let total = price + step;
                if best.get(&next).is_none_or(|&known| total < known) {
                    best.insert(next.clone(), total);
                    open.push((-quarter(total), next));
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
fn no_sequence_of_elementary_steps_is_cheaper_than_the_plan() {
    let mut all_dearer = Vec::new();
    for swapped in [&[][..], &[1], &[1, 4]] {
        let target = if swapped.is_empty() { machine() } else { machine_that_swaps(swapped) };
        for (bits, registers) in [(8, 1), (8, 2), (8, 3), (16, 1), (16, 2), (16, 3), (32, 1), (32, 2), (32, 3)] {
            let room = (32u32 / bits).trailing_zeros() as usize;
            let all = (0..=room.min(registers))
                .map(|inner| Steps { registers, inner, swapped: swapped.to_vec() }.prices())
                .collect::<Vec<_>>();
            let (mut accumulator, mut dearer) = ((0.0, 0.0), Vec::new());
            for content in permutations(registers + LANE_BITS) {
                let least = all.iter().map(|prices| prices[&content]).fold(f64::INFINITY, f64::min);
                let found = slots(&plan(&target, bits, &content).stats.counts);
                accumulator = (accumulator.0 + found, accumulator.1 + least);
                if found > least {
                    dearer.push(format!("{content:?}: {found}, not {least}"));
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
