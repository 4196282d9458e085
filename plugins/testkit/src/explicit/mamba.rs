//! The selective scan of Mamba as an explicit-memory program: `docs/examples/mamba_scan.ttir`.

use std::path::PathBuf;
use std::sync::Arc;

use super::parts::read_example;
use super::{EmulatedDerivation, synthesize_and_emulate};
use crate::prelude::*;
use tilewright_assign::synthesis::SynthesisOptions;
use tilewright_verify::case::{
    CaseArgument, CaseBuffer, CaseElement, CaseElementValue, CaseValue, ExpectedContents, ProgramCase,
};

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
fn mamba_case() -> ProgramCase {
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
    let allowed = outputs.iter().map(|output: &f64| output.abs() / 1024.0 + 1.0 / 4096.0).collect();
    let buffers = vec![
        input("a", "f32", [CHANNELS, STATES], a),
        input("b", "f16", [TIMES, STATES], b),
        input("c", "f16", [TIMES, STATES], c),
        input("dt", "f16", [TIMES, CHANNELS], dt),
        input("x", "f16", [TIMES, CHANNELS], x),
        CaseBuffer {
            after: ExpectedContents::Near { values: outputs, rests: Vec::new(), allowed },
            ..input("y", "f16", [TIMES, CHANNELS], |_, _| 0.0)
        },
    ];
    let sizes = [TIMES, CHANNELS].map(|size| CaseValue::Scalar { bits: size as u64, width: 32 });
    let values = [4, 3, 0, 1, 2, 5].into_iter().map(CaseValue::Buffer).chain(sizes);
    let names = ["x", "dt", "a", "b", "c", "y", "times", "channels"];
    let arguments = names.into_iter().zip(values).map(|(name, value)| CaseArgument { name: name.to_owned(), value });
    ProgramCase {
        name: "mamba_scan".to_owned(),
        program: PathBuf::new(),
        entry: "mamba_scan".to_owned(),
        grid: [(CHANNELS / TILE) as u32, 1, 1],
        warps: 4,
        stages: None,
        blocks: 1,
        arguments: arguments.collect(),
        buffers,
    }
}

fn input(name: &str, element: &str, shape: [usize; 2], value: impl Fn(usize, usize) -> f64) -> CaseBuffer {
    let element = CaseElement::from_name(element).expect("an element type");
    let encoded = |row: usize, column: usize| {
        let bits = element.encode(CaseElementValue::Float(value(row, column))).expect("a small number");
        bits.to_le_bytes()[..element.bytes()].to_vec()
    };
    let before = (0..shape[0]).flat_map(|row| (0..shape[1]).flat_map(move |column| encoded(row, column)));
    CaseBuffer {
        name: name.to_owned(),
        element,
        shape: shape.map(|size| size as u64).to_vec(),
        before: before.collect(),
        after: ExpectedContents::Unchanged,
    }
}
