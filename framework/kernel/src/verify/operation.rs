//! The types that each operation takes and gives.

use super::body::{Checked, Checker};
use super::types::{BOOL, IN_MEMORY, INDEX, WORD, is_float, is_in_memory, is_word};
use super::violation::Violation;
use crate::{Atomic, Element, Op, Space, Type, Value};

impl Checker<'_> {
    pub(super) fn operation(&mut self, op: &Op, results: &[(Value, Type)]) -> Checked {
        match op {
            Op::Constant { bits } => self.constant(*bits, results),
            Op::Special(register) => self.special(*register, results),
            Op::SharedAddress { buffer } => {
                let count = self.kernel.shared.len();
                let violation = || Violation::SharedBuffer { found: *buffer, count };
                self.require((*buffer as usize) < count, violation)?;
                self.result(results, Type::Pointer(Space::Shared))
            }
            Op::ClusterAddress { pointer, block } => {
                self.operand(*pointer, Type::Pointer(Space::Shared))?;
                self.operand(*block, INDEX)?;
                self.result(results, Type::Pointer(Space::Cluster))
            }
            Op::Unary { op, a } => self.unary(*op, *a, results),
            Op::Binary { op, a, b } => self.binary(*op, *a, *b, results),
            Op::FMulAdd { a, b, c } => {
                let computes = |ty: Type| is_float(ty) && ty.element() != Some(Element::Bf16);
                let ty = self.operand_that(*a, "a floating-point type but bf16", computes)?;
                self.operand(*b, ty)?;
                self.operand(*c, ty)?;
                self.result(results, ty)
            }
            Op::Compare { op, a, b } => self.compare(*op, *a, *b, results),
            Op::Math { function, operands } => self.math(*function, operands, results),
            Op::Select { condition, a, b } => {
                self.operand(*condition, BOOL)?;
                let ty = self.operand_that(*a, "a value that is not pending", |ty| !ty.is_pending())?;
                self.operand(*b, ty)?;
                self.result(results, ty)
            }
            Op::Same { value, .. } => {
                let ty = self.operand_that(*value, "a value that is not pending", |ty| !ty.is_pending())?;
                self.result(results, ty)
            }
            Op::Cast { op, a } => self.cast(*op, *a, results),
            Op::Pack { elements } => self.pack(elements, results),
            Op::Extract { vector, index } => self.extract(*vector, *index, results),
            Op::PermuteBytes { a, b, selector, alternative } => {
                self.operand(*a, INDEX)?;
                self.operand(*b, INDEX)?;
                self.selector(*selector)?;
                if let Some((condition, other)) = alternative {
                    self.operand(*condition, BOOL)?;
                    self.selector(*other)?;
                }
                self.result(results, INDEX)
            }
            Op::Advance { pointer, bytes } => {
                let ty = self.operand_that(*pointer, "a pointer", |ty| matches!(ty, Type::Pointer(_)))?;
                let integer = |ty| matches!(ty, Type::Scalar(Element::I32 | Element::I64));
                self.operand_that(*bytes, "i32 or i64", integer)?;
                self.result(results, ty)
            }
            Op::Load { pointer, predicate, alignment, .. } => {
                self.access(*pointer, *predicate, *alignment)?;
                self.result_that(results, IN_MEMORY, is_in_memory)
            }
            Op::Store { pointer, value, predicate, alignment, .. } => {
                self.access(*pointer, *predicate, *alignment)?;
                self.operand_that(*value, IN_MEMORY, is_in_memory).map(|_| ())
            }
            Op::AtomicRmw { .. } | Op::AtomicCompareExchange { .. } => self.atomic(op, results),
            Op::Fence { .. } | Op::GridDependency { .. } => Ok(()),
            Op::Assert { condition, predicate, .. } => {
                self.operand(*condition, BOOL)?;
                predicate.map_or(Ok(()), |predicate| self.operand(predicate, BOOL))
            }
            Op::Print { values, .. } => values.iter().try_for_each(|&value| {
                let expected = "a scalar, a vector or ptr.global";
                let fits = |ty: Type| ty.element().is_some() || ty == Type::Pointer(Space::Global);
                self.operand_that(value, expected, fits).map(|_| ())
            }),
            Op::Assembly { text, operands, .. } => {
                self.require(!text.is_empty(), || Violation::AssemblyText)?;
                operands.iter().try_for_each(|&value| self.type_of(value).map(|_| ()))
            }
            Op::Exchange { value, lane, .. } => {
                let ty = self.operand_that(*value, WORD, is_word)?;
                self.operand(*lane, INDEX)?;
                self.result(results, ty)
            }
            Op::ExchangeXor { value, mask, .. } => {
                let ty = self.operand_that(*value, WORD, is_word)?;
                let lanes = self.kernel.launch.lanes;
                self.require(*mask != 0 && *mask < lanes, || Violation::LaneXor { found: *mask, lanes })?;
                self.result(results, ty)
            }
            Op::Swap { a, b, lane, .. } => {
                let ty = self.operand_that(*a, WORD, is_word)?;
                self.operand(*b, ty)?;
                let lanes = self.kernel.launch.lanes;
                self.require(lane.is_power_of_two() && *lane < lanes, || Violation::Lane { found: *lane, lanes })?;
                results.iter().try_for_each(|&result| self.result(&[result], ty))
            }
            Op::Barrier { .. } | Op::Commit { .. } | Op::ProxyFence {} => Ok(()),
            Op::GroupBarrier { number, warps } => {
                let (found, most) = (*warps, self.kernel.launch.warps);
                self.require((1..=most).contains(&found), || Violation::GroupWarps { number: *number, found, most })
            }
            Op::Pend { value, .. } => {
                let ty =
                    self.operand_that(*value, "a scalar or vector", |ty| ty.element().is_some() && !ty.is_pending())?;
                self.result(results, ty.pending())
            }
            Op::Wait { values, .. } => self.wait(values, results),
            Op::MbarrierInit { pointer, arrivals } => {
                self.require(*arrivals > 0, || Violation::Arrivals)?;
                self.operand(*pointer, Type::Pointer(Space::Shared))
            }
            Op::MbarrierArrive { pointer, .. } | Op::MbarrierCommit { pointer, .. } => {
                self.operand(*pointer, Type::Pointer(Space::Shared))
            }
            Op::MbarrierWait { pointer, phase } => {
                self.operand(*pointer, Type::Pointer(Space::Shared))?;
                self.operand(*phase, INDEX)
            }
            Op::TensorAllocate { pointer, columns } => {
                self.require(columns.is_power_of_two(), || Violation::TensorColumns { found: *columns })?;
                self.operand(*pointer, Type::Pointer(Space::Shared))
            }
            Op::TensorFree { address, columns } => {
                self.require(columns.is_power_of_two(), || Violation::TensorColumns { found: *columns })?;
                self.operand(*address, INDEX)
            }
            Op::Instruction { name, operands } => {
                self.require(!name.is_empty(), || Violation::InstructionName)?;
                operands.iter().try_for_each(|&value| self.type_of(value).map(|_| ()))
            }
            Op::If { condition, then, otherwise } => {
                self.operand(*condition, BOOL)?;
                let types: Vec<_> = results.iter().map(|&(_, ty)| ty).collect();
                self.inner_region(0, then, &[], &types)?;
                self.inner_region(1, otherwise, &[], &types)
            }
            Op::For { from, to, step, carried, body } => self.for_loop([*from, *to, *step], carried, body, results),
            Op::While { carried, body } => self.while_loop(carried, body, results),
            Op::Yield { .. } => Err(self.error(Violation::YieldMisplaced)),
        }
    }

    /// Each pending value becomes what was pending.
    fn wait(&self, values: &[Value], results: &[(Value, Type)]) -> Checked {
        for (index, &value) in values.iter().enumerate() {
            let ty = self.operand_that(value, "a pending value", Type::is_pending)?;
            results.get(index).map_or(Ok(()), |&result| self.result(&[result], ty.awaited()))?;
        }
        Ok(())
    }

    /// An operation that reads and writes memory in one step.
    fn atomic(&self, op: &Op, results: &[(Value, Type)]) -> Checked {
        let (atomic, pointer, compared, value, predicate) = match op {
            Op::AtomicRmw { op, pointer, value, predicate, .. } => (*op, *pointer, None, *value, *predicate),
            Op::AtomicCompareExchange { pointer, expected, value, predicate, .. } => {
                (Atomic::Exchange, *pointer, Some(*expected), *value, *predicate)
            }
            _ => return Ok(()),
        };
        let reaches = |ty| matches!(ty, Type::Pointer(Space::Global | Space::Shared));
        self.operand_that(pointer, "ptr.global or ptr.shared", reaches)?;
        let expected = if atomic == Atomic::FAdd { "f16, bf16, f32 or f64" } else { "i32 or i64" };
        let takes = |ty| matches!(ty, Type::Scalar(element) if atomic.takes(element));
        let ty = self.operand_that(value, expected, takes)?;
        compared.map_or(Ok(()), |compared| self.operand(compared, ty))?;
        predicate.map_or(Ok(()), |predicate| self.operand(predicate, BOOL))?;
        self.result(results, ty)
    }

    fn selector(&self, selector: u16) -> Checked {
        let nibbles = (0..4).all(|nibble| selector >> (4 * nibble) & 0xf < 8);
        self.require(nibbles, || Violation::Selector { found: selector })
    }

    fn access(&self, pointer: Value, predicate: Option<Value>, alignment: u32) -> Checked {
        self.operand_that(pointer, "a pointer", |ty| matches!(ty, Type::Pointer(_)))?;
        predicate.map_or(Ok(()), |predicate| self.operand(predicate, BOOL))?;
        self.require(alignment.is_power_of_two(), || Violation::Alignment { found: alignment })
    }
}
