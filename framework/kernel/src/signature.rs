//! The signature of a vendor instruction: its operands and results as values of the kernel IR, derived from its row.
//!
//! The operand of role `d` is the result; all others are operands, in the order of the row. A lane's share of a
//! register operand is one scalar or vector of exactly as many bits, with register 0 of the layout in the lowest bits.
//! If that number of bits is no power of two (elements of six bits), the value has the next power of two, and its
//! highest bits are unused. Any element type of this width fits. Shared memory that lanes address is one `ptr.shared`.

use std::fmt;

use super::{
    Element, Kernel, MemorySpace, Op, Region, SignatureError, StaticLaunchConfig, TensorMapError, Type, Value,
    VerifyError, Violation,
};
use tilewright_layout::Dim;
use tilewright_target::{Completion, Instruction, InstructionOperand};

/// The requirement on the type of one operand or result of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueTypeRequirement {
    /// A scalar or vector of this many bits, not of `i1`.
    Bits(u32),
    /// A matrix descriptor: an integer of this many bits, equal in all lanes.
    Descriptor(u32),
    /// A pending scalar or vector of this many bits: the result of an instruction that completes on a queue.
    Pending(u32),
    /// A scalar or vector of this many bits, pending or not: the accumulator of an instruction that completes on a
    /// queue, which another such instruction may have produced.
    Accumulator(u32),
    /// An address in shared memory.
    SharedAddress,
    /// An address in global memory.
    GlobalAddress,
    /// An address in tensor memory: an `i32`, equal in all lanes.
    TensorAddress,
    /// A bool (`i1`).
    Bool,
    /// A tensor map.
    TensorMap,
    /// An `i32`, equal in all lanes.
    UniformI32,
    /// An operand that no value of the kernel IR can carry yet.
    Unsupported,
}

impl ValueTypeRequirement {
    /// Returns the requirement on the kernel-IR value that a kernel passes for an operand.
    #[must_use]
    pub fn from_operand(operand: &InstructionOperand) -> Self {
        match operand {
            InstructionOperand::Register { bits, layout, .. } => {
                let registers = 1u32.checked_shl(layout.in_bits(Dim::REGISTER)).unwrap_or(0);
                let all = bits.checked_mul(registers).and_then(u32::checked_next_power_of_two);
                all.filter(|_| *bits > 0).map_or(Self::Unsupported, Self::Bits)
            }
            InstructionOperand::Memory(memory) => Self::Descriptor(memory.descriptor.bits),
            InstructionOperand::Access { .. }
            | InstructionOperand::Mbarrier
            | InstructionOperand::Box(_)
            | InstructionOperand::SharedBulk { .. } => Self::SharedAddress,
            InstructionOperand::Global { .. }
            | InstructionOperand::GlobalBulk { .. }
            | InstructionOperand::Block(_) => Self::GlobalAddress,
            InstructionOperand::Tensor(_) => Self::TensorAddress,
            InstructionOperand::TensorMap => Self::TensorMap,
            InstructionOperand::Coordinate | InstructionOperand::BulkBytes { .. } | InstructionOperand::Matrix(_) => {
                Self::UniformI32
            }
            InstructionOperand::Predicate | InstructionOperand::Accumulate => Self::Bool,
            _ => Self::Unsupported,
        }
    }

    /// Returns the requirement on an operand of an instruction that completes on a queue: the result is pending, and
    /// the accumulator, of role `c`, may be pending too.
    fn on_queue(operand: &InstructionOperand) -> Self {
        match (Self::from_operand(operand), operand) {
            (Self::Bits(bits), operand) if is_result_operand(operand) => Self::Pending(bits),
            (Self::Bits(bits), InstructionOperand::Register { role, .. }) if role == "c" => Self::Accumulator(bits),
            (carried, _) => carried,
        }
    }

    /// Whether values of this type meet the requirement.
    #[must_use]
    pub fn accepts_type(self, ty: Type) -> bool {
        match self {
            Self::Bits(bits) => ty.element().is_some_and(|element| element != Element::I1) && ty.bits() == bits,
            Self::Pending(bits) => ty.is_pending() && Self::Bits(bits).accepts_type(ty.after_wait()),
            Self::Accumulator(bits) => Self::Bits(bits).accepts_type(ty.after_wait()),
            Self::Descriptor(bits) => {
                Element::integer_of_width(bits).is_some_and(|element| ty == Type::Scalar(element))
            }
            Self::SharedAddress => ty == Type::Pointer(MemorySpace::Shared),
            Self::GlobalAddress => ty == Type::Pointer(MemorySpace::Global),
            Self::TensorAddress => ty == Type::Scalar(Element::I32),
            Self::Bool => ty == Type::Scalar(Element::I1),
            Self::TensorMap => ty == Type::TensorMap,
            Self::UniformI32 => ty == Type::Scalar(Element::I32),
            Self::Unsupported => false,
        }
    }

    /// Returns a type that meets the requirement. Register operands of at least 32 bits get a scalar or vector of
    /// `i32`, narrower ones an integer of their width. `None` if no type meets the requirement.
    #[must_use]
    pub fn default_type(self) -> Option<Type> {
        match self {
            Self::Bits(bits) if bits >= 32 => Some(Type::vector_or_scalar(Element::I32, bits / 32)),
            Self::Bits(bits) => {
                Element::integer_of_width(bits).filter(|&element| element != Element::I1).map(Type::Scalar)
            }
            Self::Pending(bits) => Self::Bits(bits).default_type().map(Type::to_pending),
            Self::Accumulator(bits) => Self::Bits(bits).default_type(),
            Self::Descriptor(bits) => Element::integer_of_width(bits).map(Type::Scalar),
            Self::SharedAddress => Some(Type::Pointer(MemorySpace::Shared)),
            Self::GlobalAddress => Some(Type::Pointer(MemorySpace::Global)),
            Self::TensorAddress => Some(Type::Scalar(Element::I32)),
            Self::Bool => Some(Type::Scalar(Element::I1)),
            Self::TensorMap => Some(Type::TensorMap),
            Self::UniformI32 => Some(Type::Scalar(Element::I32)),
            Self::Unsupported => None,
        }
    }
}

impl fmt::Display for ValueTypeRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => write!(f, "a scalar or vector of {bits} bits"),
            Self::Pending(bits) => write!(f, "a pending scalar or vector of {bits} bits"),
            Self::Accumulator(bits) => write!(f, "a scalar or vector of {bits} bits, pending or not"),
            Self::Descriptor(bits) => write!(f, "a descriptor, i{bits}"),
            Self::SharedAddress => f.write_str("ptr.shared"),
            Self::GlobalAddress => f.write_str("ptr.global"),
            Self::TensorAddress => f.write_str("an address in tensor memory, i32"),
            Self::Bool => f.write_str("i1"),
            Self::TensorMap => f.write_str("map"),
            Self::UniformI32 => f.write_str("an i32"),
            Self::Unsupported => f.write_str("a type that no value can have"),
        }
    }
}

/// The operands and results of an instruction as kernel-IR values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionSignature {
    /// Requirements on the operands, in the order of the row.
    pub operands: Vec<ValueTypeRequirement>,
    /// Requirements on the results: one or none.
    pub results: Vec<ValueTypeRequirement>,
    /// Number of lanes in the warps that can issue the instruction; `None` if the layouts of its operands disagree, or
    /// none has a lane dim.
    pub lanes: Option<u32>,
    /// Number of warps that issue the instruction together, the first at a multiple of this number; `None` if the
    /// layouts of its operands disagree.
    pub warps: Option<u32>,
    /// Whether the layout of no operand has a lane dim: then one lane issues the instruction for its warp, which may
    /// have any number of lanes.
    pub is_single_lane: bool,
}

/// Whether an operand of the table row is the result of the instruction.
#[must_use]
pub fn is_result_operand(operand: &InstructionOperand) -> bool {
    matches!(operand, InstructionOperand::Register { role, .. } if role == "d")
}

/// Whether a kernel passes a value for an operand. It passes none for constants, which are part of the instruction.
#[must_use]
pub fn is_value_operand(operand: &InstructionOperand) -> bool {
    !is_result_operand(operand) && !matches!(operand, InstructionOperand::Constant { .. })
}

impl InstructionSignature {
    /// The signature of an instruction-table row.
    #[must_use]
    pub fn from_instruction(row: &Instruction) -> Self {
        let queued = matches!(row.completion, Completion::Queue(_));
        let carried = |results: bool| {
            let chosen = row
                .operands
                .iter()
                .filter(move |operand| if results { is_result_operand(operand) } else { is_value_operand(operand) });
            chosen
                .map(|operand| {
                    if queued {
                        ValueTypeRequirement::on_queue(operand)
                    } else {
                        ValueTypeRequirement::from_operand(operand)
                    }
                })
                .collect()
        };
        let is_single_lane = threads(row, Dim::LANE).next().is_none();
        Self {
            operands: carried(false),
            results: carried(true),
            lanes: of_dim(row, Dim::LANE),
            warps: if is_single_lane { Some(1) } else { of_dim(row, Dim::WARP) },
            is_single_lane,
        }
    }

    /// Checks operand and result types against the signature.
    ///
    /// # Errors
    /// [`SignatureError`]: the first operand or result that does not fit.
    pub fn check_types(&self, operands: &[Type], results: &[Type]) -> Result<(), SignatureError> {
        for (what, expected, found) in [("operand", &self.operands, operands), ("result", &self.results, results)] {
            if expected.len() != found.len() {
                return Err(SignatureError::Count { what, expected: expected.len(), found: found.len() });
            }
            for (index, (&expected, &found)) in expected.iter().zip(found).enumerate() {
                if !expected.accepts_type(found) {
                    return Err(SignatureError::Value { what, index, found, expected });
                }
            }
        }
        Ok(())
    }

    /// Checks whether warps of this launch can issue the instruction.
    ///
    /// # Errors
    /// [`SignatureError`] if the instruction needs warps of another number of lanes, or more warps than the launch has.
    pub fn check_launch(&self, launch: StaticLaunchConfig) -> Result<(), SignatureError> {
        self.check_lanes(launch.lanes)?;
        match self.warps {
            // A number of warps that is no multiple is allowed: the warps left over may execute other code.
            Some(warps) if launch.warps >= warps => Ok(()),
            Some(expected) => Err(SignatureError::Warps { expected, found: launch.warps }),
            None => Err(SignatureError::OperandWarps),
        }
    }

    /// Checks whether warps with `own` lanes can issue the instruction.
    ///
    /// # Errors
    /// [`SignatureError`] if the instruction needs warps of another number of lanes.
    pub fn check_lanes(&self, own: u32) -> Result<(), SignatureError> {
        match self.lanes {
            _ if self.is_single_lane => Ok(()),
            Some(lanes) if lanes == own => Ok(()),
            Some(expected) => Err(SignatureError::Lanes { expected, found: own }),
            None => Err(SignatureError::OperandLanes),
        }
    }
}

/// Returns log2 of the size of `dim` (lane or warp) in each operand whose layout has lanes.
fn threads(row: &Instruction, dim: Dim) -> impl Iterator<Item = u32> {
    row.operands.iter().filter_map(move |operand| match operand {
        InstructionOperand::Register { layout, .. } => Some(layout.in_bits(dim)),
        InstructionOperand::Access { data, .. } | InstructionOperand::Global { data, .. } => Some(data.in_bits(dim)),
        _ => None,
    })
}

/// Returns the size of `dim` (lane or warp), on which all operands whose layouts have lanes agree; `None` if they
/// disagree, or there are none.
fn of_dim(row: &Instruction, dim: Dim) -> Option<u32> {
    let mut all = threads(row, dim);
    let first = all.next()?;
    (all.all(|bits| bits == first)).then(|| 1u32.checked_shl(first)).flatten()
}

/// Checks that an instruction can copy the boxes of every tensor map that it takes.
///
/// # Errors
/// [`TensorMapError`] for the first map whose boxes the instruction cannot copy.
pub fn check_instruction_tensor_maps(
    kernel: &Kernel,
    row: &Instruction,
    operands: &[Value],
) -> Result<(), TensorMapError> {
    let box_operand = row.tensor_copy_operand();
    let given = row.operands.iter().filter(|operand| is_value_operand(operand)).zip(operands);
    let maps = given
        .filter(|(operand, _)| matches!(operand, InstructionOperand::TensorMap))
        .map(|(_, value)| value.0 as usize);
    let maps = maps.filter_map(|number| kernel.parameters.get(number)?.map.as_ref());
    box_operand.map_or(Ok(()), |box_operand| maps.into_iter().try_for_each(|map| map.check_for_operand(box_operand)))
}

/// Checks the vendor instructions of a kernel against the target's table rows, after [`super::verify`] has passed: the
/// row exists, operands and results fit it, and the kernel's warps have the row's number of lanes.
///
/// # Errors
/// [`Violation::Instruction`] for the first instruction that does not fit its row.
pub fn verify_vendor_instructions(kernel: &Kernel, rows: &[Instruction]) -> Result<(), VerifyError> {
    let mut types = Vec::new();
    let parameters = kernel.parameters.iter().enumerate().map(|(number, p)| (Value(number as u32), p.ty));
    parameters.for_each(|(value, ty)| set(&mut types, value, ty));
    let mut number = 0;
    region(kernel, &kernel.body, rows, &mut types, &mut number)
}

fn set(types: &mut Vec<Option<Type>>, value: Value, ty: Type) {
    let number = value.0 as usize;
    if types.len() <= number {
        types.resize(number + 1, None);
    }
    types[number] = Some(ty);
}

fn region(
    kernel: &Kernel,
    nested: &Region,
    rows: &[Instruction],
    types: &mut Vec<Option<Type>>,
    number: &mut usize,
) -> Result<(), VerifyError> {
    nested.arguments.iter().for_each(|&(value, ty)| set(types, value, ty));
    for statement in &nested.statements {
        let operation = *number;
        *number += 1;
        if let Op::Instruction { name, operands } = &statement.op {
            let given = operands.iter().map(|value| types.get(value.0 as usize).copied().flatten());
            let given: Vec<Type> = given.map(|ty| ty.unwrap_or(Type::Scalar(Element::I1))).collect();
            let results: Vec<Type> = statement.results.iter().map(|&(_, ty)| ty).collect();
            let row = rows.iter().find(|row| row.name == *name);
            let fits = check(row, &given, &results, kernel.launch);
            let fits = fits.and_then(|row| {
                check_instruction_tensor_maps(kernel, row, operands).map_err(|error| error.to_string())
            });
            fits.map_err(|message| VerifyError {
                kernel: kernel.name.clone(),
                operation: Some(operation),
                name: statement.op.name(),
                violation: Violation::Instruction { name: name.clone(), message },
            })?;
        }
        for inner in statement.op.regions() {
            region(kernel, inner, rows, types, number)?;
        }
        statement.results.iter().for_each(|&(value, ty)| set(types, value, ty));
    }
    Ok(())
}

fn check<'a>(
    row: Option<&'a Instruction>,
    operands: &[Type],
    results: &[Type],
    launch: StaticLaunchConfig,
) -> Result<&'a Instruction, String> {
    let row = row.ok_or("the target has no instruction of this name")?;
    let signature = InstructionSignature::from_instruction(row);
    let checked = signature.check_types(operands, results).and_then(|()| signature.check_launch(launch));
    checked.map_err(|error| error.to_string()).map(|()| row)
}
