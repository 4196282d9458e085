//! Traces each register layout back to the constraint that determines it, and checks the constraint (Hexcute paper,
//! Figure 12).
//!
//! Layout assignment solves all register layouts together; here each operation is checked on its own. All tensors of an
//! elementwise operation have one layout, a reduction removes an axis, an MMA maps M, N and K alike in all operands. If
//! a constraint is violated, the error names both operations.

use super::accesses::allocation;
use super::derivation::{RegisterTensorReport, SharedTensorReport};
use super::solved::{Solved, is_free};
use super::{SynthesisError, SynthesisOptions, anchors};
use crate::layouts::to_canonical_dim_order;
use crate::memory::{describe_pointer_memory, element_bits_while_moved};
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::constraint::{
    CopyInstructionTiles, InstructionOperandLayouts, LayoutConstraintError, MmaTileToTensorBases, check_elementwise,
    check_mma, check_reduction, solve_copy,
};
use tilewright_tile::op::name::{scf, tt, ttg};
use tilewright_tile::op_attrs::OPERAND_STAYS_IN_SMEM;
use tilewright_tile::{Attribute, Op, Value, ValueOrigin};

/// A solved program, and the other inputs from which its layouts follow.
pub(super) struct ConstraintTrace<'s, 'm> {
    pub program: Solved<'s, 'm>,
    pub memories: &'s [SharedTensorReport],
    pub options: SynthesisOptions,
}

impl ConstraintTrace<'_, '_> {
    /// Returns one line for each tensor in registers that is not rematerializable.
    pub(super) fn lines(&self) -> Result<Vec<RegisterTensorReport>, SynthesisError> {
        let mut lines = Vec::new();
        for op in self.program.body.walk_region(self.program.body.root()) {
            let Some(constraint) = self.constraint(op)? else { continue };
            let operation = self.program.body.op(op);
            let tensors = operation.results.iter().filter(|value| self.program.is_tensor(**value));
            for &value in tensors.filter(|value| !is_free(self.program.body, **value)) {
                lines.push(RegisterTensorReport {
                    value: self.program.body.display_name(value),
                    operation: operation.name().to_owned(),
                    constraint: constraint.clone(),
                    layout: self
                        .program
                        .body
                        .value_type(value)
                        .layout()
                        .map_or_else(String::new, |layout| layout.text().to_owned()),
                });
            }
        }
        Ok(lines)
    }

    /// Returns the constraint that determines the layouts of an operation's results; `None` if it has no tensor result.
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
                let holds =
                    check_reduction(&self.program.layout(source)?, &self.program.layout(result)?, axis as usize);
                holds.map_err(|unsatisfied| self.disagree(source, op, unsatisfied))?;
                format!("reduce: layout of {} without axis {axis}", name(source))
            }
            tt::LOAD => self.loaded(op, result)?,
            ttg::LOCAL_LOAD if operation.attributes.get(OPERAND_STAYS_IN_SMEM).is_some() => {
                "smem operand: the MMA reads it from shared memory in a canonical layout".to_owned()
            }
            ttg::LOCAL_LOAD => self.out_of_shared(op, result)?,
            ttg::CONVERT_LAYOUT => {
                format!("rearrange: the layout required of {}, which has another", name(operation.operands[0]))
            }
            scf::FOR => "carried: layout of the initial and yielded values".to_owned(),
            scf::IF => "carried: layout of the values of both branches".to_owned(),
            _ if operation.definition.traits.elementwise => {
                let others = operation.operands.iter().filter(|value| self.program.is_tensor(**value)).copied();
                for other in others.clone() {
                    let both = [self.program.layout(other)?, self.program.layout(result)?];
                    let holds = check_elementwise(&[(&name(other), &both[0]), (&name(result), &both[1])]);
                    holds.map_err(|unsatisfied| self.disagree(other, op, unsatisfied))?;
                }
                match others.clone().find(|value| !is_free(self.program.body, *value)) {
                    Some(other) => format!("elementwise: layout of {}", name(other)),
                    None => "elementwise: layout of its user".to_owned(),
                }
            }
            _ => match operation.operands.iter().find(|value| self.program.is_tensor(**value)) {
                Some(&source) => format!("shape: elements of {} are not moved", name(source)),
                None => "rematerializable: layout of its user".to_owned(),
            },
        }))
    }

    /// Checks that M, N and K of the instruction's tile are mapped alike to all tensors of a dot. Returns the
    /// constraint as text.
    fn multiplied(&self, op: Op) -> Result<String, SynthesisError> {
        let operands = &self.program.body.op(op).operands;
        let Some(plan) = self.program.plans.get(&op) else { return Ok("mma: by the plan of the dot".to_owned()) };
        let rows = self.program.config.context.instructions;
        let Some(row) = plan.instruction().and_then(|name| rows.iter().find(|row| row.name == name)) else {
            return Ok("anchor: plain multiply-adds, accumulator elements distributed over lanes".to_owned());
        };
        let [a, b, c] =
            [self.program.layout(operands[0])?, self.program.layout(operands[1])?, self.program.layout(operands[2])?];
        let tile = InstructionOperandLayouts::from_instruction(row)
            .map_err(|unsatisfied| self.disagree(operands[2], op, unsatisfied))?;
        let read = |layout: &Option<LinearLayout>| layout.is_some();
        let found = match plan.is_transposed() {
            false => check_mma(read(&tile.a).then_some(&a), read(&tile.b).then_some(&b), &c, &tile),
            true => {
                let [a, b, c] = [transposed(&a)?, transposed(&b)?, transposed(&c)?];
                check_mma(read(&tile.a).then_some(&b), read(&tile.b).then_some(&a), &c, &tile)
            }
        };
        let by = format!("anchor: tiled by {}{}", row.name, if plan.is_transposed() { ", transposed" } else { "" });
        match found {
            Ok(MmaTileToTensorBases { m, n, k }) => {
                Ok(format!("{by}; its M maps to {m:?}, its N to {n:?}, its K to {k:?} of the operands'"))
            }
            // In a tensor smaller than the tile, elements are replicated, which the description of the instruction's
            // operands does not express.
            Err(LayoutConstraintError::Sizes { .. } | LayoutConstraintError::Instruction { .. }) => {
                Ok(format!("{by}, by its plan"))
            }
            Err(unsatisfied) => Err(self.disagree(operands[0], op, unsatisfied)),
        }
    }

    fn loaded(&self, op: Op, result: Value) -> Result<String, SynthesisError> {
        let pointers = self.program.body.op(op).operands[0];
        let named = describe_pointer_memory(
            self.program.body,
            self.program.axis_info,
            pointers,
            self.program.body.operands(op, "mask"),
            self.program.config.context.target.global.sufficient_alignment(),
        );
        let result_layout = self.program.layout(result)?;
        let anchor = match named {
            Some(named) => {
                Some(to_canonical_dim_order(&anchors::mapped(&named, self.program.config, self.options)?.layout)?)
            }
            None => None,
        };
        Ok(match anchor == Some(result_layout) {
            true => "anchor: coalesced, neighbours in global memory in neighbouring lanes".to_owned(),
            false => "copy: f = g, read from global memory in the layout of its user".to_owned(),
        })
    }

    /// Returns the constraint of a load from shared memory, as text. The tile of its instruction must be mapped alike
    /// to registers and memory, at least up to the order of registers.
    fn out_of_shared(&self, op: Op, result: Value) -> Result<String, SynthesisError> {
        let named = self.program.body.display_name(allocation(self.program.body, self.program.body.op(op).operands[0]));
        let memory = self.memories.iter().find(|memory| memory.tensor == named);
        let loads = memory.into_iter().flat_map(|memory| &memory.accesses);
        let by =
            loads.filter(|access| access.operation == ttg::LOCAL_LOAD).find_map(|access| access.instruction.clone());
        let Some(by) = by else { return Ok("copy: f = g, read in the layout of its user".to_owned()) };
        let row = self.program.config.context.instructions.iter().find(|row| row.name == by);
        let bits = element_bits_while_moved(self.program.body.value_type(result));
        let result_layout = self.program.layout(result)?;
        let addressed = row
            .and_then(|row| CopyInstructionTiles::from_instruction(row, bits).ok())
            .and_then(|sides| solve_copy(&result_layout, &sides.registers, &sides.memory).ok());
        Ok(match addressed {
            Some(_) => format!("copy: f = g q^-1 p, p and q being those of {by}; read in the layout of its user"),
            None => format!("copy: by {by} up to the order of registers; read in the layout of its user"),
        })
    }

    fn disagree(&self, value: Value, op: Op, source: LayoutConstraintError) -> SynthesisError {
        let named = |op: Op| {
            let operation = self.program.body.op(op);
            let result = operation.results.first().map(|value| format!(" {}", self.program.body.display_name(*value)));
            format!("{}{}", operation.name(), result.unwrap_or_default())
        };
        let first = match self.program.body.value_origin(value) {
            ValueOrigin::Result(defining_op, _) => named(defining_op),
            ValueOrigin::Argument(..) => self.program.body.display_name(value),
        };
        SynthesisError::Disagree { first, second: named(op), source: Box::new(source) }
    }
}

/// Returns the layout of the transposed matrix.
fn transposed(layout: &LinearLayout) -> Result<LinearLayout, SynthesisError> {
    let [rows, columns] = [0, 1].map(Dim::tensor);
    let sizes = [(rows, 1u64 << layout.out_bits(columns)), (columns, 1 << layout.out_bits(rows))];
    let outs = Space::from_sizes(&sizes)?;
    let mut transposed_columns = Vec::new();
    for &column in layout.columns() {
        let at = |dim: Dim| layout.outs().coordinate(column, dim);
        transposed_columns.push(outs.pack(&[(rows, at(columns)), (columns, at(rows))])?);
    }
    Ok(LinearLayout::from_columns(layout.ins().clone(), outs, &transposed_columns)?)
}
