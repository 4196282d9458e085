//! Products of four warps as PTX: `wgmma.mma_async`, the fence before it and the wait after it.
//!
//! Registers stay where they are while products are under way: accumulators go in and out of each piece of
//! assembly in one register, and so through the fence, which orders what was written to them before it, and
//! through the wait, after which alone they may be read.

use tilewright_kernel::{Element, Type, is_result};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, Operand};

use super::registers::{Typed, registers};

/// With which the names of these rows begin.
pub(super) const MNEMONIC: &str = "wgmma.mma_async";

/// Whether a row is such a product.
pub(super) fn is_of_group(row: &Instruction) -> bool {
    row.name.starts_with(MNEMONIC)
}

/// Values in registers that assembly changes in place: of those that a value has, the ones that the instruction takes.
struct InPlace<'ctx> {
    parts: Vec<BasicValueEnum<'ctx>>,
    registers: Type,
    letter: char,
}

impl<'ctx> InPlace<'ctx> {
    fn of(
        emit: &Emitter<'_, 'ctx>,
        value: BasicValueEnum<'ctx>,
        (row, operand): (&Instruction, &Operand),
    ) -> Result<Self, CompileError> {
        let (registers, letter) = registers(operand)?;
        let mut parts = emit.pieces(value, registers)?;
        let Operand::Register { bits, .. } = operand else { return Ok(Self { parts, registers, letter }) };
        let width = registers.element().map_or(32, Element::bits);
        parts.truncate((row.registers(operand) * u64::from(*bits)).div_ceil(width.into()) as usize);
        Ok(Self { parts, registers, letter })
    }

    /// Zeros in the registers that the value has and the instruction does not give.
    fn filled(&mut self, emit: &Emitter<'_, 'ctx>) -> Result<(), CompileError> {
        let element = emit.plain_type(Type::Scalar(self.registers.element().unwrap_or(Element::I32)))?;
        self.parts.resize(self.registers.count() as usize, element.const_zero());
        Ok(())
    }

    /// Passes the values through assembly that has them in place, from `$0` on; `others` follow them.
    fn through(
        &mut self,
        emit: &Emitter<'_, 'ctx>,
        text: &str,
        others: &[(BasicValueEnum<'ctx>, char)],
    ) -> Result<(), CompileError> {
        let count = self.parts.len();
        let outs = (0..count).map(|_| format!("={}", self.letter));
        let ties = (0..count).map(|number| number.to_string());
        let given = others.iter().map(|(_, letter)| letter.to_string());
        let constraints: Vec<String> = outs.chain(given).chain(ties).chain(["~{memory}".to_owned()]).collect();
        let operands: Vec<_> = others.iter().map(|(value, _)| *value).chain(self.parts.iter().copied()).collect();
        let element = emit.plain_type(Type::Scalar(self.registers.element().unwrap_or(Element::I32)))?;
        self.parts = emit.ordered_assembly(text, &constraints.join(","), &operands, &vec![element; count])?;
        Ok(())
    }
}

/// `wgmma.mma_async... {d...}, {a...} or descriptor, descriptor, true, ...;`
pub(super) fn product<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let rows: Vec<&Operand> = row.operands.iter().filter(|operand| !is_result(operand)).collect();
    let ([a, _, c], &[(_, first), (_, second), (sums_type, accumulator)]) = (rows.as_slice(), operands) else {
        return Err(CompileError::Backend(format!("`{}` takes two factors and the sums", row.name)));
    };
    let mut accumulator = InPlace::of(emit, accumulator, (row, c))?;
    let count = accumulator.parts.len();
    let group = |from: usize, count: usize| {
        let all: Vec<_> = (from..from + count).map(|number| format!("${number}")).collect();
        format!("{{{}}}", all.join(","))
    };
    let in_memory = matches!(a, Operand::Memory(_));
    let mut others = Vec::new();
    let first_text = if in_memory {
        others.push((first, 'l'));
        format!("${count}")
    } else {
        let mut held = InPlace::of(emit, first, (row, a))?;
        held.through(emit, "wgmma.fence.sync.aligned;", &[])?;
        others.extend(held.parts.iter().map(|&part| (part, held.letter)));
        group(count, held.parts.len())
    };
    if !sums_type.is_pending() {
        accumulator.through(emit, "wgmma.fence.sync.aligned;", &[])?;
    }
    let second_text = format!("${}", count + others.len());
    others.push((second, 'l'));
    let (mnemonic, ending) = spelled(row)?;
    let text = format!(
        "{{ .reg .pred add; setp.eq.u32 add, 0, 0; {mnemonic} {}, {first_text}, {second_text}, add{ending}; }}",
        group(0, count)
    );
    accumulator.through(emit, &text, &others)?;
    accumulator.filled(emit)?;
    emit.joined(&accumulator.parts, accumulator.registers, result.awaited())
}

/// Registers that products take as their sums without another fence: through the one that orders what was written to them.
pub(super) fn pend<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    (ty, value): Typed<'ctx>,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let registers = in_registers(ty);
    let letter = if registers.element() == Some(Element::F32) { 'f' } else { 'r' };
    let mut held = InPlace { parts: emit.pieces(value, registers)?, registers, letter };
    held.through(emit, "wgmma.fence.sync.aligned;", &[])?;
    emit.joined(&held.parts, registers, ty)
}

/// Closes the group of the products issued since the last one.
pub(super) fn commit(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    emit.ordered_assembly("wgmma.commit_group.sync.aligned;", "~{memory}", &[], &[]).map(|_| ())
}

/// Waits for all groups but the latest so many.
pub(super) fn wait(emit: &Emitter<'_, '_>, outstanding: u32) -> Result<(), CompileError> {
    let text = format!("wgmma.wait_group.sync.aligned {outstanding};");
    emit.ordered_assembly(&text, "~{memory}", &[], &[]).map(|_| ())
}

/// Registers after a wait: through assembly that says nothing and stays behind it.
pub(super) fn awaited<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    values: &[Typed<'ctx>],
) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut parts = Vec::new();
    let mut constraints = Vec::new();
    for &(ty, value) in values {
        let own = emit.pieces(value, in_registers(ty))?;
        let letter = if ty.element() == Some(Element::F32) { 'f' } else { 'r' };
        constraints.extend(own.iter().map(|_| format!("={letter}")));
        parts.extend(own);
    }
    constraints.extend((0..parts.len()).map(|number| number.to_string()));
    constraints.push("~{memory}".to_owned());
    let types: Vec<_> = parts.iter().map(|part| part.get_type()).collect();
    let there = emit.ordered_assembly("", &constraints.join(","), &parts, &types)?;
    let mut rest = there.as_slice();
    values
        .iter()
        .map(|&(ty, _)| {
            let (own, others) = rest.split_at(in_registers(ty).count() as usize);
            rest = others;
            emit.joined(own, in_registers(ty), ty)
        })
        .collect()
}

/// The 32-bit registers of a value.
fn in_registers(ty: Type) -> Type {
    let element = if ty.element() == Some(Element::F32) { Element::F32 } else { Element::I32 };
    Type::of(element, ty.bits() / 32)
}

/// The mnemonic, and what follows the operands: signs of the factors, and how those of 16 bits lie.
fn spelled(row: &Instruction) -> Result<(&str, String), CompileError> {
    let wrong = || CompileError::Backend(format!("`{}` is no name of a product of four warps", row.name));
    let (rest, lie) = row.name.rsplit_once('.').ok_or_else(wrong)?;
    let (mnemonic, _) = rest.rsplit_once('.').ok_or_else(wrong)?;
    let factor = mnemonic.rsplit_once('.').ok_or_else(wrong)?.1;
    let ending = match factor {
        "s8" | "u8" | "satfinite" | "popc" => String::new(),
        "f16" | "bf16" => {
            let turned = lie.chars().map(|letter| if letter == 'm' { ", 1" } else { ", 0" });
            format!(", 1, 1{}", turned.collect::<String>())
        }
        _ => ", 1, 1".to_owned(),
    };
    Ok((mnemonic, ending))
}
