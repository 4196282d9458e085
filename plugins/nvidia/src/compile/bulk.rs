//! Bulk copies as PTX, whose mnemonic is the row's name: one elected lane issues them, always the same, so that the groups
//! that it commits are those that it waits for.

use tilewright_kernel::{MemorySpace, Type};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, Operand};

use super::mbarrier::{WARP_BARRIER, elected};
use super::registers::Typed;

/// `mnemonic [to], [from], bytes, [mbarrier];`, a tensor being its map and the coordinates: `[map, {x, y}]`.
pub(super) fn copy<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
) -> Result<(), CompileError> {
    let (mut texts, mut constraints, mut given) = (Vec::<String>::new(), Vec::new(), Vec::new());
    for (number, (operand, &typed)) in row.operands.iter().zip(operands).enumerate() {
        let (value, letter) = passed(emit, typed)?;
        given.push(value);
        constraints.push(letter);
        match operand {
            Operand::SpanBytes { .. } => texts.push(format!("${number}")),
            Operand::Coordinate => {
                let tensor = texts.last_mut().ok_or_else(|| {
                    CompileError::Backend(format!("the row of `{}` has a coordinate before its tensor", row.name))
                })?;
                let open = tensor.strip_suffix("}]").map(|text| format!("{text}, ${number}}}]"));
                *tensor = open.unwrap_or_else(|| format!("{}, {{${number}}}]", tensor.trim_end_matches(']')));
            }
            _ => texts.push(format!("[${number}]")),
        }
    }
    elected(emit, &format!("{} {};", row.name, texts.join(", ")), &constraints.join(","), &given)
}

/// What the assembly takes of a value, and the letter of its constraint: pointers as numbers.
fn passed<'ctx>(
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

/// Closes the group of what the elected lane has issued; the others close empty ones.
pub(super) fn commit(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    emit.ordered_assembly("cp.async.bulk.commit_group;", "~{memory}", &[], &[]).map(|_| ())
}

/// Waits for all groups but the latest so many; no lane goes on before the elected one.
pub(super) fn wait(emit: &Emitter<'_, '_>, outstanding: u32) -> Result<(), CompileError> {
    let text = format!("cp.async.bulk.wait_group {outstanding}; {WARP_BARRIER}");
    emit.ordered_assembly(&text, "~{memory}", &[], &[]).map(|_| ())
}
