//! Parses a PTX module: directives that declare variables, kernels and functions.

use super::PtxError;
use super::body::{body, variable};
use super::cursor::Cursor;
use super::lexer::{Kind, tokens};
use super::syntax::{Function, Kernel, PtxModule, Variable};

/// Linkage directives before a variable or a kernel, which the parser ignores.
const LINKAGE: [&str; 4] = [".visible", ".weak", ".extern", ".common"];

/// Memory spaces of variables that are declared outside of kernels.
const SPACES: [&str; 3] = [".global", ".const", ".shared"];

/// Directives that may stand between the parameters and the body of a kernel. The parser skips them and their integers;
/// the device checks launches by the kernel's metadata instead.
const OF_KERNELS: [&str; 8] = [
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
];

/// Parses the text of a PTX module.
///
/// # Errors
/// [`PtxError`] if the text is not PTX, or uses an unsupported feature.
pub fn parse_ptx(text: &str) -> Result<PtxModule, PtxError> {
    let mut cursor = Cursor::new(tokens(text)?);
    let mut module = PtxModule::default();
    while *cursor.kind() != Kind::End {
        directive(&mut cursor, &mut module)?;
    }
    Ok(module)
}

fn directive(cursor: &mut Cursor, module: &mut PtxModule) -> Result<(), PtxError> {
    let line = cursor.line();
    let Some(identifier) = cursor.peeked().map(str::to_owned) else { return Err(cursor.expected("a directive")) };
    if SPACES.contains(&identifier.as_str()) {
        let all = variable(cursor)?;
        cursor.symbol(';')?;
        module.variables.extend(all);
        return Ok(());
    }
    cursor.step();
    match identifier.as_str() {
        identifier if LINKAGE.contains(&identifier) => Ok(()),
        ".version" => version(cursor),
        ".address_size" => match cursor.integer("64")? {
            64 => Ok(()),
            other => {
                Err(PtxError::new(line, format!("addresses of {other} bits; only 64-bit addresses are supported")))
            }
        },
        ".target" => {
            module.target = cursor.identifier("a processor")?;
            while cursor.takes(',') {
                cursor.identifier("a feature of the target")?;
            }
            Ok(())
        }
        ".entry" => kernel(cursor).map(|kernel| module.kernels.push(kernel)),
        ".func" => {
            module.functions.extend(function(cursor)?);
            Ok(())
        }
        ".file" => {
            let is_of_it = |kind: &Kind| matches!(kind, Kind::Integer(_) | Kind::Text(_) | Kind::Symbol(','));
            while is_of_it(cursor.kind()) {
                cursor.step();
            }
            Ok(())
        }
        ".section" => cursor.skip_past('{').and_then(|()| cursor.skip_past('}')),
        ".pragma" | ".alias" => cursor.skip_past(';'),
        other => Err(PtxError::new(line, format!("expected a directive of a module, found `{other}`"))),
    }
}

/// Parses the number of a `.version` directive, such as `8.0`.
fn version(cursor: &mut Cursor) -> Result<(), PtxError> {
    match cursor.kind() {
        Kind::Float(..) | Kind::Integer(_) => {
            cursor.step();
            Ok(())
        }
        _ => Err(cursor.expected("a version")),
    }
}

fn kernel(cursor: &mut Cursor) -> Result<Kernel, PtxError> {
    let name = cursor.identifier("the name of a kernel")?;
    let parameters = parameters(cursor)?;
    let mut launch_registers = None;
    while !cursor.is('{') {
        match cursor.peeked() {
            Some(".pragma") => cursor.skip_past(';')?,
            Some(".maxnreg") => {
                cursor.step();
                launch_registers = Some(cursor.integer("a number of registers")? as u32);
            }
            Some(identifier) if OF_KERNELS.contains(&identifier) => {
                cursor.step();
                while matches!(cursor.kind(), Kind::Integer(_)) {
                    cursor.step();
                    cursor.takes(',');
                }
            }
            _ => return Err(cursor.expected("a directive of kernels or `{`")),
        }
    }
    Ok(Kernel { name, parameters, launch_registers, body: body(cursor)? })
}

/// Parses a list of parameters or results in parentheses; returns no parameters if there is no list.
fn parameters(cursor: &mut Cursor) -> Result<Vec<Variable>, PtxError> {
    let mut parameters = Vec::new();
    if cursor.takes('(') && !cursor.takes(')') {
        loop {
            parameters.extend(variable(cursor)?);
            if !cursor.takes(',') {
                break;
            }
        }
        cursor.symbol(')')?;
    }
    Ok(parameters)
}

/// Parses a function. Returns `None` for a declaration without a body, such as that of `vprintf`.
fn function(cursor: &mut Cursor) -> Result<Option<Function>, PtxError> {
    let results = parameters(cursor)?;
    let name = cursor.identifier("the name of a function")?;
    let formals = results.into_iter().chain(parameters(cursor)?).map(|variable| variable.name).collect();
    while matches!(cursor.peeked(), Some(".noreturn" | ".unique" | ".attribute")) {
        cursor.step();
    }
    if cursor.is('{') {
        return Ok(Some(Function { name, formals, body: body(cursor)? }));
    }
    cursor.symbol(';').map(|()| None)
}
