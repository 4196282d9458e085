//! Copies of boxes that go on while the program does: the launch makes a map of the memory behind one of the program's pointers, one
//! lane issues, and bytes arrive at an mbarrier.
//!
//! Which maps the kernel takes is found before anything is written, for they are parameters of it: `tw.mapped` names a pointer and
//! strides that are arguments of the function, or numbers.

use std::collections::HashMap;
use tilewright_tile::op::name::tw;

use crate::shared_memory::Access;
use tilewright_assign::LaunchConfig;
use tilewright_assign::layouts::LayoutCache;
use tilewright_kernel::{DerivedTensorMap, Extent, Parameter, Value};
use tilewright_layout::{Dim, Layout};
use tilewright_plan::movement::{
    AsyncCopySpec, AxisStride, GlobalTensor, TensorCopy, TensorCopySource, plan_tensor_copy,
};
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::transform::outside;
use tilewright_tile::{self as tile, Body, Op, ValueOrigin};

use super::error::{LowerError, Lowered, Reason};
use super::lowering::{Boxes, Lowering};
use super::mbarrier::by_first;
use super::shared::placed_at;
use super::types::{carrier, stored};

const COPY: &str = tw::LOAD_BOX;
const MAPPED: &str = tw::MAPPED;

/// A program before anything of it is written.
pub(super) struct Asked<'a> {
    pub body: &'a Body,
    pub facts: &'a AxisInfoMap,
    pub layouts: &'a LayoutCache<'a>,
    pub machine: &'a LaunchConfig<'a>,
    /// The parameter that each argument of the function is, the first of several.
    pub parameters: &'a HashMap<tile::Value, u32>,
}

impl Asked<'_> {
    /// The copies of boxes, and their maps as parameters behind so many others.
    ///
    /// # Errors
    /// [`LowerError`] at a copy that the target's rows do not make, or of whose memory a launch can make no map.
    pub(super) fn boxes(&self, before: usize) -> Result<(Boxes, Vec<Parameter>), LowerError> {
        let (mut boxes, mut maps) = (Boxes::new(), Vec::<Parameter>::new());
        let all = self.body.walk(self.body.root());
        for op in all.into_iter().filter(|&op| self.body.op(op).name() == COPY) {
            let (copy, map) = self.planned(op).map_err(|reason| reason.at(self.body, op))?;
            let known = maps.iter().position(|known| known.map == map.map && known.rows == map.rows);
            let number = known.unwrap_or_else(|| {
                maps.push(map);
                maps.len() - 1
            });
            boxes.insert(op, (copy, (before + number) as u32));
        }
        Ok((boxes, maps))
    }

    fn planned(&self, op: Op) -> Lowered<(TensorCopy, Parameter)> {
        let body = self.body;
        let operand = |group: &str| body.operand(op, group).ok_or_else(|| Reason::malformed("an operand is missing"));
        let mapped = match body.origin(outside(body, operand("desc")?)) {
            ValueOrigin::Result(mapped, _) if body.op(mapped).name() == MAPPED => mapped,
            _ => return Err(Reason::unsupported("a copy of a box that goes on, of a tensor that no launch maps")),
        };
        let ty = body.ty(operand("dst")?);
        let place = self.layouts.memory(ty)?;
        let Layout::Memory(memory) = place.layout else {
            return Err(Reason::unsupported("a copy of a box to other than shared memory"));
        };
        let element_bits = stored(carrier(ty.element())?).bits();
        let (global, extents, base) = self.global(mapped, &place.shape, element_bits)?;
        let problem = AsyncCopySpec {
            global: &global,
            memory: &memory,
            element_bits,
            lanes: self.machine.lanes,
            warps: self.machine.warps,
            masked: false,
            mapped: true,
        };
        let copy = plan_tensor_copy(&problem, self.machine.context)?;
        let bytes = memory.allocated_bytes(element_bits);
        if !bytes.is_multiple_of(copy.alignment) {
            let message = format!("boxes begin at multiples of {} bytes, buffers of {bytes} do not", copy.alignment);
            return Err(Reason::unsupported(message));
        }
        let strides =
            copy.axes.iter().filter_map(|axis| axis.tensor_axis().and_then(|axis| extents.get(axis).copied()));
        let rows = DerivedTensorMap { pointer: base, strides: strides.collect() };
        let name = format!("map{base}");
        let map = Parameter { rows: Some(rows), ..Parameter::tensor(&name, copy.map.clone()) };
        Ok((copy, map))
    }

    /// The tensor that is mapped: what is known of it, its strides as a launch finds them, and the parameter that points to it.
    fn global(&self, mapped: Op, shape: &[u64], element_bits: u32) -> Lowered<(GlobalTensor, Vec<Extent>, u32)> {
        let body = self.body;
        let base = body.operand(mapped, "base").ok_or_else(|| Reason::malformed("it has no pointer"))?;
        let known = |value: tile::Value| {
            self.facts.get(value).and_then(|fact| fact.axes.first()).map_or(1, |along| along.divisibility)
        };
        let parameter = |value: tile::Value| {
            let number = self.parameters.get(&value).copied();
            number.ok_or_else(|| Reason::unsupported("a map of other than an argument of the function, or by one"))
        };
        let (mut axes, mut extents) = (Vec::new(), Vec::new());
        for ((axis, &size), &stride) in shape.iter().enumerate().zip(body.operands(mapped, "strides")) {
            let (stride, extent) = match body.constant_integer(stride).and_then(|number| u64::try_from(number).ok()) {
                Some(number) => (AxisStride::Elements(number), Extent::Number(number)),
                None => (AxisStride::MultipleOf(known(stride)), Extent::Parameter(parameter(stride)?)),
            };
            axes.push((Dim::tensor(axis), size, stride));
            extents.push(extent);
        }
        if axes.len() != shape.len() || element_bits < 8 {
            return Err(Reason::malformed("a map has a stride for each axis, of elements of whole bytes"));
        }
        Ok((GlobalTensor { axes, alignment: known(base) }, extents, parameter(base)?))
    }
}

/// `tw.load_box`: the first warp issues.
pub(super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let Some((copy, number)) = lowering.boxes.get(&op).cloned() else {
        return Err(Reason::unsupported("a copy of a box that goes on"));
    };
    let indices: Vec<Value> =
        lowering.body.operands(op, "indices").iter().map(|&index| lowering.scalar(index)).collect::<Lowered<_>>()?;
    let along = copy.axes.iter().map(|axis| axis.tensor_axis().and_then(|axis| indices.get(axis).copied()));
    let origin: Option<Vec<Value>> = along.collect();
    let origin = origin.ok_or_else(|| Reason::malformed("an index is missing"))?;
    let at = |group: &str| {
        let value = lowering.body.operand(op, group).ok_or_else(|| Reason::malformed("an operand is missing"))?;
        placed_at(lowering, value)
    };
    let (buffer, mbarrier) = (at("dst")?, at("mbarrier")?);
    let active = lowering.optional(op, "acts").map(|active| lowering.scalar(active)).transpose()?;
    lowering.accesses(Access::Copy);
    let map = lowering.builder.parameter(number);
    by_first(&mut lowering.builder, active, |builder| {
        copy.emit_tensor_copies(builder, buffer, TensorCopySource { map, origin: &origin }, mbarrier);
    });
    Ok(())
}
