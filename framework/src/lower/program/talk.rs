//! What a program asks of its launch and says to the one who watches it; barriers and text of assemblers.

use smallvec::SmallVec;

use crate::kernel::{Element, MemoryScope, Op as KernelOp, Scope, SpecialRegister, Type, Value};
use crate::layout::Dim;
use crate::tile::{Attribute, Op};

use super::error::{Lowered, Reason};
use super::held::{Held, Registers};
use super::lowering::Lowering;
use super::types::carrier;

/// The number of the program along an axis, or how many there are.
pub(super) fn program(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let axis = match lowering.word(op, "axis") {
        Some("x") => 0,
        Some("y") => 1,
        Some("z") => 2,
        other => return Err(Reason::malformed(format!("there is no axis `{}`", other.unwrap_or_default()))),
    };
    let counts = lowering.body.op(op).name() == "tt.get_num_programs";
    let register = if counts { SpecialRegister::Programs(axis) } else { SpecialRegister::Program(axis) };
    let value = lowering.builder.special(register);
    let result = lowering.result(op, 0)?;
    lowering.hold_uniform(result, value);
    Ok(())
}

/// The number of the running warp.
pub(super) fn warp(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let value = lowering.builder.special(SpecialRegister::Warp);
    lowering.give(op, Held::Scalar(value))
}

/// A barrier of the block, which what was written to global memory is seen behind too where the program says so.
pub(super) fn barrier(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let is_local = lowering.attribute(op, "addrSpace").is_some_and(|spaces| spaces.to_string().contains("local"));
    if !is_local || lowering.attribute(op, "addrSpace").is_some_and(|spaces| spaces.to_string().contains("global")) {
        lowering.builder.effect(KernelOp::Fence { scope: MemoryScope::Block });
    }
    lowering.builder.barrier(Scope::Block);
    Ok(())
}

/// Global memory of the program's own: a launch gives none, so only what nobody uses is right.
pub(super) fn scratch(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    if lowering.is_used(result) {
        return Err(Reason::unsupported("a launch gives a program no global memory of its own"));
    }
    Ok(())
}

pub(super) fn grid_dependency(lowering: &mut Lowering<'_>, wait: bool) -> Lowered<()> {
    lowering.builder.effect(KernelOp::GridDependency { wait });
    Ok(())
}

/// Every element is true, or the run ends.
pub(super) fn assert(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let value = lowering.operand(op, 0)?;
    let message = lowering.word(op, "message").or(lowering.word(op, "msg")).unwrap_or_default().to_owned();
    let conditions: Vec<Value> = match lowering.held(value)? {
        Held::Scalar(condition) => vec![*condition],
        Held::Tensor(tensor) => tensor.values.to_vec(),
        _ => return Err(Reason::malformed("a truth value is expected")),
    };
    let mut done: Vec<Value> = Vec::new();
    for condition in conditions {
        if !done.contains(&condition) {
            lowering.builder.effect(KernelOp::Assert { condition, message: message.clone(), predicate: None });
            done.push(condition);
        }
    }
    Ok(())
}

/// Every element that a lane holds, in the order of its registers.
pub(super) fn print(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let prefix = lowering.word(op, "prefix").unwrap_or_default().to_owned();
    let hex = lowering.attribute(op, "hex").is_some_and(|hex| *hex == Attribute::Bool(true));
    let mut values = Vec::new();
    for &operand in &lowering.body.op(op).operands {
        match lowering.held(operand)? {
            Held::Scalar(value) => values.push(*value),
            Held::Tensor(tensor) => values.extend(tensor.values.iter().copied()),
            _ => return Err(Reason::unsupported("only numbers and tensors of them are printed")),
        }
    }
    lowering.builder.effect(KernelOp::Print { prefix, hex, values });
    Ok(())
}

/// A vendor's assembly text, for as many elements at a time as it says; narrow ones share 32-bit words.
pub(super) fn assembly(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let text = lowering.word(op, "asm_string").unwrap_or_default().to_owned();
    let constraints = lowering.word(op, "constraints").unwrap_or_default().to_owned();
    let pack = lowering.number(op, "packed_element")?.max(1) as usize;
    let shaped =
        operation.results.iter().chain(&operation.operands).find(|&&value| body.ty(value).as_tensor().is_some());
    let layout = shaped.map(|&value| lowering.layout_of(value)).transpose()?;
    let registers = layout.as_ref().map_or(1, |layout| 1usize << layout.in_bits(Dim::REGISTER));
    let mut operands = Vec::new();
    for &value in &operation.operands {
        operands.push(match &layout {
            Some(layout) => lowering.spread(value, layout)?,
            None => vec![lowering.scalar(value)?].into(),
        });
    }
    let types = operation.results.iter().map(|&value| carrier(body.ty(value).element()));
    let types: Vec<Type> = types.collect::<Lowered<_>>()?;
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); types.len()];
    for first in (0..registers).step_by(pack) {
        let mut words = Vec::new();
        for operand in &operands {
            // Where a lane holds fewer than are taken, its last one fills up.
            let taken: Vec<Value> =
                (first..first + pack).map(|register| operand[register.min(registers - 1)]).collect();
            words.extend(packed(lowering, &taken));
        }
        let of_words: SmallVec<[Type; 4]> = types.iter().flat_map(|&ty| word_types(ty, pack)).collect();
        let given = lowering.builder.values(
            &of_words,
            KernelOp::Assembly { text: text.clone(), constraints: constraints.clone(), operands: words },
        );
        let mut given = given.into_iter();
        for (all, &ty) in results.iter_mut().zip(&types) {
            let own: Vec<Value> = given.by_ref().take(word_types(ty, pack).len()).collect();
            let elements = unpacked(lowering, &own, ty);
            all.extend(elements.into_iter().take(pack.min(registers - first)));
        }
    }
    for (&result, values) in operation.results.iter().zip(results) {
        match &layout {
            Some(layout) => lowering.hold(result, Held::Tensor(Registers::new(layout.clone(), values))),
            None => lowering.hold(result, Held::Scalar(values[0])),
        }
    }
    Ok(())
}

/// How many elements of a type share a word.
fn together(ty: Type, pack: usize) -> usize {
    match ty {
        Type::Scalar(Element::I1) | Type::Pointer(_) => 1,
        _ => (32 / ty.bits() as usize).clamp(1, pack),
    }
}

fn word_types(ty: Type, pack: usize) -> Vec<Type> {
    let together = together(ty, pack);
    let word = if together == 1 {
        ty
    } else {
        Type::Scalar(Element::integer(ty.bits() * together as u32).unwrap_or(Element::I32))
    };
    vec![word; pack.div_ceil(together)]
}

fn packed(lowering: &mut Lowering<'_>, values: &[Value]) -> Vec<Value> {
    let Some(&first) = values.first() else { return Vec::new() };
    let ty = lowering.builder.type_of(first);
    let together = together(ty, values.len());
    if together == 1 {
        return values.to_vec();
    }
    let word = word_types(ty, values.len())[0];
    values
        .chunks(together)
        .map(|group| {
            let vector = lowering.builder.pack(group);
            lowering.builder.cast(crate::kernel::Cast::Bits, vector, word)
        })
        .collect()
}

fn unpacked(lowering: &mut Lowering<'_>, words: &[Value], ty: Type) -> Vec<Value> {
    let mut elements = Vec::new();
    for &word in words {
        let have = lowering.builder.type_of(word);
        let (count, Some(element)) = (have.bits() / ty.bits().max(1), ty.element()) else {
            elements.push(word);
            continue;
        };
        if count <= 1 {
            elements.push(word);
            continue;
        }
        let vector = lowering.builder.cast(crate::kernel::Cast::Bits, word, Type::Vector(element, count));
        elements.extend((0..count).map(|index| lowering.builder.extract(vector, index)).collect::<Vec<_>>());
    }
    elements
}
