//! Where the elements of tensors in shared memory lie, so that all that access them take the fewest wavefronts.

use std::fmt::Write;

use super::{MemoryLine, Options, SynthesisError};
use crate::engine::Machine;
use crate::engine::layouts::Layouts;
use crate::engine::memory::moved_bits;
use crate::layout::{Attribute, Dim, FamilySpec, Layout, LinearLayout, MemoryLayout};
use crate::movement::{Accessor, Candidate, Constraints, Kind, choose_memory};
use crate::tile::{Body, LayoutName, Memory, Op, Origin, Type, Value};

/// How often what is in a loop is taken to happen.
const LOOP_WEIGHT: u64 = 8;

/// One that accesses a tensor.
struct Access {
    op: Op,
    accessor: Accessor,
    /// Elements that it moves together at least.
    least: u64,
}

/// Finds the layout of a tensor and writes it into the types.
pub(super) fn place(
    body: &mut Body,
    tensor: Value,
    machine: &Machine<'_>,
    layouts: &Layouts<'_>,
    options: Options,
) -> Result<MemoryLine, SynthesisError> {
    let buffers = buffers(body, tensor);
    let accesses = accesses(body, &buffers, layouts)?;
    let ty = body.ty(tensor).clone();
    let bits = moved_bits(ty.element());
    let named = body.name(tensor).map_or_else(|| format!("%{}", tensor.index()), |name| format!("%{name}"));
    let accessors: Vec<Accessor> = accesses.iter().map(|access| access.accessor.clone()).collect();
    let kinds = if options.memory { vec![Kind::Plain, Kind::Functor, Kind::Swizzle] } else { vec![Kind::Plain] };
    let constraints = Constraints { kinds, budget: 1 << 12, ..Constraints::default() };
    let choice = choose_memory(&accessors, bits, &constraints, machine.means)?;
    let fits = |candidate: &&Candidate| {
        candidate.closed.is_none()
            && candidate.accessors.iter().zip(&accesses).all(|(figures, access)| figures.vector_elements >= access.least)
    };
    let chosen = choice.candidates.iter().find(fits).or_else(|| choice.candidates.first().filter(|_| !options.memory));
    let Some(chosen) = chosen else {
        let reason = "what one copies together lies apart for the others".to_owned();
        return Err(SynthesisError::Memory { tensor: named, accesses: listed(body, &accesses), reason });
    };
    let layout = memory_name(&chosen.memory);
    for &buffer in &buffers {
        if let Type::Memory(memory) = body.ty(buffer) {
            let memory = Memory { layout: layout.clone(), ..(**memory).clone() };
            body.set_type(buffer, Type::Memory(memory.into()));
        }
    }
    let line = |(access, figures): (&Access, &crate::movement::AccessorFigures)| super::derivation::AccessLine {
        operation: body.op(access.op).name().to_owned(),
        instruction: figures.instruction.clone(),
        vector_bits: figures.vector_elements * u64::from(bits),
        wavefronts: figures.wavefronts,
        least: figures.least,
        excess: figures.excess,
        weight: access.accessor.weight,
    };
    let lines = accesses.iter().zip(&chosen.accessors).map(line).collect();
    Ok(MemoryLine {
        tensor: named,
        ty: ty.to_string(),
        layout: layout.text().to_owned(),
        kind: chosen.kind,
        functor: chosen.functor.map(|functor| functor.to_string()),
        bytes: chosen.bytes * copies(&ty, &chosen.memory),
        accesses: lines,
    })
}

/// How many buffers a type has.
fn copies(ty: &Type, memory: &MemoryLayout) -> u64 {
    let elements: u64 = ty.shape().unwrap_or_default().iter().product();
    (elements >> memory.linear.outs().bits()).max(1)
}

/// The allocation, and those of its tensors that are meant by their number.
fn buffers(body: &Body, tensor: Value) -> Vec<Value> {
    let mut buffers = vec![tensor];
    for op in body.walk(body.root()) {
        let operation = body.op(op);
        if operation.name() == "ttg.memdesc_index" && operation.operands[0] == tensor {
            buffers.push(operation.results[0]);
        }
    }
    buffers
}

/// Who accesses a tensor.
fn accesses(body: &Body, buffers: &[Value], layouts: &Layouts<'_>) -> Result<Vec<Access>, SynthesisError> {
    let mut found = Vec::new();
    for (op, weight) in weighted(body) {
        let operation = body.op(op);
        let is_of = |operand: usize| operation.operands.get(operand).is_some_and(|value| buffers.contains(value));
        let (accessor, least): (Accessor, u64) = match operation.name() {
            "ttg.local_load" if is_of(0) => {
                (Accessor::load(layouts.distributed(body.ty(operation.results[0]))?), 1)
            }
            "ttg.local_store" if is_of(1) => {
                (Accessor::store(layouts.distributed(body.ty(operation.operands[0]))?), 1)
            }
            "ttg.async_copy_global_to_local" if is_of(1) => {
                let layout = layouts.distributed(body.ty(operation.operands[0]))?;
                let together = together(&layout);
                (Accessor::store(layout), together)
            }
            _ => continue,
        };
        // Accesses of one layout are one, as often as all of them.
        let known = found.iter_mut().find(|known: &&mut Access| {
            known.accessor.layout == accessor.layout && known.accessor.direction == accessor.direction && known.least == least
        });
        match known {
            Some(known) => known.accessor.weight += weight,
            None => found.push(Access { op, accessor: accessor.times(weight), least }),
        }
    }
    Ok(found)
}

/// Elements that follow each other in the registers of a lane, which an asynchronous copy brings together.
fn together(layout: &LinearLayout) -> u64 {
    let columns = layout.columns_of(Dim::REGISTER);
    let Some(&first) = columns.first() else { return 1 };
    let following = columns.iter().enumerate().take_while(|&(bit, &column)| column == first << bit).count();
    1 << following
}

/// All operations, with how often they are taken to happen.
pub(super) fn weighted(body: &Body) -> Vec<(Op, u64)> {
    fn of(body: &Body, region: crate::tile::Region, weight: u64, found: &mut Vec<(Op, u64)>) {
        for block in body.blocks(region) {
            for &op in body.ops(*block) {
                found.push((op, weight));
                let inner = if body.op(op).name() == "scf.for" { weight * LOOP_WEIGHT } else { weight };
                for region in &body.op(op).regions {
                    of(body, *region, inner, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    of(body, body.root(), 1, &mut found);
    found
}

/// The name by which types say a layout of memory.
fn memory_name(memory: &MemoryLayout) -> LayoutName {
    let spec = Layout::Memory(memory.clone()).to_spec().unwrap_or_else(|| FamilySpec::new("shared_linear"));
    let mut text = String::from("#ttg.shared_linear<{offset = [");
    for (number, basis) in memory.linear.bases_of(Dim::OFFSET).iter().enumerate() {
        let basis: Vec<String> = basis.iter().map(u64::to_string).collect();
        // Writing to a text does not fail.
        let _ = write!(text, "{}[{}]", if number == 0 { "" } else { ", " }, basis.join(", "));
    }
    text.push_str("]}");
    if let Some(Attribute::Int(alignment)) = spec.attributes.get("alignment") {
        let _ = write!(text, ", alignment = {alignment}");
    }
    text.push('>');
    LayoutName::new(spec, text)
}

fn listed(body: &Body, accesses: &[Access]) -> String {
    let one = |access: &Access| {
        let operation = body.op(access.op);
        let value = operation.results.first().or(operation.operands.first());
        let value = value.and_then(|value| body.name(*value)).map(|name| format!(" of %{name}")).unwrap_or_default();
        match body.origin(operation.operands[0]) {
            Origin::Result(..) | Origin::Argument(..) => format!("`{}`{value}", operation.name()),
        }
    };
    accesses.iter().map(one).collect::<Vec<_>>().join(" and ")
}
