//! Emits warpgroup MMAs: `wgmma.mma_async`, the fence before it and the wait after it.
//!
//! Accumulators keep their registers while MMAs are in flight: each piece of inline assembly has them as tied inputs
//! and outputs. The fence orders earlier writes to accumulator registers before the MMAs; the registers may be read
//! only after the wait.

use tilewright_kernel::{Element, Module, Op, Region, Type, is_result_operand};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionOperand};

use super::registers::{Typed, registers};

/// Prefix of the names of warpgroup MMAs.
pub(super) const MNEMONIC: &str = "wgmma.mma_async";

/// Whether an instruction is a warpgroup MMA.
pub(super) fn is_warpgroup_mma(row: &Instruction) -> bool {
    row.name.starts_with(MNEMONIC)
}

/// Whether a kernel of a module has warpgroup MMAs.
pub(super) fn is_used(module: &Module) -> bool {
    fn has_mma(region: &Region) -> bool {
        region.statements.iter().any(|statement| match &statement.op {
            Op::Instruction { name, .. } => name.starts_with(MNEMONIC),
            op => op.regions().into_iter().any(has_mma),
        })
    }
    module.kernels.iter().any(|kernel| has_mma(&kernel.body))
}

/// The 32-bit registers of an accumulator or of operand A, as values in LLVM IR. Inline assembly takes the registers as
/// inputs and outputs (tied operands). If an instruction uses fewer registers than the value has, only the first are
/// here.
struct TiedRegisters<'ctx> {
    register_values: Vec<BasicValueEnum<'ctx>>,
    registers: Type,
    letter: char,
}

impl<'ctx> TiedRegisters<'ctx> {
    fn of(
        emit: &Emitter<'_, 'ctx>,
        value: BasicValueEnum<'ctx>,
        (row, operand): (&Instruction, &InstructionOperand),
    ) -> Result<Self, CompileError> {
        let (registers, letter) = registers(operand)?;
        let mut register_values = emit.split_to_elements(value, registers)?;
        let InstructionOperand::Register { bits, .. } = operand else {
            return Ok(Self { register_values, registers, letter });
        };
        let width = registers.element().map_or(32, Element::bits);
        register_values.truncate((row.registers_per_lane(operand) * u64::from(*bits)).div_ceil(width.into()) as usize);
        Ok(Self { register_values, registers, letter })
    }

    /// Appends zero registers until the value has its full number again, after an instruction that wrote only the first
    /// ones.
    fn pad_with_zeros(&mut self, emit: &Emitter<'_, 'ctx>) -> Result<(), CompileError> {
        let element = emit.llvm_type(Type::Scalar(self.registers.element().unwrap_or(Element::I32)))?;
        self.register_values.resize(self.registers.element_count() as usize, element.const_zero());
        Ok(())
    }

    /// Whether all registers are the constant zero, so that an MMA can start from zero without reading them.
    fn are_zero(&self) -> bool {
        self.register_values.iter().all(|value| match value {
            BasicValueEnum::IntValue(value) => value.is_null(),
            BasicValueEnum::FloatValue(value) => value.is_null(),
            _ => false,
        })
    }

    /// Emits assembly that writes the registers, `$0` and following, without reading them; the operands `others` follow
    /// them.
    fn overwrite(
        &mut self,
        emit: &Emitter<'_, 'ctx>,
        text: &str,
        others: &[(BasicValueEnum<'ctx>, char)],
    ) -> Result<(), CompileError> {
        let outs = self.register_values.iter().map(|_| format!("=&{}", self.letter));
        let given = others.iter().map(|(_, letter)| letter.to_string());
        let constraints: Vec<String> = outs.chain(given).chain(["~{memory}".to_owned()]).collect();
        let operands: Vec<_> = others.iter().map(|(value, _)| *value).collect();
        let types: Vec<_> = self.register_values.iter().map(BasicValueEnum::get_type).collect();
        self.register_values = emit.ordered_assembly(text, &constraints.join(","), &operands, &types)?;
        Ok(())
    }

    /// Emits assembly that has the registers as tied inputs and outputs from `$0` on; the operands `others` follow
    /// them.
    fn pass_through(
        &mut self,
        emit: &Emitter<'_, 'ctx>,
        text: &str,
        others: &[(BasicValueEnum<'ctx>, char)],
    ) -> Result<(), CompileError> {
        let count = self.register_values.len();
        let outs = (0..count).map(|_| format!("={}", self.letter));
        let ties = (0..count).map(|index| index.to_string());
        let given = others.iter().map(|(_, letter)| letter.to_string());
        let constraints: Vec<String> = outs.chain(given).chain(ties).chain(["~{memory}".to_owned()]).collect();
        let operands: Vec<_> =
            others.iter().map(|(value, _)| *value).chain(self.register_values.iter().copied()).collect();
        let element = emit.llvm_type(Type::Scalar(self.registers.element().unwrap_or(Element::I32)))?;
        self.register_values = emit.ordered_assembly(text, &constraints.join(","), &operands, &vec![element; count])?;
        Ok(())
    }
}

/// Emits a warpgroup MMA: `wgmma.mma_async... {d...}, {a...} or descriptor, descriptor, add, ...;`. If the accumulator
/// is the constant zero, `add` is false, and no register is set to zero.
pub(super) fn emit_mma<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let rows: Vec<&InstructionOperand> = row.operands.iter().filter(|operand| !is_result_operand(operand)).collect();
    let ([a, _, c], &[(_, first), (_, second), (accumulator_type, accumulator)]) = (rows.as_slice(), operands) else {
        return Err(CompileError::Backend(format!("`{}` takes operands A and B and the accumulator", row.name)));
    };
    let mut accumulator = TiedRegisters::of(emit, accumulator, (row, c))?;
    let count = accumulator.register_values.len();
    let group = |from: usize, count: usize| {
        let all: Vec<_> = (from..from + count).map(|index| format!("${index}")).collect();
        format!("{{{}}}", all.join(","))
    };
    let in_memory = matches!(a, InstructionOperand::Memory(_));
    let mut others = Vec::new();
    let first_text = if in_memory {
        others.push((first, 'l'));
        format!("${count}")
    } else {
        let mut tied = TiedRegisters::of(emit, first, (row, a))?;
        tied.pass_through(emit, "wgmma.fence.sync.aligned;", &[])?;
        others.extend(tied.register_values.iter().map(|&register_value| (register_value, tied.letter)));
        group(count, tied.register_values.len())
    };
    let from_zero = !accumulator_type.is_pending() && accumulator.are_zero();
    if from_zero {
        emit.ordered_assembly("wgmma.fence.sync.aligned;", "~{memory}", &[], &[])?;
    } else if !accumulator_type.is_pending() {
        accumulator.pass_through(emit, "wgmma.fence.sync.aligned;", &[])?;
    }
    let second_text = format!("${}", count + others.len());
    others.push((second, 'l'));
    let (mnemonic, ending) = mnemonic_and_suffix(row)?;
    let comparison = if from_zero { "ne" } else { "eq" };
    let text = format!(
        "{{ .reg .pred add; setp.{comparison}.u32 add, 0, 0; {mnemonic} {}, {first_text}, {second_text}, add{ending}; }}",
        group(0, count)
    );
    if from_zero {
        accumulator.overwrite(emit, &text, &others)?;
    } else {
        accumulator.pass_through(emit, &text, &others)?;
    }
    accumulator.pad_with_zeros(emit)?;
    emit.join_elements(&accumulator.register_values, accumulator.registers, result.after_wait())
}

/// Emits a `wgmma.fence` for the registers of an accumulator, after which MMAs may use them; returns the accumulator
/// behind the fence.
pub(super) fn emit_accumulator_fence<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    (ty, value): Typed<'ctx>,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let registers = register_type(ty);
    let letter = if registers.element() == Some(Element::F32) { 'f' } else { 'r' };
    let mut tied = TiedRegisters { register_values: emit.split_to_elements(value, registers)?, registers, letter };
    tied.pass_through(emit, "wgmma.fence.sync.aligned;", &[])?;
    emit.join_elements(&tied.register_values, registers, ty)
}

/// Emits a commit: the MMAs that the warpgroup has issued since its last commit become a group.
pub(super) fn commit(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    emit.ordered_assembly("wgmma.commit_group.sync.aligned;", "~{memory}", &[], &[]).map(|_| ())
}

/// Emits a wait until at most `outstanding` groups of MMAs are in flight.
pub(super) fn wait(emit: &Emitter<'_, '_>, outstanding: u32) -> Result<(), CompileError> {
    let text = format!("wgmma.wait_group.sync.aligned {outstanding};");
    emit.ordered_assembly(&text, "~{memory}", &[], &[]).map(|_| ())
}

/// Passes accumulators through empty inline assembly after a wait and returns them. Because the assembly stays behind
/// the wait, LLVM cannot move a use of an accumulator before the wait.
pub(super) fn emit_registers_after_wait<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    values: &[Typed<'ctx>],
) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut register_values = Vec::new();
    let mut constraints = Vec::new();
    for &(ty, value) in values {
        let own = emit.split_to_elements(value, register_type(ty))?;
        let letter = if ty.element() == Some(Element::F32) { 'f' } else { 'r' };
        constraints.extend(own.iter().map(|_| format!("={letter}")));
        register_values.extend(own);
    }
    constraints.extend((0..register_values.len()).map(|index| index.to_string()));
    constraints.push("~{memory}".to_owned());
    let types: Vec<_> = register_values.iter().map(|register_value| register_value.get_type()).collect();
    let there = emit.ordered_assembly("", &constraints.join(","), &register_values, &types)?;
    let mut rest = there.as_slice();
    values
        .iter()
        .map(|&(ty, _)| {
            let (own, others) = rest.split_at(register_type(ty).element_count() as usize);
            rest = others;
            emit.join_elements(own, register_type(ty), ty)
        })
        .collect()
}

/// Returns the type of a value as a vector of 32-bit registers.
fn register_type(ty: Type) -> Type {
    let element = if ty.element() == Some(Element::F32) { Element::F32 } else { Element::I32 };
    Type::vector_or_scalar(element, ty.bits() / 32)
}

/// Splits an instruction's name: returns the mnemonic, and the text of the constant operands at the end. These are
/// `imm-scale-a` and `imm-scale-b` (1: not negated), and for 16-bit elements the transposition of operands in shared
/// memory.
fn mnemonic_and_suffix(row: &Instruction) -> Result<(&str, String), CompileError> {
    let wrong = || CompileError::Backend(format!("`{}` is not a name of a warpgroup MMA", row.name));
    let (rest, lie) = row.name.rsplit_once('.').ok_or_else(wrong)?;
    let (mnemonic, _) = rest.rsplit_once('.').ok_or_else(wrong)?;
    let suffix = mnemonic.rsplit_once('.').ok_or_else(wrong)?.1;
    let ending = match suffix {
        "s8" | "u8" | "satfinite" | "popc" => String::new(),
        "f16" | "bf16" => {
            let transposed = lie.chars().map(|letter| if letter == 'm' { ", 1" } else { ", 0" });
            format!(", 1, 1{}", transposed.collect::<String>())
        }
        _ => ", 1, 1".to_owned(),
    };
    Ok((mnemonic, ending))
}
