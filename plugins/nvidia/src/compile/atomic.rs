//! Emits atomic operations as PTX `atom`, because LLVM's read-modify-write arithmetic is lowered without order and
//! scope. Source: PTX ISA, `atom` and `red`.

use tilewright_kernel::{Atomic, Element, MemoryOrder, MemoryScope, MemorySpace, Type};
use tilewright_llvm::values::BasicValueEnum;
use tilewright_llvm::{AtomicUpdate, Emitter};
use tilewright_plugin::CompileError;

use super::capability::capability;

/// Emits an atomic operation as PTX `atom`, as `red` if the old value is not used, or as `ld` if it only reads; returns
/// the old value in memory.
/// Returns `None` if the architecture lacks the operation, so that LLVM writes a compare-exchange loop.
pub(super) fn emit<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    architecture: &str,
    atomic: &AtomicUpdate<'ctx>,
) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
    let (registers, constraint) = registers(atomic.ty);
    let Some(word) = operation(atomic.op, atomic.ty, architecture) else { return Ok(None) };
    let order = match atomic.order {
        MemoryOrder::Relaxed => "relaxed",
        MemoryOrder::Acquire => "acquire",
        MemoryOrder::Release => "release",
        MemoryOrder::AcquireRelease => "acq_rel",
    };
    let scope = match atomic.scope {
        MemoryScope::Block => "cta",
        MemoryScope::Device => "gpu",
        MemoryScope::System => "sys",
    };
    let (space, pointer, address) = match atomic.space {
        MemorySpace::Global => ("global", atomic.pointer.into(), "l"),
        _ => ("shared", emit.shared_address(atomic.pointer)?.into(), "r"),
    };
    let values = emit.split_to_elements(atomic.value, registers)?;
    let count = values.len();
    // `red` has neither acquire order nor exchanges.
    let is_reduction = !atomic.is_used
        && matches!(atomic.order, MemoryOrder::Relaxed | MemoryOrder::Release)
        && atomic.op != Atomic::Exchange;
    let is_load = is_load(atomic);
    let results: Vec<_> = values.iter().map(BasicValueEnum::get_type).filter(|_| !is_reduction).collect();
    let outputs = results.len();
    let modifiers = format!("{order}.{scope}.{space}.{word}");
    let new = operand_group(outputs + 1, count);
    let old = operand_group(0, count);
    let mut text = match (is_reduction, is_load) {
        (true, _) => format!("red.{modifiers} [$0], {new};"),
        (_, true) => format!("ld.{order}.{scope}.{space}.b{} {old}, [${count}];", atomic.ty.bits()),
        _ => format!("atom.{modifiers} {old}, [${count}], {new};"),
    };
    let values = if is_load { Vec::new() } else { values };
    let mut constraints = vec![format!("={constraint}"); outputs];
    constraints.push(address.to_owned());
    constraints.extend(vec![constraint.to_owned(); values.len()]);
    let mut operands = vec![pointer];
    operands.extend(&values);
    let old = match atomic.predicate {
        None => emit.ordered_assembly(&text, &constraints.join(","), &operands, &results)?,
        Some(predicate) => {
            text = format!("@${} {text}", constraints.len());
            constraints.push("b".to_owned());
            constraints.extend((0..outputs).map(|index| index.to_string()));
            operands.push(predicate.into());
            operands.extend(results.iter().map(|ty| ty.const_zero()));
            emit.access_assembly(&text, &constraints.join(","), &operands, &results)?
        }
    };
    match is_reduction {
        true => Ok(Some(atomic.value)),
        false => emit.join_elements(&old, registers, atomic.ty).map(Some),
    }
}

/// Whether an atomic operation only reads: an `or` with zero in an order that loads have.
fn is_load(atomic: &AtomicUpdate<'_>) -> bool {
    let is_zero = match atomic.value {
        BasicValueEnum::IntValue(value) => value.get_zero_extended_constant() == Some(0),
        _ => false,
    };
    let is_ordered_load = matches!(atomic.order, MemoryOrder::Relaxed | MemoryOrder::Acquire);
    atomic.op == Atomic::Or && atomic.is_used && is_zero && is_ordered_load
}

/// Least PTX version, times ten, that has `atom` and `red` on several registers.
const VECTOR_VERSION: u32 = 81;

/// Returns the least PTX version, times ten, that has the atomic operations of a type that the PTX version of a
/// processor may lack; `None` for other types.
pub(super) fn version(ty: Type) -> Option<u32> {
    (registers(ty).0.element_count() > 1).then_some(VECTOR_VERSION)
}

/// Returns the registers of an operand of `atom`, a scalar or vector of them, and their letter in LLVM's constraints of
/// inline assembly. Vectors of 16-bit elements are pairs in 32-bit registers.
fn registers(ty: Type) -> (Type, &'static str) {
    let element = ty.element().unwrap_or(Element::I32);
    let bits = if matches!(ty, Type::Vector(..)) { element.bits().max(32) } else { element.bits() };
    let (element, constraint) = match (element, bits) {
        (Element::F32, _) => (Element::F32, "f"),
        (Element::F64, _) => (Element::F64, "d"),
        (_, 16) => (Element::I16, "h"),
        (_, 64) => (Element::I64, "l"),
        _ => (Element::I32, "r"),
    };
    (Type::vector_or_scalar(element, ty.bits() / bits), constraint)
}

/// Returns `count` operands of inline assembly as an operand of PTX: one, or a vector in braces.
fn operand_group(first: usize, count: usize) -> String {
    match count {
        1 => format!("${first}"),
        _ => format!("{{{}}}", (first..first + count).map(|index| format!("${index}")).collect::<Vec<_>>().join(",")),
    }
}

/// Returns the operation and its type as modifiers of PTX `atom`; `None` if the architecture lacks the operation.
fn operation(op: Atomic, ty: Type, architecture: &str) -> Option<String> {
    let (bits, element) = (ty.bits(), ty.element()?);
    Some(match (op, ty) {
        (Atomic::FAdd, _) => format!("add{}", sum(ty, element, capability(architecture))?),
        (Atomic::Add, _) => format!("add.u{bits}"),
        (Atomic::MinS, _) => format!("min.s{bits}"),
        (Atomic::MaxS, _) => format!("max.s{bits}"),
        (Atomic::MinU, _) => format!("min.u{bits}"),
        (Atomic::MaxU, _) => format!("max.u{bits}"),
        (Atomic::And, _) => format!("and.b{bits}"),
        (Atomic::Or, _) => format!("or.b{bits}"),
        (Atomic::Xor, _) => format!("xor.b{bits}"),
        (Atomic::Exchange, _) => format!("exch.b{bits}"),
    })
}

/// Returns the modifiers of an atomic sum of this type: rounding, number of registers, type of a register. `None` if
/// the architecture lacks it.
fn sum(ty: Type, element: Element, capability: u32) -> Option<String> {
    let (count, packed) = match (ty.bits() / 32, element.bits(), ty) {
        (words, 16, Type::Vector(..)) => (words, "x2"),
        _ => (ty.element_count(), ""),
    };
    let least = if element == Element::Bf16 || count > 1 { 90 } else { 0 };
    let rounding = if element.bits() == 16 { ".noftz" } else { "" };
    let vector = if count > 1 { format!(".v{count}") } else { String::new() };
    (capability >= least).then(|| format!("{rounding}{vector}.{}{packed}", element.name()))
}
