//! The selective scan of Mamba as an explicit-memory program: `docs/examples/mamba_scan.ttir`.

use std::sync::Arc;

use super::case_data::{Argument, build_case, input, output};
use super::parts::read_example;
use super::{EmulatedDerivation, synthesize_and_emulate};
use crate::prelude::*;
use tilewright_assign::synthesis::SynthesisOptions;
use tilewright_verify::case::ProgramCase;

const TIMES: usize = 96;
const CHANNELS: usize = 32;
const STATES: usize = 16;
/// Number of channels of a block.
const TILE: usize = 16;

/// Executes the program and checks its result against the recurrence, computed time by time.
pub fn check_mamba(target: &dyn Target) -> Arc<EmulatedDerivation> {
    synthesize_and_emulate(target, &mamba_case(), &read_example("mamba_scan"), SynthesisOptions::default())
}

/// The case: inputs that `f16` has exactly.
pub(super) fn mamba_case() -> ProgramCase {
    let x = |time: usize, channel: usize| ((7 * time + 5 * channel) % 9) as f64 / 4.0 - 1.0;
    let dt = |time: usize, channel: usize| (1 + (3 * time + channel) % 5) as f64 / 32.0;
    let a = |channel: usize, state: usize| -((1 + (channel + state) % 4) as f64) / 2.0;
    let b = |time: usize, state: usize| ((time + 2 * state) % 5) as f64 / 2.0 - 1.0;
    let c = |time: usize, state: usize| ((3 * time + state) % 7) as f64 / 4.0 - 0.75;
    let mut outputs = vec![0.0; CHANNELS * TIMES];
    for channel in 0..CHANNELS {
        let mut states = [0.0; STATES];
        for time in 0..TIMES {
            for (index, state) in states.iter_mut().enumerate() {
                let step = dt(time, channel);
                *state = (step * a(channel, index)).exp() * *state + step * x(time, channel) * b(time, index);
                outputs[time * CHANNELS + channel] += *state * c(time, index);
            }
        }
    }
    let arguments = vec![
        ("x", input("f16", [TIMES, CHANNELS], x)),
        ("dt", input("f16", [TIMES, CHANNELS], dt)),
        ("a", input("f32", [CHANNELS, STATES], a)),
        ("b", input("f16", [TIMES, STATES], b)),
        ("c", input("f16", [TIMES, STATES], c)),
        ("y", output("f16", [TIMES, CHANNELS], outputs, [1.0 / 1024.0, 1.0 / 4096.0])),
        ("times", Argument::Integer(TIMES)),
        ("channels", Argument::Integer(CHANNELS)),
    ];
    build_case("mamba_scan", [CHANNELS / TILE, 1], 4, arguments)
}
