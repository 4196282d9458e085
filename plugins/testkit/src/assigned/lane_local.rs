//! Checks operations that only move elements within a lane: each register of a result must be a register of an operand
//! in the same lane.

use std::collections::HashSet;

use crate::prelude::*;
use tilewright_tile::op::name::tt;
use tilewright_tile::{Attribute, FunctionBody, Op};

/// Checks that each lane holds, in registers of an operand, all elements that the operation's semantics puts into the
/// lane's result registers. `operands` and `results` have the tensors' layouts, in order. Operations that are not
/// lane-local pass.
pub fn check_lane_local(
    body: &FunctionBody,
    op: Op,
    operands: &[Option<LinearLayout>],
    results: &[Option<LinearLayout>],
) -> Result<(), String> {
    let operation = body.op(op);
    let shape = |value: tilewright_tile::Value| body.value_type(value).shape().unwrap_or_default().to_vec();
    let (Some(Some(source)), Some(Some(result))) = (operands.first(), results.first()) else { return Ok(()) };
    let (from, to) = (shape(operation.operands[0]), shape(operation.results[0]));
    let integer = |name: &str| operation.attributes.get(name).and_then(Attribute::as_integer).unwrap_or(0) as usize;
    match operation.name() {
        tt::EXPAND_DIMS => {
            let axis = integer("axis");
            every(result, source, |at| {
                let mut at = at.to_vec();
                at.remove(axis);
                at
            })
        }
        tt::BROADCAST => every(result, source, |at| at.iter().zip(&from).map(|(&at, &size)| at % size).collect()),
        tt::RESHAPE => every(result, source, |at| {
            let mut index = at.iter().zip(&to).fold(0, |index, (at, size)| index * size + at);
            let mut coordinates = vec![0; from.len()];
            for axis in (0..from.len()).rev() {
                coordinates[axis] = index % from[axis];
                index /= from[axis];
            }
            coordinates
        }),
        tt::TRANS => {
            let Some(Attribute::Array(_, order)) = operation.attributes.get("order") else { return Ok(()) };
            every(result, source, |at| {
                let mut coordinates = vec![0; at.len()];
                order.iter().zip(at).for_each(|(&axis, &at)| coordinates[axis as usize] = at);
                coordinates
            })
        }
        tt::SPLIT => {
            for (half, result) in results.iter().flatten().enumerate() {
                every(result, source, |at| [at, &[half as u64]].concat())?;
            }
            Ok(())
        }
        tt::JOIN => {
            for (half, source) in operands.iter().flatten().enumerate() {
                let own = |at: &[u64]| (at[at.len() - 1] == half as u64).then(|| at[..at.len() - 1].to_vec());
                some(result, source, own)?;
            }
            Ok(())
        }
        tt::CAT => {
            for (half, source) in operands.iter().flatten().enumerate() {
                some(result, source, |at| {
                    let mut at = at.to_vec();
                    let own = at[0] / from[0] == half as u64;
                    at[0] %= from[0];
                    own.then_some(at)
                })?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn every(result: &LinearLayout, source: &LinearLayout, coordinates: impl Fn(&[u64]) -> Vec<u64>) -> Result<(), String> {
    some(result, source, |at| Some(coordinates(at)))
}

fn some(
    result: &LinearLayout,
    source: &LinearLayout,
    coordinates: impl Fn(&[u64]) -> Option<Vec<u64>>,
) -> Result<(), String> {
    let threads = [Dim::LANE, Dim::WARP].map(|dim| 1u64 << result.in_bits(dim));
    let at = |layout: &LinearLayout, register: u64, lane: u64, warp: u64| -> Vec<u64> {
        let coordinates =
            layout.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp), (Dim::BLOCK, 0)]);
        coordinates.unwrap().iter().map(|&(_, at)| at).collect()
    };
    for warp in 0..threads[1] {
        for lane in 0..threads[0] {
            let present: HashSet<Vec<u64>> =
                (0..1u64 << source.in_bits(Dim::REGISTER)).map(|register| at(source, register, lane, warp)).collect();
            for register in 0..1u64 << result.in_bits(Dim::REGISTER) {
                let own = at(result, register, lane, warp);
                if let Some(needed) = coordinates(&own)
                    && !present.contains(&needed)
                {
                    return Err(format!(
                        "lane {lane} of warp {warp} needs {needed:?} for {own:?}, and has {present:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}
