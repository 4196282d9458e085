//! Puts formulas in the place of functions.

use super::bound::bound;
use super::formula;
use tilewright_kernel::{Builder, Element, Kernel, Launch, MathFunction, Op, Region, Statement, Type, Value};

/// Replaces each function that is not native, given its elements, by operations; vectors element by element. What else
/// is in the kernel stays as it is, values keep their numbers.
///
/// The kernel must be one that [`tilewright_kernel::verify`] accepts; of others, what has the wrong operands stays.
pub fn expand(kernel: &mut Kernel, native: impl Fn(MathFunction, Element) -> bool) {
    let mut builder = Builder::continuing(kernel);
    region(&mut builder, &mut kernel.body, &native);
}

/// How many operations the expansion of a function of scalars has, with both branches.
#[must_use]
pub fn operations(function: MathFunction, element: Element) -> u64 {
    let parameter = Type::Scalar(element);
    let mut builder =
        Builder::new("function", Launch::new(1, 1), &[("x", parameter), ("y", parameter), ("z", parameter)]);
    let operands = [0, 1, 2].map(|index| builder.parameter(index));
    formula::append(&mut builder, element, function, operands);
    builder.appended()
}

fn region(builder: &mut Builder, into: &mut Region, native: &dyn Fn(MathFunction, Element) -> bool) {
    let mut statements = Vec::with_capacity(into.statements.len());
    for mut statement in into.statements.drain(..) {
        for inner in statement.op.regions_mut() {
            region(builder, inner, native);
        }
        match expansion(builder, &statement, native) {
            Some(own) => statements.extend(own),
            None => statements.push(statement),
        }
    }
    into.statements = statements;
}

/// The operations that define the statement's result; none where it stays.
fn expansion(
    builder: &mut Builder,
    statement: &Statement,
    native: &dyn Fn(MathFunction, Element) -> bool,
) -> Option<Vec<Statement>> {
    let Op::Math { function, operands } = &statement.op else { return None };
    let &[(result, ty)] = statement.results.as_slice() else { return None };
    let element = ty.element().filter(|element| matches!(element, Element::F32 | Element::F64))?;
    if operands.len() != function.operands() || bound(*function, element).is_none() || native(*function, element) {
        return None;
    }
    let last = *operands.last()?;
    let operands = std::array::from_fn(|index| operands.get(index).copied().unwrap_or(last));
    let (last, mut own) = builder.apart(|builder| {
        element_by_element(builder, ty, operands, |builder, own| formula::append(builder, element, *function, own))
    });
    // Nothing comes after what defines the last value, so that no other operation names it.
    for defined in own.iter_mut().flat_map(|statement| &mut statement.results) {
        if defined.0 == last {
            defined.0 = result;
        }
    }
    Some(own)
}

fn element_by_element(
    builder: &mut Builder,
    ty: Type,
    operands: [Value; 3],
    append: impl Fn(&mut Builder, [Value; 3]) -> Value,
) -> Value {
    let mut results = Vec::with_capacity(ty.count() as usize);
    for index in 0..ty.count() {
        let own = operands.map(|operand| builder.extract(operand, index));
        results.push(append(builder, own));
    }
    builder.pack(&results)
}
