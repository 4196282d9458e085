//! Rules that are not in the table of operations: about attributes, and about types that depend on several values.

use super::body::{Checked, Checker, is_vector_count};
use super::violation::Violation;
use crate::op::{SCALAR, is_in_memory};
use crate::{Cast, Element, MemorySpace, Op, SpecialRegister, Type, Value};

impl Checker<'_> {
    /// Checks the attributes of an operation, and rules beyond those in its row; operands already satisfy the row.
    pub(super) fn attributes(&self, op: &Op, results: &[(Value, Type)]) -> Checked {
        let lanes = self.kernel.launch.lanes;
        match op {
            Op::Constant { bits } => self.constant(*bits, results),
            Op::Special(SpecialRegister::Program(axis) | SpecialRegister::Programs(axis)) => {
                self.require(*axis < 3, || Violation::Axis { found: *axis })
            }
            Op::SharedAddress { buffer } => {
                let count = self.kernel.shared.len();
                self.require((*buffer as usize) < count, || Violation::SharedBuffer { found: *buffer, count })
            }
            Op::Math { function, operands } => {
                let (found, expected) = (operands.len(), function.operand_count());
                let violation = || Violation::MathOperands { function: function.name(), found, expected };
                self.require(found == expected, violation)?;
                self.all_same_type(operands)
            }
            Op::Cast { op, a } => results.first().map_or(Ok(()), |&result| self.cast(*op, self.type_of(*a)?, result)),
            Op::Pack { elements } => self.pack(elements, results),
            Op::Extract { vector, index } => {
                let ty = self.type_of(*vector)?;
                self.require(*index < ty.element_count(), || Violation::ElementIndex { found: *index, ty })
            }
            Op::PermuteBytes { selector, alternative, .. } => {
                self.selector(*selector)?;
                alternative.map_or(Ok(()), |(_, other)| self.selector(other))
            }
            Op::Load { alignment, other, .. } => {
                self.require(alignment.is_power_of_two(), || Violation::Alignment { found: *alignment })?;
                match (results.first(), other) {
                    (Some(&result), Some(other)) => self.result(result, self.type_of(*other)?),
                    _ => Ok(()),
                }
            }
            Op::Store { alignment, .. } => {
                self.require(alignment.is_power_of_two(), || Violation::Alignment { found: *alignment })
            }
            Op::ShuffleXor { mask, .. } => {
                self.require(*mask != 0 && *mask < lanes, || Violation::LaneXor { found: *mask, lanes })
            }
            Op::Swap { lane, .. } => {
                self.require(lane.is_power_of_two() && *lane < lanes, || Violation::Lane { found: *lane, lanes })
            }
            Op::NamedBarrier { warps, .. } | Op::IndexedBarrier { warps, .. } => {
                let (found, most) = (*warps, self.kernel.launch.warps);
                self.require((1..=most).contains(&found), || Violation::GroupWarps { found, most })
            }
            Op::SetMaxRegisters { registers, .. } => {
                let launch = self.kernel.launch.registers;
                self.require(*registers > 0 && launch > 0, || Violation::Registers { found: *registers, launch })
            }
            Op::Wait { values, .. } => results.iter().zip(values).try_for_each(|(&result, &value)| {
                let ty = self.type_of(value)?.after_wait();
                self.result(result, ty)
            }),
            Op::MbarrierInit { arrivals, .. } => self.require(*arrivals > 0, || Violation::Arrivals),
            Op::TensorAllocate { columns, .. } | Op::TensorFree { columns, .. } => {
                self.require(columns.is_power_of_two(), || Violation::TensorColumns { found: *columns })
            }
            Op::Instruction { name, .. } => self.require(!name.is_empty(), || Violation::InstructionName),
            _ => Ok(()),
        }
    }

    fn constant(&self, bits: u64, results: &[(Value, Type)]) -> Checked {
        let Some((ty, element)) = results.first().and_then(|&(_, ty)| Some((ty, ty.element()?))) else {
            return Ok(());
        };
        let fits = element.bits() == 64 || bits >> element.bits() == 0;
        self.require(fits, || Violation::Constant { bits, ty })
    }

    /// Checks that all values have the type of the first one.
    fn all_same_type(&self, values: &[Value]) -> Checked {
        let Some(&first) = values.first() else { return Ok(()) };
        let ty = self.type_of(first)?;
        values.iter().try_for_each(|&value| self.operand(value, ty))
    }

    fn cast(&self, op: Cast, from: Type, result: (Value, Type)) -> Checked {
        if op == Cast::Bits {
            return self.cast_bits(from, result);
        }
        let required = match op {
            Cast::Truncate => format!("integer(s) narrower than {from}"),
            Cast::FloatS | Cast::FloatU => "float(s)".to_owned(),
            Cast::IntS | Cast::IntU => "integer(s), not i1".to_owned(),
            Cast::ExtendF => format!("float(s) wider than {from}"),
            Cast::RoundF | Cast::RoundZ => format!("float(s) narrower than {from}"),
            Cast::ExtendE4m3 | Cast::ExtendE5m2 | Cast::ExtendFp8Fnuz | Cast::ExtendBf8Fnuz => {
                "f16, bf16 or f32 from i8".to_owned()
            }
            Cast::RoundE4m3 | Cast::RoundE5m2 => "i8 from f16, bf16 or f32".to_owned(),
            _ => format!("integer(s) wider than {from}"),
        };
        let is_convertible =
            |to: Type| from.element().zip(to.element()).is_some_and(|(from, to)| op.can_convert(from, to));
        let expected = format!("{} {required}", from.element_count());
        self.result_that(result, &expected, |to| to.element_count() == from.element_count() && is_convertible(to))
    }

    fn cast_bits(&self, from: Type, result: (Value, Type)) -> Checked {
        let address = Type::Scalar(Element::I64);
        // A pointer to global memory converts to one integer, not to a vector of its parts.
        if from == Type::Pointer(MemorySpace::Global) {
            return self.result(result, address);
        }
        let or = if from == address { " or ptr.global" } else { "" };
        let expected = format!("a scalar or vector of {} bits, not of i1{or}", from.bits());
        self.result_that(result, &expected, |ty| {
            is_in_memory(ty) && ty.bits() == from.bits() || from == address && ty == Type::Pointer(MemorySpace::Global)
        })
    }

    fn pack(&self, elements: &[Value], results: &[(Value, Type)]) -> Checked {
        let found = elements.len();
        let first = elements.first().filter(|_| u32::try_from(found).is_ok_and(is_vector_count));
        let Some(&first) = first else { return Err(self.error(Violation::PackCount { found })) };
        let ty = self.operand_that(first, SCALAR)?;
        self.all_same_type(elements)?;
        let vector = ty.element().map_or(ty, |element| Type::Vector(element, found as u32));
        results.first().map_or(Ok(()), |&result| self.result(result, vector))
    }

    fn selector(&self, selector: u16) -> Checked {
        let nibbles = (0..4).all(|nibble| selector >> (4 * nibble) & 0xf < 8);
        self.require(nibbles, || Violation::Selector { found: selector })
    }
}
