//! The walk over a kernel's body: statements in order, regions with their scopes, branches and loops.

use tilewright_kernel::{Element, Kernel, Op, Region, Statement, Type, Value};

use super::errors::in_statement;
use super::{CodeGenerator, TypedValue, invalid_module_error};
use crate::CompileError;

const BIT: Type = Type::Scalar(Element::I1);
const WORD: Type = Type::Scalar(Element::I32);

/// Generates the code of a kernel's body; `parameters` are the generated values of its parameters.
///
/// # Errors
/// [`CompileError`] that names the statement: either the body violates a rule, or the generator rejects it.
pub fn generate_body<G: CodeGenerator>(
    generator: &mut G,
    kernel: &Kernel,
    parameters: Vec<G::Value>,
) -> Result<(), CompileError> {
    for (number, parameter) in (0..).zip(parameters) {
        generator.values().define(Value(number), parameter)?;
    }
    statements(generator, &kernel.body.statements, None)
}

/// Generates statements in order. Statements without a source location get `around`, the location of the operation
/// around them.
fn statements<G: CodeGenerator>(
    generator: &mut G,
    statements: &[Statement],
    around: Option<u32>,
) -> Result<(), CompileError> {
    for one in statements {
        let location = one.location.or(around);
        generator.set_location(location);
        statement(generator, one, location).map_err(|error| in_statement(error, one))?;
    }
    generator.set_location(around);
    Ok(())
}

fn statement<G: CodeGenerator>(
    generator: &mut G,
    statement: &Statement,
    location: Option<u32>,
) -> Result<(), CompileError> {
    let results = &statement.results;
    for &(_, ty) in results {
        generator.check_type(ty)?;
    }
    let named = |given| match results.len() {
        named if named == given => Ok(()),
        named => Err(invalid_module_error(format!("has {given} results, {named} are named"))),
    };
    let values = match &statement.op {
        Op::If { condition, then, otherwise } => if_else(generator, *condition, [then, otherwise], results, location)?,
        Op::For { from, to, step, carried, body } => {
            repeat(generator, Some([*from, *to, *step]), carried, body, location)?
        }
        Op::While { carried, body } => repeat(generator, None, carried, body, location)?,
        Op::AssumeUniform { value, scope } => {
            let value = generator.values().get(*value)?;
            vec![generator.assume_uniform(value, *scope)?]
        }
        Op::Yield { .. } => {
            return Err(invalid_module_error("is allowed only at the end of a region of `if`, `for` or `while`"));
        }
        op => {
            if op.has_single_result() {
                named(1)?;
            }
            generator.operation(op, results)?
        }
    };
    named(values.len())?;
    for (&(number, ty), value) in results.iter().zip(values) {
        if value.ty() != ty {
            return Err(invalid_module_error(format!(
                "result %{} is declared a {ty} but is a {}",
                number.0,
                value.ty()
            )));
        }
        generator.values().define(number, value)?;
    }
    Ok(())
}

fn if_else<G: CodeGenerator>(
    generator: &mut G,
    condition: Value,
    regions: [&Region; 2],
    results: &[(Value, Type)],
    location: Option<u32>,
) -> Result<Vec<G::Value>, CompileError> {
    let condition = generator.values().get_typed(condition, BIT)?;
    let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
    let [then, otherwise, join] = generator.branch_on(&condition)?;
    let mut arm = |block, body| {
        generator.begin_block(block)?;
        let yielded = region(generator, body, Vec::new(), &types, location)?;
        let end = generator.current_block()?;
        generator.branch(join)?;
        Ok::<_, CompileError>((yielded, end))
    };
    let (then, then_end) = arm(then, regions[0])?;
    let (otherwise, otherwise_end) = arm(otherwise, regions[1])?;
    generator.begin_block(join)?;
    let pairs = then.iter().zip(&otherwise);
    pairs.map(|(a, b)| generator.phi(a.ty(), [(a, then_end), (b, otherwise_end)])).collect()
}

/// Generates a loop and returns the values that it carries, after its end: a `for` loop if `range` has its start, bound
/// and step, else a `while` loop. `location` is the source location of the loop, if known.
fn repeat<G: CodeGenerator>(
    generator: &mut G,
    range: Option<[Value; 3]>,
    carried: &[Value],
    body: &Region,
    location: Option<u32>,
) -> Result<Vec<G::Value>, CompileError> {
    let values = generator.values();
    let range = match range {
        None => None,
        Some([from, to, step]) => {
            Some([values.get_typed(from, WORD)?, values.get_typed(to, WORD)?, values.get_typed(step, WORD)?])
        }
    };
    let carried = values.get_all(carried)?;
    let condition_type = range.is_none().then_some(BIT);
    let yields: Vec<Type> = condition_type.into_iter().chain(carried.iter().map(TypedValue::ty)).collect();
    let (started, arguments) = generator.begin_loop(range, &carried)?;
    let yielded = region(generator, body, arguments, &yields, location)?;
    generator.end_loop(started, carried, yielded)
}

/// Generates a region in a scope of its own and returns the values that it yields. Statements without a source location
/// get `location`, the location of the operation with the region.
fn region<G: CodeGenerator>(
    generator: &mut G,
    region: &Region,
    arguments: Vec<G::Value>,
    yields: &[Type],
    location: Option<u32>,
) -> Result<Vec<G::Value>, CompileError> {
    let taken = types_of(&arguments);
    if !region.arguments.iter().map(|&(_, ty)| ty).eq(taken.iter().copied()) {
        return Err(invalid_module_error(format!("the region must take arguments of types {}", list(&taken))));
    }
    let Some((Statement { op: Op::Yield { values }, results, .. }, body)) = region.statements.split_last() else {
        return Err(invalid_module_error("a region ends with `yield`"));
    };
    if !results.is_empty() {
        return Err(invalid_module_error("a yield has results"));
    }
    let start = generator.values().begin_region()?;
    for (&(number, _), argument) in region.arguments.iter().zip(arguments) {
        generator.values().define(number, argument)?;
    }
    statements(generator, body, location)?;
    let yielded = generator.values().get_all(values)?;
    generator.values().end_region(start);
    let found = types_of(&yielded);
    if found == yields {
        return Ok(yielded);
    }
    Err(invalid_module_error(format!("a region yields {}; {} are needed", list(&found), list(yields))))
}

fn types_of<V: TypedValue>(values: &[V]) -> Vec<Type> {
    values.iter().map(TypedValue::ty).collect()
}

fn list(types: &[Type]) -> String {
    let names: Vec<String> = types.iter().map(ToString::to_string).collect();
    format!("({})", names.join(", "))
}
