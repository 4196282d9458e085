//! How rows of the instruction table become LLVM's intrinsics. Inline assembly would not do: only of
//! its own instructions LLVM knows which must be kept apart by waiting.
//!
//! A row is named by its mnemonic; the intrinsic's name follows from it by rule, its further operands
//! by [`pattern`].

use tilewright_kernel::{Element, Type};
use tilewright_llvm::values::{BasicTypeEnum, BasicValueEnum};
use tilewright_llvm::{CallOperand, Emitter};
use tilewright_plugin::CompileError;
use tilewright_target::{Instruction, InstructionKind, Operand, Semantics};

use crate::instructions::had_by_first_generations;

/// One operand of an intrinsic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Argument {
    A,
    B,
    C,
    /// A modifier.
    Modifier(u32),
    /// Code of the type of A's elements.
    FormatA,
    /// Code of the type of B's elements.
    FormatB,
    /// A's scales, in the lowest byte.
    ScaleA,
    /// B's scales, in the lowest byte.
    ScaleB,
    /// All of A's scales.
    ScalesA,
    /// All of B's scales.
    ScalesB,
    /// Code of the type of scales.
    FormatScale,
    /// Whether A's elements have a sign.
    SignA,
    /// Whether B's elements have a sign.
    SignB,
    /// Whether sums saturate.
    Clamp,
}
use Argument::{
    A, B, C, Clamp, FormatA, FormatB, FormatScale, Modifier, ScaleA, ScaleB, ScalesA, ScalesB, SignA, SignB,
};

/// No negation, no broadcast, the lower half of a register, no scale.
const OFF: Argument = Modifier(0);

/// The intrinsic of a row.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    name: String,
    arguments: &'static [Argument],
    /// Operands whose types choose among overloads.
    overload: &'static [&'static str],
}

impl Call {
    fn of(row: &Instruction) -> Option<Self> {
        let mnemonic = row.name.split('(').next()?.strip_prefix("v_")?;
        let words: Vec<&str> = mnemonic.split('_').filter(|word| !is_blocks(word)).collect();
        let scale = words.get(1).copied().filter(|word| word.starts_with("scale"));
        let words: Vec<&str> = words.into_iter().filter(|&word| Some(word) != scale).collect();
        let (&[kind, out, shape], factors) = words.split_first_chunk::<3>()?;
        let (name, overload) = match (kind, factors) {
            ("mfma", ["f8f6f4"]) => (format!("mfma.scale.{out}.{shape}.f8f6f4"), &["a", "b"][..]),
            ("mfma", _) => (mfma_name(out, shape, factors), &[][..]),
            ("wmma", ["f8f6f4"]) => {
                let scale = scale.map(|word| format!("{word}.")).unwrap_or_default();
                (format!("wmma.{scale}{out}.{shape}.f8f6f4"), &["d", "a", "b"][..])
            }
            _ => (format!("{kind}.{out}.{shape}.{}", factors.join(".")), &["d", "a"][..]),
        };
        let arguments = match (kind, scale) {
            ("wmma", Some(_)) => WMMA_WITH_SCALES,
            (_, Some(_)) => WITH_SCALES,
            _ => pattern(kind, out, shape, factors)?,
        };
        Some(Self { name: format!("llvm.amdgcn.{name}"), arguments, overload })
    }
}

/// `2b`, `4b`, `16b`: how many blocks an instruction multiplies.
fn is_blocks(word: &str) -> bool {
    word.strip_suffix('b').is_some_and(|count| count.chars().all(|digit| digit.is_ascii_digit()) && !count.is_empty())
}

/// What the first generations had keeps the intrinsic of its first name, `32x32x8f16`, under its later
/// one, `32x32x8_f16`; what came later is named with a dot.
fn mfma_name(out: &str, shape: &str, factors: &[&str]) -> String {
    let fields = factors.join("_");
    let variant = if fields == "bf16" { "_1k" } else { "" };
    let first = format!("{shape}{fields}{variant}");
    if had_by_first_generations(&format!("v_mfma_{out}_{first}")) {
        return format!("mfma.{out}.{}", first.replace('_', "."));
    }
    let dot = if factors.is_empty() { "" } else { "." };
    let rest = factors.join(".");
    format!("mfma.{out}.{shape}{dot}{rest}")
}

/// The operands where factors have scales.
const WITH_SCALES: &[Argument] = &[A, B, C, FormatA, FormatB, OFF, ScaleA, OFF, ScaleB];

/// The same of `wmma`: the lower lanes' scales count, and nothing is kept for the next instruction.
const WMMA_WITH_SCALES: &[Argument] =
    &[FormatA, A, FormatB, B, OFF, C, OFF, FormatScale, ScalesA, OFF, FormatScale, ScalesB, OFF, OFF];

/// The operands of an intrinsic in order.
fn pattern(kind: &str, out: &str, shape: &str, factors: &[&str]) -> Option<&'static [Argument]> {
    Some(match (kind, shape, factors) {
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

/// The code of one row; operands and results fit it.
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
    let scale = |index: usize| emit.word_of(scales(index)?).map(CallOperand::Bits);
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
    let value = emit.call_fitting(&call.name, &overload, &given)?;
    let value =
        value.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{}` gives nothing", call.name)))?;
    Ok(vec![emit.bits_as(value, emit.plain_type(result)?)?])
}

/// `ds_read_b64_tr_b16` is `llvm.amdgcn.ds.read.tr16.b64`, which gives 16-bit elements; that of narrower
/// ones gives words.
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
    let given = emit.plain_type(Type::of(given, result.bits() / given.bits()))?;
    let name = format!("llvm.amdgcn.ds.read.tr{element}.{access}");
    let value = emit.call(&name, &[given], &[address])?;
    let value = value.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{name}` gives nothing")))?;
    emit.bits_as(value, emit.plain_type(result)?)
}

/// A load from global memory to LDS; the first lane's address in LDS counts.
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
    // No constant offset, no cache policy.
    let operands = [from, to, emit.i32(size).into(), emit.i32(0).into(), emit.i32(0).into()];
    emit.call("llvm.amdgcn.global.load.lds", &[], &operands).map(|_| ())
}

/// The element type of an operand, and the bits that a lane holds of it.
fn held<'a>(row: &'a Instruction, required: &str) -> Result<(&'a str, u32), CompileError> {
    let found = row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, element, bits, layout } if role == required => {
            Some((element.as_str(), bits << layout.in_bits(tilewright_layout::Dim::REGISTER)))
        }
        _ => None,
    });
    found.ok_or_else(|| CompileError::Backend(format!("instruction `{}` has no operand `{required}`", row.name)))
}

/// The registers that a factor fills: elements of six bits fill fewer than the value that carries them has.
fn narrowed<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    role: &str,
    value: BasicValueEnum<'ctx>,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let (_, bits) = held(row, role)?;
    if bits.is_power_of_two() {
        return Ok(value);
    }
    let words = |bits: u32| Type::of(Element::I32, bits / 32);
    let mut parts = emit.pieces(value, words(bits.next_power_of_two()))?;
    parts.truncate((bits / 32) as usize);
    emit.joined(&parts, words(bits), words(bits))
}

/// Whether a factor's elements have a sign.
fn is_signed(row: &Instruction, role: &str) -> Result<bool, CompileError> {
    Ok(held(row, role)?.0.starts_with('i'))
}

/// The code of the type of scales: LLVM, SIDefines.h, `MatrixScaleFmt`.
fn scale_code(row: &Instruction) -> Result<u32, CompileError> {
    match held(row, "scale_a")?.0 {
        "e8m0" => Ok(0),
        "ue4m3" => Ok(2),
        other => Err(CompileError::Unsupported(format!("instruction `{}`: scales of {other}", row.name))),
    }
}

/// The codes of element types in the modifiers `cbsz` and `blgp`, CDNA 4 ISA reference; of `wmma` the same, LLVM,
/// SIDefines.h, `MatrixFMT`.
fn format_code(row: &Instruction, role: &str) -> Result<u32, CompileError> {
    match held(row, role)?.0 {
        "fp8" => Ok(0),
        "bf8" => Ok(1),
        "fp6" => Ok(2),
        "bf6" => Ok(3),
        "fp4" => Ok(4),
        other => Err(CompileError::Unsupported(format!("instruction `{}`: factors of {other}", row.name))),
    }
}

/// The type by which LLVM knows an operand: narrow elements are words, and `bf16` is an integer but
/// where K is 32.
fn overload_type<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    row: &Instruction,
    role: &str,
) -> Result<BasicTypeEnum<'ctx>, CompileError> {
    let (element, bits) = held(row, role)?;
    let element = match element {
        "f32" => Element::F32,
        "f16" => Element::F16,
        "bf16" if row.name.contains("16x16x32") => Element::Bf16,
        "bf16" => Element::I16,
        _ => Element::I32,
    };
    emit.plain_type(Type::of(element, bits / element.bits()))
}
