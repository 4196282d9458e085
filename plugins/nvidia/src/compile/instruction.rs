//! How rows of the instruction table become PTX: products as inline assembly, whose mnemonic is the
//! row's name (those of several warps are in [`super::group`], those of tensor memory in [`super::tensor`]); matrix moves by LLVM's intrinsics, which fold constant offsets into the address.

use tilewright_kernel::{Element, Module, Op, Region, Type, is_result};
use tilewright_llvm::Emitter;
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionKind, Semantics};

use super::registers::{Typed, is_scale, registers};
use super::{bulk, group, mbarrier, tensor};
use crate::instructions::BULK_COPY;

/// The code of one row; operands and results fit it.
pub(super) fn emit<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    results: &[Type],
) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
    if row.name.starts_with(BULK_COPY) {
        return bulk::copy(emit, row, operands).map(|()| Vec::new());
    }
    if row.kind == InstructionKind::AsyncCopy {
        return copy(emit, row, operands).map(|()| Vec::new());
    }
    if tensor::is_in_tensor_memory(row) {
        return tensor::instruction(emit, row, operands, results);
    }
    match (&row.semantics, results) {
        (Semantics::Contract | Semantics::ContractSaturating, &[result]) if group::is_of_group(row) => {
            group::product(emit, row, operands, result).map(|value| vec![value])
        }
        (Semantics::Contract | Semantics::ContractSaturating | Semantics::CountDifferent, &[result]) => {
            product(emit, row, operands, result).map(|value| vec![value])
        }
        (Semantics::Move, &[result]) => load(emit, row, operands, result).map(|value| vec![value]),
        (Semantics::Move, []) => store(emit, row, operands).map(|()| Vec::new()),
        _ => Err(CompileError::Unsupported(format!("instruction `{}` has no code generation", row.name))),
    }
}

/// `mnemonic {d...}, {a...}, {b...}, {c...};`, then each factor's scales with the byte and the thread that give them.
fn product<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[Typed<'ctx>],
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let (mut groups, mut constraints, mut given, mut results) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut whole = result;
    let mut next = 0;
    let mut values = operands.iter();
    for operand in &row.operands {
        let (ty, letter) = registers(operand)?;
        let group: Vec<_> = (next..next + ty.count()).map(|number| format!("${number}")).collect();
        next += ty.count();
        groups.push(format!("{{{}}}", group.join(",")));
        if is_scale(operand) {
            groups.push("{0,0}".to_owned());
        }
        if is_result(operand) {
            constraints.extend((0..ty.count()).map(|_| format!("={letter}")));
            let element = Type::Scalar(ty.element().unwrap_or(Element::I32));
            results = vec![emit.plain_type(element)?; ty.count() as usize];
            whole = ty;
        } else {
            constraints.extend((0..ty.count()).map(|_| letter.to_string()));
            let missing = || CompileError::Backend(format!("`{}` lacks an operand", row.name));
            let value = values.next().ok_or_else(missing)?.1;
            let value = if is_scale(operand) { emit.word_of(value)? } else { value };
            given.extend(emit.pieces(value, ty)?);
        }
    }
    let text = format!("{} {};", row.name, groups.join(", "));
    let parts = emit.assembly(&text, &constraints.join(","), &given, &results)?;
    emit.joined(&parts, whole, result)
}

/// The intrinsic of a matrix move: the row's name without the memory, which the pointer's type says.
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
    let parts = emit.fields(emit.call(&intrinsic(row), &[address.get_type()], &[address])?)?;
    emit.joined(&parts, words(result), result)
}

fn store<'ctx>(emit: &Emitter<'_, 'ctx>, row: &Instruction, operands: &[Typed<'ctx>]) -> Result<(), CompileError> {
    let [(_, address), (ty, stored)] = *operands else {
        return Err(CompileError::Backend(format!("`{}` stores to one address", row.name)));
    };
    let mut given = vec![address];
    given.extend(emit.pieces(stored, words(ty))?);
    emit.call(&intrinsic(row), &[address.get_type()], &given).map(|_| ())
}

/// The row's name is the intrinsic's; what is read is said by a size, of which zero leaves zeros.
fn copy<'ctx>(emit: &Emitter<'_, 'ctx>, row: &Instruction, operands: &[Typed<'ctx>]) -> Result<(), CompileError> {
    let bytes = row.name.rsplit('.').next().and_then(|bytes| bytes.parse().ok());
    let (Some(bytes), &[(_, to), (_, from), (_, BasicValueEnum::IntValue(reads))]) = (bytes, operands) else {
        return Err(CompileError::Backend(format!("`{}` takes two addresses and a predicate", row.name)));
    };
    let read = emit.if_zero(reads, emit.i32(0), emit.i32(bytes))?;
    emit.call(&format!("llvm.nvvm.{}.s", row.name), &[], &[to, from, read.into()]).map(|_| ())
}

/// The 32-bit registers of a value.
fn words(ty: Type) -> Type {
    Type::of(Element::I32, ty.bits() / 32)
}

/// The least version of PTX, times ten, that has all instructions of a module, where that is more than
/// LLVM takes for the processor by itself: PTX ISA, "PTX ISA Notes" of `mma` and `ldmatrix`.
///
/// LLVM refuses a version that is too low for the processor, so none is asked for without need.
pub(super) fn ptx_version(architecture: &str, module: &Module) -> Option<u32> {
    fn of(region: &Region) -> Option<u32> {
        let versions = region.statements.iter().map(|statement| match &statement.op {
            Op::Instruction { name, .. } => Some(version(name)),
            Op::MbarrierInit { .. }
            | Op::MbarrierArrive { .. }
            | Op::MbarrierWait { .. }
            | Op::MbarrierCommit { .. } => Some(mbarrier::VERSION),
            op => op.regions().into_iter().filter_map(of).max(),
        });
        versions.flatten().max()
    }
    let required = module.kernels.iter().filter_map(|kernel| of(&kernel.body)).max()?;
    let own = PROCESSORS.iter().rev().find(|(name, _)| architecture.starts_with(name))?.1;
    (required > own).then_some(required)
}

/// The version that LLVM takes for a processor. Later ones have all instructions.
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

fn version(name: &str) -> u32 {
    if name.starts_with(group::MNEMONIC) {
        let mixed = name.contains(".s8.u8.") || name.contains(".u8.s8.");
        return if mixed { 84 } else { 80 };
    }
    if name.starts_with(BULK_COPY) {
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
        // What else came later came with a processor that asks for as much by itself.
        (false, _) => 65,
    }
}
