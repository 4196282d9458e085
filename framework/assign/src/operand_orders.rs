//! The order of dot operands in memory: whether adjacent elements are adjacent along K.
//!
//! Instructions that read operands from shared memory have a form for each order. With the order that the operand has
//! in global memory, the stores to shared memory need not transpose it.

use crate::layouts::{shape_transfers, transferred_axis};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::name::{arith, tt, ttg};
use tilewright_tile::op_attrs::CONTIGUOUS_ALONG_K;
use tilewright_tile::{Attribute, Attributes, Function, FunctionBody, Op, TileType, Value, ValueOrigin};

/// For operands A and B, whether a row-major operand is contiguous along K: A is; B is contiguous along N.
const ROW_MAJOR: [bool; 2] = [true, false];

/// Returns, for operands A and B of a dot, whether they are contiguous along K in memory; `None` if the attributes do
/// not record it.
pub(super) fn along_k(attributes: &Attributes) -> Option<[bool; 2]> {
    let Some(Attribute::Array(_, orders)) = attributes.get(CONTIGUOUS_ALONG_K) else { return None };
    <[u64; 2]>::try_from(&orders[..]).ok().map(|orders| orders.map(|order| order != 0))
}

/// Records in the attributes of each dot whether its operands are contiguous along K in global memory. It records
/// nothing if both are row-major; an operand whose order is unknown counts as row-major.
pub(super) fn record(function: &mut Function) {
    let axis_info = AxisInfoMap::analyze(function);
    let Some(body) = &mut function.body else { return };
    let dots: Vec<Op> = body.walk_region(body.root()).into_iter().filter(|&op| body.op(op).is_dot()).collect();
    for dot in dots {
        let orders = ["a", "b"].map(|group| {
            let operand = body.operand(dot, group)?;
            let k = body.value_type(operand).shape()?.len() - 1 - usize::from(group == "b");
            Some(contiguous_axis(body, &axis_info, operand)? == k)
        });
        let orders = [orders[0].unwrap_or(true), orders[1].unwrap_or(false)];
        if orders != ROW_MAJOR && body.op(dot).attributes.get(CONTIGUOUS_ALONG_K).is_none() {
            let orders = orders.map(u64::from);
            let orders = Attribute::Array(TileType::integer(64), orders.to_vec());
            body.op_mut(dot).attributes.set(CONTIGUOUS_ALONG_K, orders);
        }
    }
}

/// Returns the axis along which adjacent elements of a value are adjacent in global memory; `None` if it is unknown.
fn contiguous_axis(body: &FunctionBody, axis_info: &AxisInfoMap, value: Value) -> Option<usize> {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
    let operation = body.op(op);
    let rank = body.value_type(value).shape()?.len();
    match operation.name() {
        tt::LOAD => {
            let info = axis_info.get(body.operand(op, "ptr")?)?;
            let runs: Vec<u64> = (0..rank).map(|axis| info.dim_info(axis).contiguity).collect();
            let longest = runs.iter().copied().max().filter(|&run| run > 1)?;
            runs.iter().rposition(|&run| run == longest)
        }
        tt::DESCRIPTOR_LOAD => Some(rank - 1),
        tt::TRANS | tt::RESHAPE | tt::EXPAND_DIMS => {
            let source = *operation.operands.first()?;
            let axis = contiguous_axis(body, axis_info, source)?;
            let [_, to_result] = shape_transfers(body, op)?;
            transferred_axis(body.value_type(source).shape()?, axis, &[to_result])
        }
        name if [ttg::CONVERT_LAYOUT, arith::SELECT].contains(&name) || operation.definition.traits.elementwise => {
            operation.operands.iter().find_map(|&operand| contiguous_axis(body, axis_info, operand))
        }
        _ => None,
    }
}
