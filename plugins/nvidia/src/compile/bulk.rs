//! Emits bulk copies (`cp.async.bulk`); the mnemonic is the instruction's name. One elected lane issues all bulk copies
//! of a warp, always the same lane, because a bulk group belongs to the thread that commits it and waits for it.

use tilewright_kernel::{MemorySpace, Type};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionOperand};

use super::mbarrier::{WARP_BARRIER, emit_elected};
use super::registers::Typed;

/// Emits `mnemonic [to], [from], bytes, [mbarrier];`. A tensor operand is its tensor map and coordinates,
/// `[map, {x, y}]`.
pub(super) fn copy<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
) -> Result<(), CompileError> {
    let (mut texts, mut constraints, mut given) = (Vec::<String>::new(), Vec::new(), Vec::new());
    for (index, (operand, &typed)) in row.operands.iter().zip(operands).enumerate() {
        let (value, letter) = assembly_operand(emit, typed)?;
        given.push(value);
        constraints.push(letter);
        match operand {
            InstructionOperand::BulkBytes { .. } => texts.push(format!("${index}")),
            InstructionOperand::Coordinate => {
                let tensor = texts.last_mut().ok_or_else(|| {
                    CompileError::Backend(format!(
                        "the description of `{}` has a coordinate before its tensor",
                        row.name
                    ))
                })?;
                let open = tensor.strip_suffix("}]").map(|text| format!("{text}, ${index}}}]"));
                *tensor = open.unwrap_or_else(|| format!("{}, {{${index}}}]", tensor.trim_end_matches(']')));
            }
            _ => texts.push(format!("[${index}]")),
        }
    }
    emit_elected(emit, &format!("{} {};", row.name, texts.join(", ")), &constraints.join(","), &given)
}

/// Converts a value to an operand of inline assembly; pointers to shared memory become 32-bit addresses. Also returns
/// the operand's constraint letter (`r` for 32-bit, `l` for 64-bit registers).
fn assembly_operand<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    (ty, value): Typed<'ctx>,
) -> Result<(BasicValueEnum<'ctx>, &'static str), CompileError> {
    match (ty, value) {
        (Type::Pointer(MemorySpace::Shared), BasicValueEnum::PointerValue(pointer)) => {
            Ok((emit.shared_address(pointer)?.into(), "r"))
        }
        (_, BasicValueEnum::PointerValue(_)) => Ok((value, "l")),
        _ => Ok((value, "r")),
    }
}

/// Emits a commit: the bulk copies that the elected lane has issued become a group, and the other lanes commit empty
/// groups.
pub(super) fn commit(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    emit.ordered_assembly("cp.async.bulk.commit_group;", "~{memory}", &[], &[]).map(|_| ())
}

/// Emits a wait until at most `outstanding` bulk groups are in flight, or if `only_reads` until all other groups have
/// read their shared memory; no lane continues before the elected lane does.
pub(super) fn wait(emit: &Emitter<'_, '_>, outstanding: u32, only_reads: bool) -> Result<(), CompileError> {
    let reads = if only_reads { ".read" } else { "" };
    let text = format!("cp.async.bulk.wait_group{reads} {outstanding}; {WARP_BARRIER}");
    emit.ordered_assembly(&text, "~{memory}", &[], &[]).map(|_| ())
}
