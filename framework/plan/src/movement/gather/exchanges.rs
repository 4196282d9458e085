//! Gathers in which lanes read from registers of other lanes of their warp.

use tilewright_kernel::{Binary, Builder, Compare, Counts, Value};
use tilewright_layout::f2::{Subspace, multiply};
use tilewright_target::TargetDescription;

use super::problem::Question;
use crate::movement::address::{Thread, product};
use crate::movement::conversion::{Origin, Position};
use crate::movement::source::Source;
use crate::movement::tuples::{exchanged, words};

/// Reading from registers of lanes of the same warp.
#[derive(Debug, Clone)]
pub(super) struct Exchanges {
    lane_bits: u32,
    origin: Origin,
    /// Where each bit of the index leads.
    index: Vec<Position>,
    /// Source registers among which the index and the thread choose, as a difference from the one that
    /// the result's register says.
    choices: Vec<u64>,
    result_bits: u32,
}

/// The gather by exchanges; closed where warps want elements of others, or lanes cannot exchange.
pub(super) fn plan(problem: &Question, target: &TargetDescription) -> Result<(Exchanges, Counts), String> {
    target.index_exchange_bits().filter(|&bits| bits == u32::BITS).ok_or("lanes cannot exchange words")?;
    let (origin, index) = problem.origin().ok_or("a block wants elements that it does not hold")?;
    let lanes = (1u64 << problem.lane_bits) - 1;
    if origin.crosses_warps(lanes) || index.iter().any(|p| p.thread & !lanes != 0) {
        return Err("warps want elements of other warps".to_owned());
    }
    let chosen = origin.of_threads.iter().chain(&index).map(|p| p.register);
    let choices = Subspace::span(chosen);
    let choices: Vec<u64> = (0..1u64 << choices.dimension()).map(|at| multiply(choices.basis(), at)).collect();
    let results = 1u64 << problem.registers.len();
    let rounds = choices.len() as u64;
    let counts = Counts {
        exchanges: results * rounds * words(problem.element.bits(), 1),
        selects: results * (rounds - 1),
        ..Counts::default()
    };
    let (lane_bits, result_bits) = (problem.lane_bits, problem.registers.len() as u32);
    Ok((Exchanges { lane_bits, origin, index, choices, result_bits }, counts))
}

impl Exchanges {
    pub(super) fn emit(&self, builder: &mut Builder, src: &[Value], indices: &[Value]) -> Vec<Value> {
        let lanes = (1u64 << self.lane_bits) - 1;
        let thread = Thread::new(builder, self.lane_bits);
        let of = |positions: &[Position], part: fn(&Position) -> u64| positions.iter().map(part).collect::<Vec<_>>();
        let own_lane = thread
            .product(builder, &of(&self.origin.of_threads, |p| p.thread).iter().map(|t| t & lanes).collect::<Vec<_>>());
        let own_register = thread.product(builder, &of(&self.origin.of_threads, |p| p.register));
        let (index_lane, index_register) = (of(&self.index, |p| p.thread), of(&self.index, |p| p.register));
        (0..1u64 << self.result_bits)
            .map(|result| {
                let fixed = Position {
                    register: multiply(&of(&self.origin.of_registers, |p| p.register), result),
                    thread: multiply(&of(&self.origin.of_registers, |p| p.thread), result),
                };
                let index = indices[result as usize];
                let along = product(builder, index, &index_lane);
                let lane = builder.binary(Binary::Xor, own_lane, along);
                let lane = builder.binary_const(Binary::Xor, lane, fixed.thread as u32);
                let along = product(builder, index, &index_register);
                let register = builder.binary(Binary::Xor, own_register, along);
                self.chosen(builder, src, fixed.register, register, lane)
            })
            .collect()
    }

    /// The value of the lane's register whose difference from `fixed` is `register`.
    fn chosen(&self, builder: &mut Builder, src: &[Value], fixed: u64, register: Value, lane: Value) -> Value {
        let fetched = |builder: &mut Builder, choice: u64| {
            exchanged(builder, Source::Lane(lane), &[vec![src[(fixed ^ choice) as usize]]])[0][0]
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
