//! Tensor memory as PTX: `tcgen05`. Moves, waits for them and allotting are a whole warp's; products are issued, and
//! committed to an mbarrier, by one lane.
//!
//! The lane is elected, `elect.sync`, which always elects the same one of the same lanes, so that a commit is for the
//! products of its own lane. Source: PTX ISA, tcgen05.

use tilewright_kernel::{Element, Kernel, Module, Op, Queue, Region, Type};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionKind, Operand};

use super::mbarrier::elected;
use super::registers::Typed;

/// What is done in tensor memory before a synchronisation of threads comes before what is done there after it only with
/// these around it.
const BEFORE: &str = "tcgen05.fence::before_thread_sync;";
const AFTER: &str = "tcgen05.fence::after_thread_sync;";

/// Whether some kernel of a module has tensor memory.
pub(super) fn is_used(module: &Module) -> bool {
    module.kernels.iter().any(|kernel| allotments(&kernel.body) > 0)
}

/// Whether a kernel allots tensor memory at one place, which no loop repeats: no more is asked for then.
pub(super) fn allots_once(kernel: &Kernel) -> bool {
    allotments(&kernel.body) == 1
}

/// Places that allot; one in a loop counts as two.
fn allotments(region: &Region) -> u32 {
    let of = |op: &Op| match op {
        Op::TensorAllocate { .. } => 1,
        Op::For { body, .. } => 2 * allotments(body),
        op => op.regions().into_iter().map(allotments).sum(),
    };
    region.statements.iter().map(|statement| of(&statement.op)).sum()
}

/// Before threads synchronise.
pub(super) fn before(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    whole_warp(emit, BEFORE, "", &[])
}

/// After they have.
pub(super) fn after(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    whole_warp(emit, AFTER, "", &[])
}

pub(super) fn allocate<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    columns: u32,
    is_last: bool,
) -> Result<(), CompileError> {
    let text = format!("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], {columns};");
    whole_warp(emit, &text, "r,", &[emit.shared_address(pointer)?.into()])?;
    if is_last {
        whole_warp(emit, "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "", &[])?;
    }
    Ok(())
}

pub(super) fn free<'ctx>(emit: &Emitter<'_, 'ctx>, address: IntValue<'ctx>, columns: u32) -> Result<(), CompileError> {
    let text = format!("tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, {columns};");
    whole_warp(emit, &text, "r,", &[address.into()])
}

/// Lets the products of the elected lane arrive at an mbarrier.
pub(super) fn commit<'ctx>(emit: &Emitter<'_, 'ctx>, mbarrier: PointerValue<'ctx>) -> Result<(), CompileError> {
    let text = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];";
    elected(emit, text, "r", &[emit.shared_address(mbarrier)?.into()])
}

/// Waits for all moves of a queue: no fewer can be waited for.
pub(super) fn wait(emit: &Emitter<'_, '_>, queue: Queue) -> Result<(), CompileError> {
    let word = if queue == Queue::TensorLoads { "ld" } else { "st" };
    whole_warp(emit, &format!("tcgen05.wait::{word}.sync.aligned;"), "", &[])
}

/// Whether a row has an operand in tensor memory.
pub(super) fn is_in_tensor_memory(row: &Instruction) -> bool {
    row.operands.iter().any(|operand| operand.tensor().is_some())
}

/// The code of one row; its name begins with the mnemonic.
pub(super) fn instruction<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    results: &[Type],
) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
    let is_copy = row.operands.iter().any(|operand| matches!(operand, Operand::Memory(_)));
    match (row.kind, operands, results) {
        (InstructionKind::TensorMove, &[(_, address), (_, source)], []) if is_copy => {
            let text = format!("{{ .reg .pred one; elect.sync _|one, 0xffffffff; @one {} [$0], $1; }}", row.name);
            whole_warp(emit, &text, "r,l,", &[address, source]).map(|()| Vec::new())
        }
        (InstructionKind::TensorMove, &[(_, address)], &[result]) => {
            load(emit, row, address, result).map(|all| vec![all])
        }
        (InstructionKind::TensorMove, &[(_, address), (ty, stored)], []) => {
            let words = emit.pieces(stored, in_words(ty))?;
            let group = registers(1, words.len());
            let apart = constant(row).map(|columns| format!(", {columns}")).unwrap_or_default();
            let constraints = "r,".repeat(words.len() + 1);
            let given: Vec<_> = std::iter::once(address).chain(words).collect();
            whole_warp(emit, &format!("{} [$0]{apart}, {group};", row.name), &constraints, &given).map(|()| Vec::new())
        }
        (InstructionKind::Matrix, [matrices @ .., (_, BasicValueEnum::IntValue(adds))], []) => {
            product(emit, row, matrices, *adds).map(|()| Vec::new())
        }
        _ => Err(CompileError::Backend(format!("`{}` has other operands than tensor memory's", row.name))),
    }
}

/// `tcgen05.ld... {d...}, [address];`
fn load<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    address: BasicValueEnum<'ctx>,
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let whole = in_words(result.awaited());
    let count = whole.count() as usize;
    let apart = constant(row).map(|columns| format!(", {columns}")).unwrap_or_default();
    let text = format!("{} {}, [${count}]{apart};", row.name, registers(0, count));
    let constraints = format!("{}r,~{{memory}}", "=r,".repeat(count));
    let words = vec![emit.plain_type(Type::Scalar(Element::I32))?; count];
    let parts = emit.ordered_assembly(&text, &constraints, &[address], &words)?;
    emit.joined(&parts, whole, result.awaited())
}

/// `tcgen05.mma... [accumulator], a, descriptor, word, [scales of a], [scales of b], predicate;` by one lane. The first factor is a
/// descriptor, or where it is in tensor memory its address.
fn product<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    matrices: &[Typed<'ctx>],
    adds: IntValue<'ctx>,
) -> Result<(), CompileError> {
    let wrong = || CompileError::Backend(format!("`{}` says no kind, or has no descriptor", row.name));
    let (word, mnemonic) = constant(row).zip(mnemonic(&row.name)).ok_or_else(wrong)?;
    let adds = emit.if_zero(adds, emit.i32(0), emit.i32(1))?;
    let (mut given, mut constraints, mut values) = (Vec::new(), String::new(), Vec::new());
    let mut left = matrices.iter();
    for operand in &row.operands {
        let at = values.len();
        match operand {
            Operand::Constant { .. } => {
                given.push(format!("${at}"));
                constraints += "r,";
                values.push(emit.i32(word).into());
            }
            Operand::Tensor(_) | Operand::Memory(_) => {
                let is_address = operand.tensor().is_some();
                given.push(if is_address { format!("[${at}]") } else { format!("${at}") });
                constraints += if is_address { "r," } else { "l," };
                values.push(left.next().ok_or_else(wrong)?.1);
            }
            _ => {}
        }
    }
    let (given, last) = (given.join(", "), values.len());
    let text = format!(
        "{{ .reg .pred one, add; setp.ne.b32 add, ${last}, 0; elect.sync _|one, 0xffffffff; \
         @one {mnemonic} {given}, add; }}"
    );
    values.push(adds.into());
    whole_warp(emit, &text, &format!("{constraints}r,"), &values)
}

/// The word that is part of an instruction.
fn constant(row: &Instruction) -> Option<u32> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Constant { value, .. } => u32::try_from(*value).ok(),
        _ => None,
    })
}

/// The name up to the sizes.
fn mnemonic(name: &str) -> Option<&str> {
    let kind = name.find(".kind::")? + ".kind::".len();
    let is_size = |&(at, _): &(usize, &str)| name[at + 2..].starts_with(|digit: char| digit.is_ascii_digit());
    let (end, _) = name.match_indices(".m").filter(|(at, _)| *at > kind).find(is_size)?;
    Some(&name[..end])
}

/// `{$from,...}`, so many.
fn registers(from: usize, count: usize) -> String {
    let all: Vec<_> = (from..from + count).map(|number| format!("${number}")).collect();
    format!("{{{}}}", all.join(","))
}

/// The 32-bit registers of a value.
fn in_words(ty: Type) -> Type {
    Type::of(Element::I32, ty.bits() / 32)
}

/// Assembly without results; each constraint with its comma.
fn whole_warp<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    text: &str,
    constraints: &str,
    operands: &[BasicValueEnum<'ctx>],
) -> Result<(), CompileError> {
    emit.ordered_assembly(text, &format!("{constraints}~{{memory}}"), operands, &[]).map(|_| ())
}
