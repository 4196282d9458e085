//! Directives of a module: variables, kernels, functions that are declared.

use super::PtxError;
use super::body::{body, variable};
use super::cursor::Cursor;
use super::lexer::{Kind, tokens};
use super::syntax::{Kernel, PtxModule};

/// What stands before a variable or an entry and changes nothing here.
const LINKAGE: [&str; 4] = [".visible", ".weak", ".extern", ".common"];

/// Spaces of a module's variables.
const SPACES: [&str; 3] = [".global", ".const", ".shared"];

/// Directives between the parameters and the body of a kernel, and whether numbers follow. A launch that does not keep
/// to them is for the caller to refuse.
const OF_KERNELS: [&str; 9] = [
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".maxnreg",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
];

/// Reads a module.
///
/// # Errors
/// [`PtxError`]: where the text is no PTX, or has what is not known here.
pub fn parse(text: &str) -> Result<PtxModule, PtxError> {
    let mut cursor = Cursor::new(tokens(text)?);
    let mut module = PtxModule::default();
    while *cursor.kind() != Kind::End {
        directive(&mut cursor, &mut module)?;
    }
    Ok(module)
}

fn directive(cursor: &mut Cursor, module: &mut PtxModule) -> Result<(), PtxError> {
    let line = cursor.line();
    let Some(word) = cursor.peeked().map(str::to_owned) else { return Err(cursor.expected("a directive")) };
    if SPACES.contains(&word.as_str()) {
        let all = variable(cursor)?;
        cursor.symbol(';')?;
        module.variables.extend(all);
        return Ok(());
    }
    cursor.step();
    match word.as_str() {
        word if LINKAGE.contains(&word) => Ok(()),
        ".version" => version(cursor),
        ".address_size" => match cursor.integer("64")? {
            64 => Ok(()),
            other => Err(PtxError::new(line, format!("addresses of {other} bits; only those of 64 bits are run"))),
        },
        ".target" => {
            module.target = cursor.word("a processor")?;
            while cursor.takes(',') {
                cursor.word("what the target has")?;
            }
            Ok(())
        }
        ".entry" => kernel(cursor).map(|kernel| module.kernels.push(kernel)),
        ".func" => function(cursor, line),
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

/// `8.0`.
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
    let name = cursor.word("the name of a kernel")?;
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
    while !cursor.is('{') {
        match cursor.peeked() {
            Some(".pragma") => cursor.skip_past(';')?,
            Some(word) if OF_KERNELS.contains(&word) => {
                cursor.step();
                while matches!(cursor.kind(), Kind::Integer(_)) {
                    cursor.step();
                    cursor.takes(',');
                }
            }
            _ => return Err(cursor.expected("a directive of kernels or `{`")),
        }
    }
    Ok(Kernel { name, parameters, body: body(cursor)? })
}

/// Functions are declared, as `vprintf` is; those with a body are not run.
fn function(cursor: &mut Cursor, line: u32) -> Result<(), PtxError> {
    if cursor.is('(') {
        cursor.skip_past(')')?;
    }
    let name = cursor.word("the name of a function")?;
    if cursor.takes('(') {
        cursor.skip_past(')')?;
    }
    while matches!(cursor.peeked(), Some(".noreturn" | ".unique" | ".attribute")) {
        cursor.step();
    }
    if cursor.is('{') {
        let message = format!("function `{name}` has a body; only kernels without calls of such are run: inline it");
        return Err(PtxError::new(line, message));
    }
    cursor.symbol(';')
}
