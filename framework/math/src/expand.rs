//! Replaces math functions by their expansions.

use super::bound::error_bound_ulps;
use super::formula;
use super::natives::Natives;
use tilewright_kernel::{
    Builder, Element, Kernel, MathFunction, Op, Region, Statement, StaticLaunchConfig, Type, Value,
};

/// Replaces each math function for which `native` returns false by arithmetic operations, element by element for
/// vectors. The rest of the kernel stays unchanged; values keep their numbers.
///
/// The kernel must pass [`tilewright_kernel::verify`]; functions with invalid operands stay.
pub fn expand_math_functions(kernel: &mut Kernel, native: impl Fn(MathFunction, Element) -> bool) {
    let mut builder = Builder::extend(kernel);
    region(&mut builder, &mut kernel.body, &native);
}

/// Returns the number of operations in the expansion of a math function of scalars, counting both arms of branches.
/// Functions for which `native` returns true remain one operation of the expansion, if they occur in it.
#[must_use]
pub fn expansion_operation_count(
    function: MathFunction,
    element: Element,
    native: impl Fn(MathFunction, Element) -> bool,
) -> u64 {
    let parameter = Type::Scalar(element);
    let mut builder = Builder::new(
        "function",
        StaticLaunchConfig::new(1, 1),
        &[("x", parameter), ("y", parameter), ("z", parameter)],
    );
    let operands = [0, 1, 2].map(|index| builder.parameter(index));
    formula::append(&mut builder, element, (function, Natives::of(element, &native)), operands);
    builder.appended()
}

fn region(builder: &mut Builder, into: &mut Region, native: &dyn Fn(MathFunction, Element) -> bool) {
    let mut statements = Vec::with_capacity(into.statements.len());
    for mut statement in into.statements.drain(..) {
        for inner in statement.op.regions_mut() {
            region(builder, inner, native);
        }
        match expansion(builder, &statement, native) {
            Some(expanded) => statements.extend(expanded),
            None => statements.push(statement),
        }
    }
    into.statements = statements;
}

/// Returns the operations that replace a statement and define its result; `None` if the statement stays.
fn expansion(
    builder: &mut Builder,
    statement: &Statement,
    native: &dyn Fn(MathFunction, Element) -> bool,
) -> Option<Vec<Statement>> {
    let Op::Math { function, operands } = &statement.op else { return None };
    let &[(result, ty)] = statement.results.as_slice() else { return None };
    let element = ty.element().filter(|element| matches!(element, Element::F32 | Element::F64))?;
    if operands.len() != function.operand_count()
        || error_bound_ulps(*function, element).is_none()
        || native(*function, element)
    {
        return None;
    }
    let (last, natives) = (*operands.last()?, Natives::of(element, native));
    let operands = std::array::from_fn(|index| operands.get(index).copied().unwrap_or(last));
    builder.restore_location(statement.location);
    let (last, mut expanded) = builder.build_detached(|builder| {
        element_by_element(builder, ty, operands, |builder, expanded| {
            formula::append(builder, element, (*function, natives), expanded)
        })
    });
    // Define the statement's own result by the operation that computes it. It is the last one, so no other operation of
    // the expansion uses its old number.
    for defined in expanded.iter_mut().flat_map(|statement| &mut statement.results) {
        if defined.0 == last {
            defined.0 = result;
        }
    }
    Some(expanded)
}

fn element_by_element(
    builder: &mut Builder,
    ty: Type,
    operands: [Value; 3],
    append: impl Fn(&mut Builder, [Value; 3]) -> Value,
) -> Value {
    let mut results = Vec::with_capacity(ty.element_count() as usize);
    for index in 0..ty.element_count() {
        let expanded = operands.map(|operand| builder.extract(operand, index));
        results.push(append(builder, expanded));
    }
    builder.pack(&results)
}
