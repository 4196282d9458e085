//! Inlines calls of functions that have a body in the module: a call becomes the function's statements in a scope of
//! their own. There, the names of parameters and results stand for the variables of the call.

use crate::text::{Function, Guard, Instruction, Operand, PtxError, PtxModule, Statement};

/// Maximum depth of nested calls; deeper nesting is reported as recursion.
const MOST_DEPTH: usize = 32;

/// Label at the end of an inlined function. No PTX name begins with `<`, so it cannot collide.
const END: &str = "<end of the call>";

/// Returns the statements of a kernel after inlining the calls of functions whose body is in the module.
///
/// # Errors
/// Returns [`PtxError`] if a function calls itself, or if the number of a call's variables differs from the function's
/// parameters and results.
pub(super) fn inline_calls(module: &PtxModule, body: &[Statement]) -> Result<Vec<Statement>, PtxError> {
    let mut statements = Vec::with_capacity(body.len());
    append(module, body, 0, &mut statements)?;
    Ok(statements)
}

fn append(
    module: &PtxModule,
    body: &[Statement],
    depth: usize,
    statements: &mut Vec<Statement>,
) -> Result<(), PtxError> {
    for statement in body {
        match statement {
            Statement::Instruction(call) if call.opcode.starts_with("call") => match callee(module, call) {
                Some(function) => append_call(module, call, function, depth, statements)?,
                None => statements.push(statement.clone()),
            },
            Statement::Instruction(leave) if depth > 0 && is_return(leave) => {
                statements.push(Statement::Instruction(branch(leave.line, leave.guard.clone())));
            }
            _ => statements.push(statement.clone()),
        }
    }
    Ok(())
}

/// Whether an instruction returns from a function.
fn is_return(instruction: &Instruction) -> bool {
    instruction.opcode == "ret" || instruction.opcode == "ret.uni"
}

/// Returns a branch to the end of an inlined function, which replaces its return instruction.
fn branch(line: u32, guard: Option<Guard>) -> Instruction {
    Instruction { line, guard, opcode: "bra".to_owned(), operands: vec![Operand::Name(END.to_owned())] }
}

/// Returns the function that a call instruction names; `None` if the module has no body for it.
fn callee<'a>(module: &'a PtxModule, call: &Instruction) -> Option<&'a Function> {
    call.operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => module.functions.iter().find(|function| function.name == *name),
        _ => None,
    })
}

fn append_call(
    module: &PtxModule,
    call: &Instruction,
    function: &Function,
    depth: usize,
    statements: &mut Vec<Statement>,
) -> Result<(), PtxError> {
    if depth == MOST_DEPTH {
        return Err(PtxError::new(call.line, format!("`{}` calls itself, which is not supported", function.name)));
    }
    statements.push(Statement::Open);
    for (name, of) in function.formals.iter().zip(actuals(call, function)?) {
        statements.push(Statement::Alias { line: call.line, name: name.clone(), of });
    }
    if let Some(guard) = &call.guard {
        let skips = Guard { name: guard.name.clone(), negated: !guard.negated };
        statements.push(Statement::Instruction(branch(call.line, Some(skips))));
    }
    append(module, &function.body, depth + 1, statements)?;
    statements.push(Statement::Label { line: call.line, name: END.to_owned() });
    statements.push(Statement::Close);
    Ok(())
}

/// Returns the names of the variables that a call passes: for results first, then for parameters.
fn actuals(call: &Instruction, function: &Function) -> Result<Vec<String>, PtxError> {
    let lists = call.operands.iter().filter_map(|operand| match operand {
        Operand::List(variables) => Some(variables),
        _ => None,
    });
    let names: Vec<String> = lists
        .flatten()
        .filter_map(|operand| match operand {
            Operand::Name(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let (given, taken) = (names.len(), function.formals.len());
    let wrong = || format!("a call of `{}` has {given} variables, the function {taken}", function.name);
    if given == taken { Ok(names) } else { Err(PtxError::new(call.line, wrong())) }
}
