//! What a vendor instruction takes and gives as values of the kernel IR, said by its row.
//!
//! The operand of role `d` is the result; all others are operands, in the order of the row. What a
//! lane holds of a register operand is one scalar or vector of exactly as many bits, the layout's
//! register 0 in the lowest, or where that is no power of two (elements of six bits) of the next one, of which the
//! highest bits mean nothing: which element type carries the bits says nothing. Shared memory that
//! lanes address is one `ptr.shared`.

use std::fmt;

use super::{Element, Kernel, Launch, MemorySpace, Op, Region, Type, Value, VerifyError, Violation};
use tilewright_layout::Dim;
use tilewright_target::{Completion, Instruction, Operand};

/// What one operand or result of an instruction must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// A scalar or vector, not of `i1`, of so many bits.
    Bits(u32),
    /// A descriptor: an integer of so many bits, the same in all lanes.
    Descriptor(u32),
    /// The same while it is pending: a result of an instruction that completes on a queue.
    Pending(u32),
    /// Either: the accumulator of such an instruction, which may be handed on to it by another.
    Accumulator(u32),
    /// An address in shared memory.
    SharedAddress,
    /// An address in global memory.
    GlobalAddress,
    /// An address in tensor memory, an `i32`, the same in all lanes.
    TensorAddress,
    /// A truth value.
    Truth,
    /// The map of a tensor.
    TensorMap,
    /// A number, the same in all lanes.
    Number,
    /// Something that values of the kernel IR do not carry yet.
    Nothing,
}

impl Carried {
    /// What carries an operand.
    #[must_use]
    pub fn of(operand: &Operand) -> Self {
        match operand {
            Operand::Register { bits, layout, .. } => {
                let registers = 1u32.checked_shl(layout.in_bits(Dim::REGISTER)).unwrap_or(0);
                let all = bits.checked_mul(registers).and_then(u32::checked_next_power_of_two);
                all.filter(|_| *bits > 0).map_or(Self::Nothing, Self::Bits)
            }
            Operand::Memory(memory) => Self::Descriptor(memory.descriptor.bits),
            Operand::Access { .. } | Operand::Mbarrier | Operand::Box(_) | Operand::SharedSpan { .. } => {
                Self::SharedAddress
            }
            Operand::Global { .. } | Operand::GlobalSpan { .. } | Operand::Block(_) => Self::GlobalAddress,
            Operand::Tensor(_) => Self::TensorAddress,
            Operand::TensorMap => Self::TensorMap,
            Operand::Coordinate | Operand::SpanBytes { .. } | Operand::Matrix(_) => Self::Number,
            Operand::Predicate | Operand::Accumulate => Self::Truth,
            _ => Self::Nothing,
        }
    }

    /// What carries an operand of an instruction that completes on a queue: its result is pending, and its
    /// accumulator, of role `c`, may be.
    fn on_queue(operand: &Operand) -> Self {
        match (Self::of(operand), operand) {
            (Self::Bits(bits), operand) if is_result(operand) => Self::Pending(bits),
            (Self::Bits(bits), Operand::Register { role, .. }) if role == "c" => Self::Accumulator(bits),
            (carried, _) => carried,
        }
    }

    /// Whether values of this type carry it.
    #[must_use]
    pub fn fits(self, ty: Type) -> bool {
        match self {
            Self::Bits(bits) => ty.element().is_some_and(|element| element != Element::I1) && ty.bits() == bits,
            Self::Pending(bits) => ty.is_pending() && Self::Bits(bits).fits(ty.awaited()),
            Self::Accumulator(bits) => Self::Bits(bits).fits(ty.awaited()),
            Self::Descriptor(bits) => Element::integer(bits).is_some_and(|element| ty == Type::Scalar(element)),
            Self::SharedAddress => ty == Type::Pointer(MemorySpace::Shared),
            Self::GlobalAddress => ty == Type::Pointer(MemorySpace::Global),
            Self::TensorAddress => ty == Type::Scalar(Element::I32),
            Self::Truth => ty == Type::Scalar(Element::I1),
            Self::TensorMap => ty == Type::TensorMap,
            Self::Number => ty == Type::Scalar(Element::I32),
            Self::Nothing => false,
        }
    }

    /// The type that is used where nothing speaks for another: 32-bit words, or one narrower integer.
    #[must_use]
    pub fn usual_type(self) -> Option<Type> {
        match self {
            Self::Bits(bits) if bits >= 32 => Some(Type::of(Element::I32, bits / 32)),
            Self::Bits(bits) => Element::integer(bits).filter(|&element| element != Element::I1).map(Type::Scalar),
            Self::Pending(bits) => Self::Bits(bits).usual_type().map(Type::pending),
            Self::Accumulator(bits) => Self::Bits(bits).usual_type(),
            Self::Descriptor(bits) => Element::integer(bits).map(Type::Scalar),
            Self::SharedAddress => Some(Type::Pointer(MemorySpace::Shared)),
            Self::GlobalAddress => Some(Type::Pointer(MemorySpace::Global)),
            Self::TensorAddress => Some(Type::Scalar(Element::I32)),
            Self::Truth => Some(Type::Scalar(Element::I1)),
            Self::TensorMap => Some(Type::TensorMap),
            Self::Number => Some(Type::Scalar(Element::I32)),
            Self::Nothing => None,
        }
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => write!(f, "a scalar or vector of {bits} bits"),
            Self::Pending(bits) => write!(f, "a pending scalar or vector of {bits} bits"),
            Self::Accumulator(bits) => write!(f, "a scalar or vector of {bits} bits, pending or not"),
            Self::Descriptor(bits) => write!(f, "a descriptor, i{bits}"),
            Self::SharedAddress => f.write_str("ptr.shared"),
            Self::GlobalAddress => f.write_str("ptr.global"),
            Self::TensorAddress => f.write_str("an address in tensor memory, i32"),
            Self::Truth => f.write_str("i1"),
            Self::TensorMap => f.write_str("map"),
            Self::Number => f.write_str("an i32"),
            Self::Nothing => f.write_str("something that no value can carry"),
        }
    }
}

/// The operands and results of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionSignature {
    /// What it takes, in order.
    pub operands: Vec<Carried>,
    /// What it gives: one value or none.
    pub results: Vec<Carried>,
    /// Lanes of the warps that can issue it; `None` where its operands disagree, or none lies in lanes.
    pub lanes: Option<u32>,
    /// Warps that issue it together, counted from a multiple of how many they are; `None` where its operands
    /// disagree.
    pub warps: Option<u32>,
    /// Whether no operand lies in lanes: then one lane issues it for its warp, of however many there are.
    pub is_for_one_lane: bool,
}

/// Whether an operand is what the instruction gives.
#[must_use]
pub fn is_result(operand: &Operand) -> bool {
    matches!(operand, Operand::Register { role, .. } if role == "d")
}

/// Whether values of a kernel stand for an operand: constants are part of the instruction.
#[must_use]
pub fn is_given(operand: &Operand) -> bool {
    !is_result(operand) && !matches!(operand, Operand::Constant { .. })
}

impl InstructionSignature {
    /// The signature of a row.
    #[must_use]
    pub fn of(row: &Instruction) -> Self {
        let queued = matches!(row.completion, Completion::Queue(_));
        let carried = |results: bool| {
            let chosen =
                row.operands.iter().filter(move |operand| if results { is_result(operand) } else { is_given(operand) });
            chosen.map(|operand| if queued { Carried::on_queue(operand) } else { Carried::of(operand) }).collect()
        };
        let is_for_one_lane = threads(row, Dim::LANE).next().is_none();
        Self {
            operands: carried(false),
            results: carried(true),
            lanes: of_dim(row, Dim::LANE),
            warps: if is_for_one_lane { Some(1) } else { of_dim(row, Dim::WARP) },
            is_for_one_lane,
        }
    }

    /// Whether these types fit; says what does not.
    ///
    /// # Errors
    /// A sentence about the first operand or result that does not fit.
    pub fn check(&self, operands: &[Type], results: &[Type]) -> Result<(), String> {
        for (what, expected, found) in [("operand", &self.operands, operands), ("result", &self.results, results)] {
            if expected.len() != found.len() {
                return Err(format!("it has {} {what}s, {} are given", expected.len(), found.len()));
            }
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                if !expected.fits(*found) {
                    return Err(format!("{what} {index} is {found}; expected {expected}"));
                }
            }
        }
        Ok(())
    }

    /// Whether warps of this launch can issue it; says why not.
    ///
    /// # Errors
    /// A sentence with both numbers of lanes, or of warps.
    pub fn check_launch(&self, launch: Launch) -> Result<(), String> {
        self.check_lanes(launch.lanes)?;
        match self.warps {
            // Behind whole groups there may be warps that do something else.
            Some(warps) if launch.warps >= warps => Ok(()),
            Some(warps) => Err(format!("{warps} warps issue it together; the kernel has {}", launch.warps)),
            None => Err("its operands are for different numbers of warps".to_owned()),
        }
    }

    /// Whether warps of so many lanes can issue it; says why not.
    ///
    /// # Errors
    /// A sentence with both numbers of lanes.
    pub fn check_lanes(&self, own: u32) -> Result<(), String> {
        match self.lanes {
            _ if self.is_for_one_lane => Ok(()),
            Some(lanes) if lanes == own => Ok(()),
            Some(lanes) => Err(format!("it is for warps of {lanes} lanes; the kernel's have {own}")),
            None => Err("its operands are for different numbers of lanes".to_owned()),
        }
    }
}

/// Log2 of the positions that each operand which lies in lanes has of a dim of threads.
fn threads(row: &Instruction, dim: Dim) -> impl Iterator<Item = u32> {
    row.operands.iter().filter_map(move |operand| match operand {
        Operand::Register { layout, .. } => Some(layout.in_bits(dim)),
        Operand::Access { data, .. } | Operand::Global { data, .. } => Some(data.in_bits(dim)),
        _ => None,
    })
}

/// How many positions all operands have of a dim of threads; one where none names it.
fn of_dim(row: &Instruction, dim: Dim) -> Option<u32> {
    let mut all = threads(row, dim);
    let first = all.next()?;
    (all.all(|bits| bits == first)).then(|| 1u32.checked_shl(first)).flatten()
}

/// Whether every map that a row's instruction takes is of boxes that it copies.
///
/// # Errors
/// A sentence on the first that is not.
pub fn check_maps_of(kernel: &Kernel, row: &Instruction, operands: &[Value]) -> Result<(), String> {
    let boxes = row.operands.iter().find_map(|operand| match operand {
        Operand::Box(operand) => Some(operand),
        _ => None,
    });
    let given = row.operands.iter().filter(|operand| is_given(operand)).zip(operands);
    let maps = given.filter(|(operand, _)| matches!(operand, Operand::TensorMap)).map(|(_, value)| value.0 as usize);
    let maps = maps.filter_map(|number| kernel.parameters.get(number)?.map.as_ref());
    boxes.map_or(Ok(()), |boxes| maps.into_iter().try_for_each(|map| map.check_for(boxes)))
}

/// Checks the vendor instructions of a kernel against the target's rows, after
/// [`super::verify`] has passed: that there is such a row, that operands and results fit it, and that
/// the kernel's warps have its lanes.
///
/// # Errors
/// [`Violation::Instruction`] for the first that does not fit.
pub fn verify_instructions(kernel: &Kernel, rows: &[Instruction]) -> Result<(), VerifyError> {
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
    part: &Region,
    rows: &[Instruction],
    types: &mut Vec<Option<Type>>,
    number: &mut usize,
) -> Result<(), VerifyError> {
    part.arguments.iter().for_each(|&(value, ty)| set(types, value, ty));
    for statement in &part.statements {
        let operation = *number;
        *number += 1;
        if let Op::Instruction { name, operands } = &statement.op {
            let given = operands.iter().map(|value| types.get(value.0 as usize).copied().flatten());
            let given: Vec<Type> = given.map(|ty| ty.unwrap_or(Type::Scalar(Element::I1))).collect();
            let results: Vec<Type> = statement.results.iter().map(|&(_, ty)| ty).collect();
            let row = rows.iter().find(|row| row.name == *name);
            let fits = check(row, &given, &results, kernel.launch);
            let fits = fits.and_then(|row| check_maps_of(kernel, row, operands));
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
    launch: Launch,
) -> Result<&'a Instruction, String> {
    let row = row.ok_or("the target has no row of this name")?;
    let signature = InstructionSignature::of(row);
    signature.check(operands, results)?;
    signature.check_launch(launch)?;
    Ok(row)
}
