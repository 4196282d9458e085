//! Requests of a program: attributes of loops and tensors that state a choice of the search. A request that cannot have
//! an effect is an error.

use super::SynthesisOptions;
use super::tree::Staged;
use crate::producer_warps::WARP_SPECIALIZE;
use tilewright_tile::op::name::{scf, tw};
use tilewright_tile::{Attribute, Attributes, Function, FunctionBody, Op, TileViolation};

/// The attribute by which a loop, or the innermost loop around it with one, requests or forbids ping-pong.
pub(super) const PING_PONG: &str = "tw.ping_pong";

/// The value of the attribute that requests groups of consumers that alternate between tiles.
const ACROSS_TILES: &str = "tiles";

/// The request of a program for ping-pong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PingPongRequest {
    /// `false`: none.
    Forbidden,
    /// `true`, or without a value: exclusive sections within the loop.
    WithinTile,
    /// `"tiles"`: groups of consumers that alternate between the iterations of the loop around it.
    AcrossTiles,
}

impl PingPongRequest {
    /// Reads the value of the attribute; `None` if it is no request.
    pub(super) fn of(value: &Attribute) -> Option<Self> {
        match value {
            Attribute::Unit | Attribute::Bool(true) => Some(Self::WithinTile),
            Attribute::Bool(false) => Some(Self::Forbidden),
            Attribute::Text(kind) if &**kind == ACROSS_TILES => Some(Self::AcrossTiles),
            _ => None,
        }
    }
}

/// Checks the requests of a program that hold for all choices: the values of attributes, that a loop with ping-pong, or
/// a loop in it, fills shared tensors, that loops can have the stages of their tensors, and that one of `blocks` blocks
/// executes the program.
///
/// # Errors
/// The first request that has no effect, with the reason and the remedy.
pub(super) fn check_requests(
    function: &Function,
    (loops, blocks): (&[Staged], u32),
    options: SynthesisOptions,
) -> Result<(), TileViolation> {
    let Some(body) = &function.body else { return Ok(()) };
    for op in body.walk_region(body.root()) {
        let checked = match body.op(op).name() {
            tw::COPY if blocks > 1 => Err(format!(
                "a block copies the tile alone, and the module states `ttg.num-ctas = {blocks}`: remove the attribute"
            )),
            scf::FOR => check_loop(&body.op(op).attributes, op, loops),
            tw::SHARED_TENSOR if options.pipeline => check_stages(body, op, loops),
            _ => Ok(()),
        };
        checked.map_err(|message| TileViolation::of(function, body.op(op), message))?;
    }
    Ok(())
}

fn check_loop(attributes: &Attributes, op: Op, loops: &[Staged]) -> Result<(), String> {
    if let Some(value) = attributes.get(WARP_SPECIALIZE)
        && !matches!(value, Attribute::Unit | Attribute::Bool(_))
    {
        return Err(format!("`{WARP_SPECIALIZE} = {value}`: expected no value, `true` or `false`"));
    }
    let Some(value) = attributes.get(PING_PONG) else { return Ok(()) };
    let request = PingPongRequest::of(value).ok_or_else(|| {
        format!("`{PING_PONG} = {value}`: expected no value, `true`, `false` or `\"{ACROSS_TILES}\"`")
    })?;
    let fills = loops.iter().any(|open| open.nest().any(|of| of == op));
    match fills || request == PingPongRequest::Forbidden {
        true => Ok(()),
        false => Err(format!(
            "`{PING_PONG}`, and neither the loop nor a loop in it copies tiles from global to shared memory: remove the \
             attribute"
        )),
    }
}

/// Checks the number of stages of a shared tensor.
fn check_stages(body: &FunctionBody, tensor: Op, loops: &[Staged]) -> Result<(), String> {
    let stages = |tensor: Op| body.op(tensor).attributes.get("stages").and_then(Attribute::as_integer);
    let Some(count) = stages(tensor) else { return Ok(()) };
    let remedy = "remove the attribute `stages`";
    let mut filled = loops.iter().filter(|open| open.of.tensors.contains(&tensor)).peekable();
    if count > 1 && filled.peek().is_none() {
        return Err(format!("{count} stages, and no loop fills the tensor from global memory: {remedy}"));
    }
    for open in filled {
        if let (Some(reason), true) = (&open.of.rejected, count > 1) {
            return Err(format!("{count} stages, and its copies cannot be prefetched: {reason}: {remedy}"));
        }
        if let Some(other) = open.of.tensors.iter().filter_map(|other| stages(*other)).find(|other| *other != count) {
            return Err(format!("{count} stages, and {other} of another tensor of the loop: state one number"));
        }
    }
    Ok(())
}
