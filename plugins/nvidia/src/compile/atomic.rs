//! Emits atomic operations as PTX `atom`, because LLVM's read-modify-write arithmetic is lowered without order and
//! scope. Source: PTX ISA, `atom`.

use tilewright_kernel::{Atomic, Element, MemoryOrder, MemoryScope, MemorySpace};
use tilewright_llvm::values::BasicValueEnum;
use tilewright_llvm::{AtomicUpdate, Emitter};
use tilewright_plugin::CompileError;

use super::capability::capability;

/// Emits an atomic operation as PTX `atom` and returns the old value in memory. Returns `None` if the architecture
/// lacks the operation, so that LLVM writes a compare-exchange loop.
pub(super) fn emit<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    architecture: &str,
    atomic: &AtomicUpdate<'ctx>,
) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
    let Some(word) = operation(atomic.op, atomic.element, architecture) else { return Ok(None) };
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
    let bits = atomic.element.bits();
    let register = match atomic.element {
        Element::F32 => "f",
        Element::F64 => "d",
        _ => ["h", "r", "l"][(bits / 32) as usize % 3],
    };
    let carried = match atomic.element {
        Element::F16 | Element::Bf16 => {
            emit.integer_type(16, 1).map(|ty| emit.bitcast(atomic.value, ty)).transpose()?
        }
        _ => None,
    };
    let own = atomic.value.get_type();
    let value = carried.unwrap_or(atomic.value);
    let instruction = format!("atom.{order}.{scope}.{space}.{word} $0, [$1], $2;");
    let constraints = format!("={register},{address},{register}");
    let result = [value.get_type()];
    let old = match atomic.predicate {
        None => emit.ordered_assembly(&instruction, &constraints, &[pointer, value], &result)?,
        Some(predicate) => {
            let (text, constraints) = (format!("@$3 {instruction}"), format!("{constraints},b,0"));
            let operands = [pointer, value, predicate.into(), value.get_type().const_zero()];
            emit.access_assembly(&text, &constraints, &operands, &result)?
        }
    };
    old.first().map(|&old| emit.bitcast(old, own)).transpose()
}

/// Returns the operation and its type as modifiers of PTX `atom`; `None` if the architecture lacks the operation.
fn operation(op: Atomic, element: Element, architecture: &str) -> Option<String> {
    let bits = element.bits();
    Some(match (op, element) {
        (Atomic::FAdd, Element::F16) => "add.noftz.f16".to_owned(),
        (Atomic::FAdd, Element::Bf16) if capability(architecture) >= 90 => "add.noftz.bf16".to_owned(),
        (Atomic::FAdd, Element::Bf16) => return None,
        (Atomic::FAdd, _) => format!("add.f{bits}"),
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
