//! Gathers by shuffles: lanes read registers of other lanes of their warp. Lanes whose own registers have all elements
//! that they need select among them without shuffles.

use tilewright_kernel::{Binary, Builder, Compare, Counts, Value};
use tilewright_layout::f2::{Subspace, multiply_vector};
use tilewright_target::TargetDescription;

use super::problem::GatherProblem;
use crate::movement::address::{ThreadIndices, emit_f2_product};
use crate::movement::conversion::{Origin, Position};
use crate::movement::shuffle_source::Source;
use crate::movement::variadic::{emit_shuffle_tuples, words};

/// The plan of a gather by shuffles within the warp.
#[derive(Debug, Clone)]
pub(super) struct Shuffles {
    lane_bits: u32,
    origin: Origin,
    /// For each bit of a run-time index, the source position (register, thread) that it adds over F2.
    index: Vec<Position>,
    /// All values by which thread and index may change (by xor) the source register of a result; one shuffle for each
    /// value fetches a register, and one of these has the element.
    choices: Vec<u64>,
    result_bits: u32,
    /// Whether each lane needs only elements of its own registers.
    pub(super) stays_in_lanes: bool,
}

/// Plans the gather by shuffles. The plan is rejected if warps need elements of other warps, or if lanes need elements
/// of other lanes and the target has no indexed shuffle.
pub(super) fn plan(problem: &GatherProblem, target: &TargetDescription) -> Result<(Shuffles, Counts), String> {
    let (origin, index) = problem.origin().ok_or("a block needs elements that it does not have")?;
    let stays_within = |threads: u64| !origin.crosses_warps(threads) && index.iter().all(|p| p.thread & !threads == 0);
    if !stays_within((1 << problem.lane_bits) - 1) {
        return Err("warps need elements of other warps".to_owned());
    }
    let stays_in_lanes = stays_within(0);
    if !stays_in_lanes && target.index_shuffle_bits() != Some(u32::BITS) {
        return Err("the target has no 32-bit shuffle".to_owned());
    }
    let chosen = origin.of_threads.iter().chain(&index).map(|p| p.register);
    let choices = Subspace::span(chosen);
    let choices: Vec<u64> = (0..1u64 << choices.dimension()).map(|at| multiply_vector(choices.basis(), at)).collect();
    let results = 1u64 << problem.registers.len();
    let rounds = choices.len() as u64;
    let shuffles = if stays_in_lanes { 0 } else { results * rounds * words(problem.element.bits(), 1) };
    let counts = Counts { shuffles, selects: results * (rounds - 1), ..Counts::default() };
    let (lane_bits, result_bits) = (problem.lane_bits, problem.registers.len() as u32);
    Ok((Shuffles { lane_bits, origin, index, choices, result_bits, stays_in_lanes }, counts))
}

impl Shuffles {
    pub(super) fn emit(&self, builder: &mut Builder, src: &[Value], indices: &[Value]) -> Vec<Value> {
        let lanes = (1u64 << self.lane_bits) - 1;
        let thread = ThreadIndices::new(builder, self.lane_bits);
        let of = |positions: &[Position], coordinate: fn(&Position) -> u64| {
            positions.iter().map(coordinate).collect::<Vec<_>>()
        };
        let own_lane = thread.emit_f2_product(
            builder,
            &of(&self.origin.of_threads, |p| p.thread).iter().map(|t| t & lanes).collect::<Vec<_>>(),
        );
        let own_register = thread.emit_f2_product(builder, &of(&self.origin.of_threads, |p| p.register));
        let (index_lane, index_register) = (of(&self.index, |p| p.thread), of(&self.index, |p| p.register));
        (0..1u64 << self.result_bits)
            .map(|result| {
                let fixed = Position {
                    register: multiply_vector(&of(&self.origin.of_registers, |p| p.register), result),
                    thread: multiply_vector(&of(&self.origin.of_registers, |p| p.thread), result),
                };
                let index = indices[result as usize];
                let along = emit_f2_product(builder, index, &index_lane);
                let lane = builder.binary(Binary::Xor, own_lane, along);
                let lane = builder.binary_const(Binary::Xor, lane, fixed.thread as u32);
                let along = emit_f2_product(builder, index, &index_register);
                let register = builder.binary(Binary::Xor, own_register, along);
                self.chosen(builder, src, fixed.register, register, lane)
            })
            .collect()
    }

    /// Emits, for each value of `choices`, a shuffle of the source register `fixed` xor this value from the lane
    /// `lane`, unless that is always the lane itself, and selects the one whose value equals `register`.
    fn chosen(&self, builder: &mut Builder, src: &[Value], fixed: u64, register: Value, lane: Value) -> Value {
        let fetched = |builder: &mut Builder, choice: u64| {
            let own = src[(fixed ^ choice) as usize];
            if self.stays_in_lanes {
                return own;
            }
            emit_shuffle_tuples(builder, Source::Lane(lane), &[vec![own]])[0][0]
        };
        let mut value = fetched(builder, self.choices[0]);
        for &choice in &self.choices[1..] {
            let candidate = fetched(builder, choice);
            let required = builder.i32(choice as u32);
            let here = builder.compare(Compare::Eq, register, required);
            value = builder.select(here, candidate, value);
        }
        value
    }
}
