//! Emits vendor instructions as PTX. MMAs are inline assembly whose mnemonic is the instruction's name (see
//! [`super::group`] for warpgroup MMAs, [`super::tensor`] for MMAs in tensor memory). `ldmatrix` and `stmatrix` are
//! LLVM intrinsics, because LLVM folds constant offsets into an intrinsic's address.

use tilewright_kernel::{Element, Module, Op, Region, Type, is_result_operand};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionKind, Semantics};

use super::registers::{Typed, is_scale, registers};
use super::{atomic, bulk, conversion, group, mbarrier, tensor};
use tilewright_nvidia_tables::instructions::{BULK_COPY, BULK_REDUCTION};

/// Emits one instruction. The caller has checked the operands and results.
pub(super) fn emit<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    results: &[Type],
) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
    if is_bulk_copy(&row.name) {
        return bulk::copy(emit, row, operands).map(|()| Vec::new());
    }
    if row.kind == InstructionKind::AsyncCopy {
        return copy(emit, row, operands).map(|()| Vec::new());
    }
    if tensor::uses_tensor_memory(row) {
        return tensor::instruction(emit, row, operands, results);
    }
    match (&row.semantics, results) {
        (Semantics::Contract | Semantics::ContractSaturating, &[result]) if group::is_warpgroup_mma(row) => {
            group::emit_mma(emit, row, operands, result).map(|value| vec![value])
        }
        (Semantics::Contract | Semantics::ContractSaturating | Semantics::CountDifferent, &[result]) => {
            emit_mma(emit, row, operands, result).map(|value| vec![value])
        }
        (Semantics::Move, &[result]) => load(emit, row, operands, result).map(|value| vec![value]),
        (Semantics::Move, []) => store(emit, row, operands).map(|()| Vec::new()),
        _ => Err(CompileError::Unsupported(format!("instruction `{}` has no code generation", row.name))),
    }
}

/// Emits `mnemonic {d...}, {a...}, {b...}, {c...};`, then each operand's scales with their byte and thread selectors.
fn emit_mma<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let (mut groups, mut constraints, mut given, mut results) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut register_type = result;
    let mut next = 0;
    let mut values = operands.iter();
    for operand in &row.operands {
        let (ty, letter) = registers(operand)?;
        let group: Vec<_> = (next..next + ty.element_count()).map(|index| format!("${index}")).collect();
        next += ty.element_count();
        groups.push(format!("{{{}}}", group.join(",")));
        if is_scale(operand) {
            groups.push("{0,0}".to_owned());
        }
        if is_result_operand(operand) {
            constraints.extend((0..ty.element_count()).map(|_| format!("={letter}")));
            let element = Type::Scalar(ty.element().unwrap_or(Element::I32));
            results = vec![emit.llvm_type(element)?; ty.element_count() as usize];
            register_type = ty;
        } else {
            constraints.extend((0..ty.element_count()).map(|_| letter.to_string()));
            let missing = || CompileError::Backend(format!("`{}` lacks an operand", row.name));
            let value = values.next().ok_or_else(missing)?.1;
            let value = if is_scale(operand) { emit.to_i32_word(value)? } else { value };
            given.extend(emit.split_to_elements(value, ty)?);
        }
    }
    let text = format!("{} {};", row.name, groups.join(", "));
    let register_values = emit.convergent_assembly(&text, &constraints.join(","), &given, &results)?;
    emit.join_elements(&register_values, register_type, result)
}

/// Returns the intrinsic of `ldmatrix` or `stmatrix`: the instruction's name without the address space, which the
/// pointer's type has.
fn intrinsic(row: &Instruction) -> String {
    format!("llvm.nvvm.{}", row.name.replace(".shared", ""))
}

fn load<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let [(_, address)] = *operands else {
        return Err(CompileError::Backend(format!("`{}` loads from one address", row.name)));
    };
    let register_values =
        emit.result_fields(emit.call_intrinsic(&intrinsic(row), &[address.get_type()], &[address])?)?;
    emit.join_elements(&register_values, register_type(result), result)
}

fn store<'ctx>(emit: &Emitter<'_, 'ctx>, row: &Instruction, operands: &[Typed<'ctx>]) -> Result<(), CompileError> {
    let [(_, address), (ty, stored)] = *operands else {
        return Err(CompileError::Backend(format!("`{}` stores to one address", row.name)));
    };
    let mut given = vec![address];
    given.extend(emit.split_to_elements(stored, register_type(ty))?);
    emit.call_intrinsic(&intrinsic(row), &[address.get_type()], &given).map(|_| ())
}

/// Emits `cp.async`. Unless all lanes are active, it is inline assembly with the operand `ignore-src`, so that inactive
/// lanes write zeros. The machine instruction has this predicate; from the operand `src-size`, the assembler would have
/// to compute it.
fn copy<'ctx>(emit: &Emitter<'_, 'ctx>, row: &Instruction, operands: &[Typed<'ctx>]) -> Result<(), CompileError> {
    let (Some((mnemonic, bytes)), &[(_, to), (_, from), (_, BasicValueEnum::IntValue(reads))]) =
        (row.name.rsplit_once('.'), operands)
    else {
        return Err(CompileError::Backend(format!("`{}` takes two addresses and a predicate", row.name)));
    };
    if reads.get_zero_extended_constant() == Some(1) {
        return emit.call_intrinsic(&format!("llvm.nvvm.{}", row.name), &[], &[to, from]).map(|_| ());
    }
    let text = format!("{mnemonic} [$0], [$1], {bytes}, $2;");
    let ignored = emit.not(reads)?;
    emit.access_assembly(&text, "l,l,b,~{memory}", &[to, from, ignored.into()], &[]).map(drop)
}

/// Returns the type of a value as a vector of 32-bit registers.
fn register_type(ty: Type) -> Type {
    Type::vector_or_scalar(Element::I32, ty.bits() / 32)
}

/// Returns the least PTX version, times ten, that has all instructions of a module; `None` if the version that LLVM
/// takes by default for the processor suffices. Source: PTX ISA, "PTX ISA Notes" of `mma` and `ldmatrix`.
///
/// LLVM rejects a version that is too low for the processor, so none is set without need.
pub(super) fn ptx_version(architecture: &str, module: &Module) -> Option<u32> {
    fn of(region: &Region) -> Option<u32> {
        let versions = region.statements.iter().map(|statement| match &statement.op {
            Op::Instruction { name, .. } => Some(version(name)),
            Op::MbarrierInit { .. }
            | Op::MbarrierArrive { .. }
            | Op::MbarrierWait { .. }
            | Op::MbarrierInvalidate { .. }
            | Op::MbarrierCommit { .. } => Some(mbarrier::VERSION),
            Op::Cast { op, .. } if op.extended_format().or(op.rounded_format()).is_some() => Some(conversion::VERSION),
            Op::AtomicRmw { .. } => statement.results.iter().filter_map(|&(_, ty)| atomic::version(ty)).max(),
            op => op.regions().into_iter().filter_map(of).max(),
        });
        versions.flatten().max()
    }
    let required = module.kernels.iter().filter_map(|kernel| of(&kernel.body)).max()?;
    let own = PROCESSORS.iter().rev().find(|(name, _)| architecture.starts_with(name))?.1;
    (required > own).then_some(required)
}

/// Prefix of the names of copies by lanes, without those of bulk copies.
const COPY: &str = "cp.async.c";

/// Least PTX version, times ten, whose `cp.async` has the operand `ignore-src`.
const IGNORE_SOURCE_VERSION: u32 = 75;

/// PTX versions, times ten, that LLVM takes by default, by prefix of the processor's name. Later processors have all
/// instructions.
const PROCESSORS: [(&str, u32); 8] = [
    ("sm_", 87),
    ("sm_75", 63),
    ("sm_8", 70),
    ("sm_86", 71),
    ("sm_87", 74),
    ("sm_89", 78),
    ("sm_90", 78),
    ("sm_100", 86),
];

fn is_bulk_copy(name: &str) -> bool {
    [BULK_COPY, BULK_REDUCTION].iter().any(|prefix| name.starts_with(prefix))
}

fn version(name: &str) -> u32 {
    if name.starts_with(COPY) {
        return IGNORE_SOURCE_VERSION;
    }
    if name.starts_with(group::MNEMONIC) {
        let mixed = name.contains(".s8.u8.") || name.contains(".u8.s8.");
        return if mixed { 84 } else { 80 };
    }
    if is_bulk_copy(name) {
        return mbarrier::VERSION;
    }
    if name.contains("kind::mxf4nvf4") {
        return 87;
    }
    let eight_bit_floats = name.contains("e4m3") || name.contains("e5m2");
    if name.ends_with(".popc") {
        return if name.ends_with(".and.popc") { 71 } else { 70 };
    }
    match (eight_bit_floats, name.contains(".f16.")) {
        (true, true) => 87,
        (true, false) => 84,
        // Other instructions that need a later version exist only on processors whose default version has them.
        (false, _) => 65,
    }
}
