//! Emits tensor memory operations (`tcgen05`). A whole warp executes allocations, loads, stores and waits; one lane
//! issues and commits MMAs.
//!
//! `elect.sync` elects the lane, always the same one for the same lanes, because a commit covers only MMAs of the
//! thread that executes it. Source: PTX ISA, tcgen05.

use tilewright_kernel::{Element, Kernel, Module, Op, Queue, Region, Type};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionKind, InstructionOperand};

use super::mbarrier::emit_elected;
use super::registers::Typed;

/// Fences before (`BEFORE`) and after (`AFTER`) a thread synchronization, which order `tcgen05` operations across it.
const BEFORE: &str = "tcgen05.fence::before_thread_sync;";
const AFTER: &str = "tcgen05.fence::after_thread_sync;";

/// Whether a kernel of a module uses tensor memory.
pub(super) fn is_used(module: &Module) -> bool {
    module.kernels.iter().any(|kernel| count_allocations(&kernel.body) > 0)
}

/// Whether a kernel allocates tensor memory exactly once. After its only allocation, a kernel gives up the permit to
/// allocate (`tcgen05.relinquish_alloc_permit`), so that other blocks may allocate.
pub(super) fn allots_once(kernel: &Kernel) -> bool {
    count_allocations(&kernel.body) == 1
}

/// Counts the allocations of tensor memory in a region; an allocation in a loop counts twice.
fn count_allocations(region: &Region) -> u32 {
    let of = |op: &Op| match op {
        Op::TensorAllocate { .. } => 1,
        Op::For { body, .. } | Op::While { body, .. } => 2 * count_allocations(body),
        op => op.regions().into_iter().map(count_allocations).sum(),
    };
    region.statements.iter().map(|statement| of(&statement.op)).sum()
}

/// Emits `tcgen05.fence::before_thread_sync`, which orders earlier `tcgen05` operations before a thread
/// synchronization.
pub(super) fn emit_fence_before_sync(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    emit_effect(emit, BEFORE, "", &[])
}

/// Emits `tcgen05.fence::after_thread_sync`, which orders later `tcgen05` operations after a thread synchronization.
pub(super) fn emit_fence_after_sync(emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
    emit_effect(emit, AFTER, "", &[])
}

pub(super) fn allocate<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    columns: u32,
    is_last: bool,
) -> Result<(), CompileError> {
    let text = format!("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], {columns};");
    emit_effect(emit, &text, "r,", &[emit.shared_address(pointer)?.into()])?;
    if is_last {
        emit_effect(emit, "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "", &[])?;
    }
    Ok(())
}

pub(super) fn free<'ctx>(emit: &Emitter<'_, 'ctx>, address: IntValue<'ctx>, columns: u32) -> Result<(), CompileError> {
    let text = format!("tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, {columns};");
    emit_effect(emit, &text, "r,", &[address.into()])
}

/// Emits a commit of the MMAs of the elected lane to an mbarrier: the MMAs arrive there when they complete.
pub(super) fn commit<'ctx>(emit: &Emitter<'_, 'ctx>, mbarrier: PointerValue<'ctx>) -> Result<(), CompileError> {
    let text = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];";
    emit_elected(emit, text, "r", &[emit.shared_address(mbarrier)?.into()])
}

/// Emits a wait for all loads or all stores of tensor memory, depending on the queue; PTX cannot wait for only some of
/// them.
pub(super) fn wait(emit: &Emitter<'_, '_>, queue: Queue) -> Result<(), CompileError> {
    let word = if queue == Queue::TensorLoads { "ld" } else { "st" };
    emit_effect(emit, &format!("tcgen05.wait::{word}.sync.aligned;"), "", &[])
}

/// Whether an instruction has an operand in tensor memory.
pub(super) fn uses_tensor_memory(row: &Instruction) -> bool {
    row.operands.iter().any(|operand| operand.tensor_memory_operand().is_some())
}

/// Emits one tensor memory instruction; the instruction's name begins with the mnemonic.
pub(super) fn instruction<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    results: &[Type],
) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
    let is_copy = row.operands.iter().any(|operand| matches!(operand, InstructionOperand::Memory(_)));
    match (row.kind, operands, results) {
        (InstructionKind::TensorMove, &[(_, address), (_, source)], []) if is_copy => {
            let text = format!("{{ .reg .pred one; elect.sync _|one, 0xffffffff; @one {} [$0], $1; }}", row.name);
            emit_effect(emit, &text, "r,l,", &[address, source]).map(|()| Vec::new())
        }
        (InstructionKind::TensorMove, &[(_, address)], &[result]) => {
            load(emit, row, address, result).map(|all| vec![all])
        }
        (InstructionKind::TensorMove, &[(_, address), (ty, stored)], []) => {
            let words = emit.split_to_elements(stored, register_type(ty))?;
            let group = registers(1, words.len());
            let half_split_offset = constant(row).map(|columns| format!(", {columns}")).unwrap_or_default();
            let constraints = "r,".repeat(words.len() + 1);
            let given: Vec<_> = std::iter::once(address).chain(words).collect();
            emit_effect(emit, &format!("{} [$0]{half_split_offset}, {group};", row.name), &constraints, &given)
                .map(|()| Vec::new())
        }
        (InstructionKind::Matrix, [matrices @ .., (_, BasicValueEnum::IntValue(adds))], []) => {
            emit_mma(emit, row, matrices, *adds).map(|()| Vec::new())
        }
        _ => Err(CompileError::Backend(format!("`{}` has operands that no tensor memory instruction has", row.name))),
    }
}

/// Emits a load from tensor memory: `tcgen05.ld... {d...}, [address];`.
fn load<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    address: BasicValueEnum<'ctx>,
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let register_type = register_type(result.after_wait());
    let count = register_type.element_count() as usize;
    let half_split_offset = constant(row).map(|columns| format!(", {columns}")).unwrap_or_default();
    let text = format!("{} {}, [${count}]{half_split_offset};", row.name, registers(0, count));
    let constraints = format!("{}r,~{{memory}}", "=r,".repeat(count));
    let words = vec![emit.llvm_type(Type::Scalar(Element::I32))?; count];
    let register_values = emit.ordered_assembly(&text, &constraints, &[address], &words)?;
    emit.join_elements(&register_values, register_type, result.after_wait())
}

/// Emits `tcgen05.mma... [accumulator], a, b, instruction descriptor, [scales of a], [scales of b], predicate;` on one
/// lane. Operand B is a matrix descriptor; so is operand A, or an address if A is in tensor memory.
fn emit_mma<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    matrices: &[Typed<'ctx>],
    adds: IntValue<'ctx>,
) -> Result<(), CompileError> {
    let wrong = || CompileError::Backend(format!("`{}` names no kind, or has no descriptor", row.name));
    let (word, mnemonic) = constant(row).zip(mnemonic(&row.name)).ok_or_else(wrong)?;
    let adds = emit.select_if_zero(adds, emit.i32(0), emit.i32(1))?;
    let (mut given, mut constraints, mut values) = (Vec::new(), String::new(), Vec::new());
    let mut left = matrices.iter();
    for operand in &row.operands {
        let at = values.len();
        match operand {
            InstructionOperand::Constant { .. } => {
                given.push(format!("${at}"));
                constraints += "r,";
                values.push(emit.i32(word).into());
            }
            InstructionOperand::Tensor(_) | InstructionOperand::Memory(_) => {
                let is_address = operand.tensor_memory_operand().is_some();
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
    emit_effect(emit, &text, &format!("{constraints}r,"), &values)
}

/// Returns the value of an instruction's constant operand: the instruction descriptor of an MMA, or the distance in
/// columns of the two ranges of `16x32bx2`. `None` if the instruction has no such operand.
fn constant(row: &Instruction) -> Option<u32> {
    row.operands.iter().find_map(|operand| match operand {
        InstructionOperand::Constant { value, .. } => u32::try_from(*value).ok(),
        _ => None,
    })
}

/// Returns the PTX mnemonic at the start of a `tcgen05.mma` instruction's name, which ends before the sizes `.mMnNkK`;
/// `None` for other names.
fn mnemonic(name: &str) -> Option<&str> {
    let kind = name.find(".kind::")? + ".kind::".len();
    let is_size = |&(at, _): &(usize, &str)| name[at + 2..].starts_with(|digit: char| digit.is_ascii_digit());
    let (end, _) = name.match_indices(".m").filter(|(at, _)| *at > kind).find(is_size)?;
    Some(&name[..end])
}

/// Returns the text `{$from, $from+1, ...}` of `count` consecutive operands of inline assembly.
fn registers(from: usize, count: usize) -> String {
    let all: Vec<_> = (from..from + count).map(|index| format!("${index}")).collect();
    format!("{{{}}}", all.join(","))
}

/// Returns the type of a value as a vector of 32-bit registers.
fn register_type(ty: Type) -> Type {
    Type::vector_or_scalar(Element::I32, ty.bits() / 32)
}

/// Emits inline assembly without results, for a whole warp. `constraints` is empty or ends with a comma.
fn emit_effect<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    text: &str,
    constraints: &str,
    operands: &[BasicValueEnum<'ctx>],
) -> Result<(), CompileError> {
    emit.ordered_assembly(text, &format!("{constraints}~{{memory}}"), operands, &[]).map(|_| ())
}
