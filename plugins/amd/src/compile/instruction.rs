//! Emits AMD's matrix and copy instructions as LLVM intrinsics. Inline assembly does not suffice, because LLVM inserts
//! the required wait states only between instructions that it knows.
//!
//! The name of an instruction is its mnemonic. The intrinsic's name is derived from the mnemonic by rule, and the
//! intrinsic's argument list is given by [`pattern`].

use tilewright_kernel::{Element, Type};
use tilewright_llvm::values::{BasicTypeEnum, BasicValueEnum};
use tilewright_llvm::{CallOperand, Emitter};
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionKind, Semantics};

use tilewright_amd_tables::instructions::exists_before_gfx940;

/// One argument of an LLVM intrinsic: a matrix operand, or a modifier of the instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Argument {
    A,
    B,
    C,
    /// A modifier of the instruction with this constant value.
    Modifier(u32),
    /// The code of A's element type, from [`format_code`].
    FormatA,
    /// The code of B's element type, from [`format_code`].
    FormatB,
    /// A's scales of `mfma`: a 32-bit register whose lowest byte is the scale.
    ScaleA,
    /// B's scales of `mfma`: a 32-bit register whose lowest byte is the scale.
    ScaleB,
    /// A's scales of `wmma`: all scales of a row along K, one byte each.
    ScalesA,
    /// B's scales of `wmma`: all scales of a column along K, one byte each.
    ScalesB,
    /// The code of the scales' element type, from [`scale_code`].
    FormatScale,
    /// A flag: whether A's elements are signed.
    SignA,
    /// A flag: whether B's elements are signed.
    SignB,
    /// A flag: whether the result saturates.
    Clamp,
}
use Argument::{
    A, B, C, Clamp, FormatA, FormatB, FormatScale, Modifier, ScaleA, ScaleB, ScalesA, ScalesB, SignA, SignB,
};

/// A modifier that is off (zero): no negation, no broadcast, the lower half of a register, or no scale.
const OFF: Argument = Modifier(0);

/// The LLVM intrinsic as which an instruction is emitted, with its arguments in order.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    name: String,
    arguments: &'static [Argument],
    /// Roles of the instruction's operands whose types select the overload of the intrinsic.
    overload: &'static [&'static str],
}

impl Call {
    fn of(row: &Instruction) -> Option<Self> {
        let mnemonic = row.name.split('(').next()?.strip_prefix("v_")?;
        let words: Vec<&str> = mnemonic.split('_').filter(|word| !is_blocks(word)).collect();
        let scale = words.get(1).copied().filter(|word| word.starts_with("scale"));
        let words: Vec<&str> = words.into_iter().filter(|&word| Some(word) != scale).collect();
        let (&[kind, out, shape], types) = words.split_first_chunk::<3>()?;
        let (name, overload) = match (kind, types) {
            ("mfma", ["f8f6f4"]) => (format!("mfma.scale.{out}.{shape}.f8f6f4"), &["a", "b"][..]),
            ("mfma", _) => (mfma_name(out, shape, types), &[][..]),
            ("wmma", ["f8f6f4"]) => {
                let scale = scale.map(|word| format!("{word}.")).unwrap_or_default();
                (format!("wmma.{scale}{out}.{shape}.f8f6f4"), &["d", "a", "b"][..])
            }
            _ => (format!("{kind}.{out}.{shape}.{}", types.join(".")), &["d", "a"][..]),
        };
        let arguments = match (kind, scale) {
            ("wmma", Some(_)) => WMMA_WITH_SCALES,
            (_, Some(_)) => WITH_SCALES,
            _ => pattern(kind, out, shape, types)?,
        };
        Some(Self { name: format!("llvm.amdgcn.{name}"), arguments, overload })
    }
}

/// Whether a word of a mnemonic is a number of blocks (independent matrices), such as `2b`, `4b`, `16b`.
fn is_blocks(word: &str) -> bool {
    word.strip_suffix('b').is_some_and(|count| count.chars().all(|digit| digit.is_ascii_digit()) && !count.is_empty())
}

/// Returns the intrinsic's name for an `mfma`, without the prefix `llvm.amdgcn.`. Instructions of gfx908 and gfx90a
/// keep their first syntax (`32x32x8f16` for the mnemonic's `32x32x8_f16`); later ones have a dot before the types.
fn mfma_name(out: &str, shape: &str, types: &[&str]) -> String {
    let fields = types.join("_");
    let variant = if fields == "bf16" { "_1k" } else { "" };
    let first = format!("{shape}{fields}{variant}");
    if exists_before_gfx940(&format!("v_mfma_{out}_{first}")) {
        return format!("mfma.{out}.{}", first.replace('_', "."));
    }
    let dot = if types.is_empty() { "" } else { "." };
    let rest = types.join(".");
    format!("mfma.{out}.{shape}{dot}{rest}")
}

/// The arguments of the intrinsic of an `mfma` with scales.
const WITH_SCALES: &[Argument] = &[A, B, C, FormatA, FormatB, OFF, ScaleA, OFF, ScaleB];

/// The arguments of the intrinsic of a `wmma` with scales. The lower lanes hold the scales, and the reuse hints, which
/// keep an operand for the next instruction, are off.
const WMMA_WITH_SCALES: &[Argument] =
    &[FormatA, A, FormatB, B, OFF, C, OFF, FormatScale, ScalesA, OFF, FormatScale, ScalesB, OFF, OFF];

/// Returns the arguments, in order, of the intrinsic of an instruction without scales. The parameters are the fields of
/// its mnemonic: kind (`mfma` or `wmma`), result type, shape and operand types. Returns `None` for other kinds.
fn pattern(kind: &str, out: &str, shape: &str, types: &[&str]) -> Option<&'static [Argument]> {
    Some(match (kind, shape, types) {
        ("mfma", _, ["f8f6f4"]) => &[A, B, C, FormatA, FormatB, OFF, OFF, OFF, OFF],
        ("mfma", ..) => &[A, B, C, OFF, OFF, OFF],
        ("wmma", _, ["f8f6f4"]) => &[FormatA, A, FormatB, B, OFF, C],
        ("wmma", "16x16x64", ["iu8"]) => &[SignA, A, SignB, B, C, OFF, OFF, Clamp],
        ("wmma", _, ["iu8" | "iu4"]) => &[SignA, A, SignB, B, C, Clamp],
        ("wmma", "16x16x16", _) if out == "f16" || out == "bf16" => &[A, B, C, OFF],
        ("wmma", "16x16x16", _) => &[A, B, C],
        ("wmma", "16x16x64" | "16x16x128", _) => &[A, B, OFF, C, OFF, OFF],
        ("wmma", ..) => &[OFF, A, OFF, B, OFF, C, OFF, OFF],
        _ => return None,
    })
}

/// Emits the intrinsic of one instruction. The caller has checked the operands and results.
pub(super) fn emit<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    operands: &[(Type, BasicValueEnum<'ctx>)],
    results: &[Type],
) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
    let unsupported = || CompileError::Unsupported(format!("instruction `{}` has no code generation", row.name));
    if let (InstructionKind::AsyncCopy, &[(_, to), (_, from)]) = (row.kind, operands) {
        return copy(emit, row, to, from).map(|()| Vec::new());
    }
    if let (Semantics::Move, &[(_, address)], &[result]) = (&row.semantics, operands, results) {
        return transposed_load(emit, row, address, result).map(|value| vec![value]);
    }
    let saturates = row.semantics == Semantics::ContractSaturating;
    let call = Call::of(row).filter(|_| saturates || row.semantics == Semantics::Contract).ok_or_else(unsupported)?;
    if saturates && !call.arguments.contains(&Clamp) {
        return Err(unsupported());
    }
    let (&[(_, a), (_, b), (_, c), ref scales @ ..], &[result]) = (operands, results) else {
        return Err(unsupported());
    };
    let scales = |index: usize| scales.get(index).map(|&(_, value)| value).ok_or_else(unsupported);
    let scale = |index: usize| emit.to_i32_word(scales(index)?).map(CallOperand::Bits);
    let given = |argument: &Argument| match argument {
        A => narrowed(emit, row, "a", a).map(CallOperand::Bits),
        B => narrowed(emit, row, "b", b).map(CallOperand::Bits),
        C => Ok(CallOperand::Bits(c)),
        Modifier(number) => Ok(CallOperand::Number(*number)),
        FormatA => format_code(row, "a").map(CallOperand::Number),
        FormatB => format_code(row, "b").map(CallOperand::Number),
        SignA => is_signed(row, "a").map(|signed| CallOperand::Number(signed.into())),
        SignB => is_signed(row, "b").map(|signed| CallOperand::Number(signed.into())),
        Clamp => Ok(CallOperand::Number(saturates.into())),
        ScaleA => scale(0),
        ScaleB => scale(1),
        ScalesA => scales(0).map(CallOperand::Bits),
        ScalesB => scales(1).map(CallOperand::Bits),
        FormatScale => scale_code(row).map(CallOperand::Number),
    };
    let given = call.arguments.iter().map(given).collect::<Result<Vec<_>, _>>()?;
    let overload = call.overload.iter().map(|role| overload_type(emit, row, role)).collect::<Result<Vec<_>, _>>()?;
    let value = emit.call_with_bitcasts(&call.name, &overload, &given)?;
    let value =
        value.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{}` has no result", call.name)))?;
    Ok(vec![emit.bitcast(value, emit.llvm_type(result)?)?])
}

/// Emits a transposing load from LDS. The intrinsic of `ds_read_b64_tr_b16` is `llvm.amdgcn.ds.read.tr16.b64`, which
/// returns 16-bit elements; for narrower elements the intrinsic returns 32-bit words.
fn transposed_load<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    address: BasicValueEnum<'ctx>,
    result: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let words = row.name.strip_prefix("ds_read_").and_then(|rest| rest.split_once("_tr_b"));
    let Some((access, element)) = words else {
        return Err(CompileError::Unsupported(format!("instruction `{}` has no code generation", row.name)));
    };
    let given = if element == "16" { Element::I16 } else { Element::I32 };
    let given = emit.llvm_type(Type::vector_or_scalar(given, result.bits() / given.bits()))?;
    let name = format!("llvm.amdgcn.ds.read.tr{element}.{access}");
    let value = emit.call_intrinsic(&name, &[given], &[address])?;
    let value = value.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{name}` has no result")))?;
    emit.bitcast(value, emit.llvm_type(result)?)
}

/// Emits a load from global memory to LDS. The hardware uses only the first lane's LDS address.
fn copy<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    to: BasicValueEnum<'ctx>,
    from: BasicValueEnum<'ctx>,
) -> Result<(), CompileError> {
    let size = match row.name.rsplit('_').next() {
        Some("dword") => 4,
        Some("dwordx4") => 16,
        _ => return Err(CompileError::Unsupported(format!("instruction `{}` has no code generation", row.name))),
    };
    // The two zeros are the constant offset and the cache policy.
    let operands = [from, to, emit.i32(size).into(), emit.i32(0).into(), emit.i32(0).into()];
    emit.call_intrinsic("llvm.amdgcn.global.load.lds", &[], &operands).map(|_| ())
}

/// Returns the element type of the register operand with the role `required`, and the number of bits of its registers
/// in one lane.
fn register_operand<'a>(row: &'a Instruction, required: &str) -> Result<(&'a str, u32), CompileError> {
    let found = row
        .find_register_operand(required)
        .map(|(element, bits, layout)| (element, bits << layout.in_bits(tilewright_layout::Dim::REGISTER)));
    found.ok_or_else(|| CompileError::Backend(format!("instruction `{}` has no operand `{required}`", row.name)))
}

/// Removes padding registers from an operand's value. The kernel IR pads a vector to a power of two, but operands of
/// six-bit elements have fewer registers.
fn narrowed<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    role: &str,
    value: BasicValueEnum<'ctx>,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let (_, bits) = register_operand(row, role)?;
    if bits.is_power_of_two() {
        return Ok(value);
    }
    let words = |bits: u32| Type::vector_or_scalar(Element::I32, bits / 32);
    let mut register_values = emit.split_to_elements(value, words(bits.next_power_of_two()))?;
    register_values.truncate((bits / 32) as usize);
    emit.join_elements(&register_values, words(bits), words(bits))
}

/// Whether the elements of the operand with this role are signed.
fn is_signed(row: &Instruction, role: &str) -> Result<bool, CompileError> {
    Ok(register_operand(row, role)?.0.starts_with('i'))
}

/// Returns the hardware's code for the element type of an instruction's scales (LLVM, SIDefines.h, `MatrixScaleFmt`).
fn scale_code(row: &Instruction) -> Result<u32, CompileError> {
    match register_operand(row, "scale_a")?.0 {
        "e8m0" => Ok(0),
        "ue4m3" => Ok(2),
        other => Err(CompileError::Unsupported(format!("instruction `{}`: scales of {other}", row.name))),
    }
}

/// Returns the hardware's code for an operand's element type: the value of the modifiers `cbsz` and `blgp` of `mfma`
/// (CDNA 4 ISA reference); `wmma` uses the same codes (LLVM, SIDefines.h, `MatrixFMT`).
fn format_code(row: &Instruction, role: &str) -> Result<u32, CompileError> {
    match register_operand(row, role)?.0 {
        "fp8" => Ok(0),
        "bf8" => Ok(1),
        "fp6" => Ok(2),
        "bf6" => Ok(3),
        "fp4" => Ok(4),
        other => Err(CompileError::Unsupported(format!("instruction `{}`: operands of {other}", row.name))),
    }
}

/// Returns the LLVM type of an operand in the intrinsic. Elements narrower than 16 bits are packed in 32-bit integers,
/// and `bf16` elements are 16-bit integers unless K is 32.
fn overload_type<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    role: &str,
) -> Result<BasicTypeEnum<'ctx>, CompileError> {
    let (element, bits) = register_operand(row, role)?;
    let element = match element {
        "f32" => Element::F32,
        "f16" => Element::F16,
        "bf16" if row.name.contains("16x16x32") => Element::Bf16,
        "bf16" => Element::I16,
        _ => Element::I32,
    };
    emit.llvm_type(Type::vector_or_scalar(element, bits / element.bits()))
}
