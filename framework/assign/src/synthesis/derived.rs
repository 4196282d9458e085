//! Which constraint gave the layout of each tensor in registers, and that it holds (seed 003, Figure 12).
//!
//! The engine solves all registers together; here each operation of what it solved is looked at by itself: the tensors of an
//! elementwise operation are in one layout, a reduction forgets an axis, a product carries M, N and K alike in all operands.
//! Where one does not hold, the error names the two operations.

use super::accesses::whole;
use super::derivation::{MemoryLine, RegisterLine};
use super::solved::{Solved, is_free};
use super::{Options, SynthesisError, anchors};
use crate::layouts::in_order;
use crate::memory::{moved_bits, named};
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::constraint::{
    CopyTiles, OperandTiles, Tiling, Unsatisfied, copied, elementwise, product, reduction,
};
use tilewright_tile::marks::IN_PLACE;
use tilewright_tile::op::name::{scf, tt, ttg};
use tilewright_tile::{Attribute, Op, Value, ValueOrigin};

/// A solved program, and what else its layouts come from.
pub(super) struct Traced<'s, 'm> {
    pub program: Solved<'s, 'm>,
    pub memories: &'s [MemoryLine],
    pub options: Options,
}

impl Traced<'_, '_> {
    /// A line for each tensor in registers that does not follow from ranges and constants alone.
    pub(super) fn lines(&self) -> Result<Vec<RegisterLine>, SynthesisError> {
        let mut lines = Vec::new();
        for op in self.program.body.walk(self.program.body.root()) {
            let Some(constraint) = self.constraint(op)? else { continue };
            let operation = self.program.body.op(op);
            let tensors = operation.results.iter().filter(|value| self.program.is_tensor(**value));
            for &value in tensors.filter(|value| !is_free(self.program.body, **value)) {
                lines.push(RegisterLine {
                    value: self.program.body.display_name(value),
                    operation: operation.name().to_owned(),
                    constraint: constraint.clone(),
                    layout: self
                        .program
                        .body
                        .ty(value)
                        .layout()
                        .map_or_else(String::new, |layout| layout.text().to_owned()),
                });
            }
        }
        Ok(lines)
    }

    /// What says the layouts of an operation's results; nothing of what has no tensors.
    fn constraint(&self, op: Op) -> Result<Option<String>, SynthesisError> {
        let operation = self.program.body.op(op);
        let Some(&result) = operation.results.iter().find(|value| self.program.is_tensor(**value)) else {
            return Ok(None);
        };
        let name = |value: Value| self.program.body.display_name(value);
        Ok(Some(match operation.name() {
            tt::DOT => self.multiplied(op)?,
            tt::REDUCE => {
                let axis = operation.attributes.get("axis").and_then(Attribute::as_integer).unwrap_or(0);
                let source = operation.operands[0];
                let holds = reduction(&self.program.layout(source)?, &self.program.layout(result)?, axis as usize);
                holds.map_err(|unsatisfied| self.disagree(source, op, unsatisfied))?;
                format!("reduce: that of {} without axis {axis}", name(source))
            }
            tt::LOAD => self.loaded(op, result)?,
            ttg::LOCAL_LOAD if operation.attributes.get(IN_PLACE).is_some() => {
                "in place: the unit reads it from shared memory, in an arrangement of its own".to_owned()
            }
            ttg::LOCAL_LOAD => self.out_of_shared(op, result)?,
            ttg::CONVERT_LAYOUT => {
                format!("rearrange: {} is wanted so, and is another way", name(operation.operands[0]))
            }
            scf::FOR => "carried: that of what the loop begins with and hands on".to_owned(),
            scf::IF => "carried: that of what both branches give".to_owned(),
            _ if operation.definition.traits.elementwise => {
                let others = operation.operands.iter().filter(|value| self.program.is_tensor(**value)).copied();
                for other in others.clone() {
                    let both = [self.program.layout(other)?, self.program.layout(result)?];
                    let holds = elementwise(&[(&name(other), &both[0]), (&name(result), &both[1])]);
                    holds.map_err(|unsatisfied| self.disagree(other, op, unsatisfied))?;
                }
                match others.clone().find(|value| !is_free(self.program.body, *value)) {
                    Some(other) => format!("elementwise: that of {}", name(other)),
                    None => "elementwise: that of what uses it".to_owned(),
                }
            }
            _ => match operation.operands.iter().find(|value| self.program.is_tensor(**value)) {
                Some(&source) => format!("shape: elements of {} where they are", name(source)),
                None => "free: that of what uses it".to_owned(),
            },
        }))
    }

    /// A product: M, N and K are carried from the instruction's tile to the tensors' alike.
    fn multiplied(&self, op: Op) -> Result<String, SynthesisError> {
        let operands = &self.program.body.op(op).operands;
        let Some(plan) = self.program.plans.get(&op) else { return Ok("mma: by the plan of the product".to_owned()) };
        let rows = self.program.machine.context.instructions;
        let Some(row) = plan.row().and_then(|name| rows.iter().find(|row| row.name == name)) else {
            return Ok("anchor: lanes multiply, elements of the sums shared out among them".to_owned());
        };
        let [a, b, c] =
            [self.program.layout(operands[0])?, self.program.layout(operands[1])?, self.program.layout(operands[2])?];
        let tile = OperandTiles::of(row).map_err(|unsatisfied| self.disagree(operands[2], op, unsatisfied))?;
        let read = |layout: &Option<LinearLayout>| layout.is_some();
        let found = match plan.is_transposed() {
            false => product(read(&tile.a).then_some(&a), read(&tile.b).then_some(&b), &c, &tile),
            true => {
                let [a, b, c] = [transposed(&a)?, transposed(&b)?, transposed(&c)?];
                product(read(&tile.a).then_some(&b), read(&tile.b).then_some(&a), &c, &tile)
            }
        };
        let by = format!("anchor: tiled by {}{}", row.name, if plan.is_transposed() { ", transposed" } else { "" });
        match found {
            Ok(Tiling { m, n, k }) => {
                Ok(format!("{by}; its M goes to {m:?}, its N to {n:?}, its K to {k:?} of the factors'"))
            }
            // A tensor that is smaller than the tile holds elements more than once, and rows say that of no operand.
            Err(Unsatisfied::Sizes { .. } | Unsatisfied::Instruction { .. }) => Ok(format!("{by}, as its plan says")),
            Err(unsatisfied) => Err(self.disagree(operands[0], op, unsatisfied)),
        }
    }

    fn loaded(&self, op: Op, result: Value) -> Result<String, SynthesisError> {
        let pointers = self.program.body.op(op).operands[0];
        let named = named(self.program.body, self.program.facts, pointers, self.program.body.operands(op, "mask"));
        let own = self.program.layout(result)?;
        let anchor = match named {
            Some(named) => Some(in_order(&anchors::mapped(&named, self.program.machine, self.options)?.layout)?),
            None => None,
        };
        Ok(match anchor == Some(own) {
            true => "anchor: coalesced, neighbours in global memory in neighbouring lanes".to_owned(),
            false => "copy: f = g, global memory is read as what uses it has it".to_owned(),
        })
    }

    /// A load from shared memory: the row carries its tile to the tensor alike on both sides.
    fn out_of_shared(&self, op: Op, result: Value) -> Result<String, SynthesisError> {
        let named = self.program.body.display_name(whole(self.program.body, self.program.body.op(op).operands[0]));
        let memory = self.memories.iter().find(|memory| memory.tensor == named);
        let loads = memory.into_iter().flat_map(|memory| &memory.accesses);
        let by =
            loads.filter(|access| access.operation == ttg::LOCAL_LOAD).find_map(|access| access.instruction.clone());
        let Some(by) = by else { return Ok("copy: f = g, read as what uses it has it".to_owned()) };
        let row = self.program.machine.context.instructions.iter().find(|row| row.name == by);
        let bits = moved_bits(self.program.body.ty(result));
        let own = self.program.layout(result)?;
        let addressed = row
            .and_then(|row| CopyTiles::of(row, bits).ok())
            .and_then(|sides| copied(&own, &sides.registers, &sides.memory).ok());
        Ok(match addressed {
            Some(_) => format!("copy: f = g q^-1 p, p and q being those of {by}; read as what uses it has it"),
            None => format!("copy: by {by} up to the order of registers; read as what uses it has it"),
        })
    }

    fn disagree(&self, value: Value, op: Op, source: Unsatisfied) -> SynthesisError {
        let named = |op: Op| {
            let operation = self.program.body.op(op);
            let result = operation.results.first().map(|value| format!(" {}", self.program.body.display_name(*value)));
            format!("{}{}", operation.name(), result.unwrap_or_default())
        };
        let first = match self.program.body.origin(value) {
            ValueOrigin::Result(made, _) => named(made),
            ValueOrigin::Argument(..) => self.program.body.display_name(value),
        };
        SynthesisError::Disagree { first, second: named(op), source: Box::new(source) }
    }
}

/// The layout of the transposed matrix.
fn transposed(layout: &LinearLayout) -> Result<LinearLayout, SynthesisError> {
    let [rows, columns] = [0, 1].map(Dim::tensor);
    let sizes = [(rows, 1u64 << layout.out_bits(columns)), (columns, 1 << layout.out_bits(rows))];
    let outs = Space::of_sizes(&sizes)?;
    let mut made = Vec::new();
    for &column in layout.columns() {
        let at = |dim: Dim| layout.outs().coordinate(column, dim);
        made.push(outs.pack(&[(rows, at(columns)), (columns, at(rows))])?);
    }
    Ok(LinearLayout::from_columns(layout.ins().clone(), outs, &made)?)
}
