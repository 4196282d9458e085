//! Replaces math functions by their expansions.

use std::collections::HashMap;

use super::bound::error_bound_ulps;
use super::natives::Natives;
use super::{formula, power};
use tilewright_kernel::{
    Builder, Cast, Element, Kernel, MathFunction, Op, Region, Statement, StaticLaunchConfig, Type, Value,
};

/// The numbers that are known to be constants: integers, `f32` and `f64`, or all elements of a vector.
type Constants = HashMap<Value, f64>;

/// Replaces each math function for which `native` returns false by arithmetic operations, element by element for
/// vectors. The rest of the kernel stays unchanged; values keep their numbers.
///
/// The kernel must pass [`tilewright_kernel::verify`]; functions with invalid operands stay.
pub fn expand_math_functions(kernel: &mut Kernel, native: impl Fn(MathFunction, Element) -> bool) {
    let mut builder = Builder::extend(kernel);
    region(&mut builder, &mut kernel.body, &native, &mut Constants::new());
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

fn region(
    builder: &mut Builder,
    into: &mut Region,
    native: &dyn Fn(MathFunction, Element) -> bool,
    constants: &mut Constants,
) {
    let mut statements = Vec::with_capacity(into.statements.len());
    for mut statement in into.statements.drain(..) {
        for inner in statement.op.regions_mut() {
            region(builder, inner, native, constants);
        }
        if let &[(value, ty)] = statement.results.as_slice()
            && let Some(number) = constant_number(&statement.op, ty, constants)
        {
            constants.insert(value, number);
        }
        match expansion(builder, &statement, native, constants) {
            Some(expanded) => statements.extend(expanded),
            None => statements.push(statement),
        }
    }
    into.statements = statements;
}

/// Returns the number of a constant, or of an integer constant that is converted to floating point; `None` for others.
fn constant_number(op: &Op, ty: Type, constants: &Constants) -> Option<f64> {
    match op {
        Op::Constant { bits } => match ty.element()? {
            Element::F32 => Some(f64::from(f32::from_bits(*bits as u32))),
            Element::F64 => Some(f64::from_bits(*bits)),
            Element::I32 => Some(f64::from(*bits as u32 as i32)),
            _ => None,
        },
        Op::Cast { op: Cast::FloatS, a } => constants.get(a).copied(),
        _ => None,
    }
}

/// Returns the operations that replace a statement and define its result; `None` if the statement stays.
fn expansion(
    builder: &mut Builder,
    statement: &Statement,
    native: &dyn Fn(MathFunction, Element) -> bool,
    constants: &Constants,
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
    let exponent = constants.get(&operands[1]).filter(|_| *function == MathFunction::Pow);
    let exponent = exponent.and_then(|&exponent| power::small_exponent(exponent, element));
    builder.restore_location(statement.location);
    let (last, mut expanded) = builder.build_detached(|builder| {
        element_by_element(builder, ty, operands, |builder, expanded| match exponent {
            Some(exponent) => power::append_small_power(builder, element, expanded[0], exponent),
            None => formula::append(builder, element, (*function, natives), expanded),
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
