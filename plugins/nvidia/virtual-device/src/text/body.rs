//! Parses kernel bodies, and variable declarations inside and outside of bodies.

use super::PtxError;
use super::cursor::Cursor;
use super::lexer::Kind;
use super::syntax::{Guard, Initial, Instruction, Operand, Statement, Variable};

/// Maximum bytes of one variable; the parser rejects larger ones.
const MOST: u64 = 1 << 28;

/// Maximum registers that one `.reg` directive may declare; the parser rejects more.
const MOST_REGISTERS: u64 = 1 << 20;

/// Parses the statements of a kernel body, from `{` to the matching `}`.
pub(super) fn body(cursor: &mut Cursor) -> Result<Vec<Statement>, PtxError> {
    let mut statements = Vec::new();
    let mut depth = 0u32;
    loop {
        if cursor.takes('{') {
            depth += 1;
            statements.push(Statement::Open);
        } else if cursor.takes('}') {
            depth -= 1;
            statements.push(Statement::Close);
            if depth == 0 {
                return Ok(statements);
            }
        } else {
            statement(cursor, &mut statements)?;
        }
    }
}

fn statement(cursor: &mut Cursor, statements: &mut Vec<Statement>) -> Result<(), PtxError> {
    let line = cursor.line();
    if let Kind::Undefined(name) = cursor.kind() {
        statements.push(Statement::Undefined(name.clone()));
        cursor.step();
        return Ok(());
    }
    if cursor.takes(';') {
        return Ok(());
    }
    let Some(identifier) = cursor.peeked().map(str::to_owned) else {
        return instruction(cursor).map(|instruction| statements.push(Statement::Instruction(instruction)));
    };
    if *cursor.following() == Kind::Symbol(':') {
        cursor.step();
        cursor.step();
        return label(cursor, statements, line, identifier);
    }
    match identifier.as_str() {
        ".reg" => {
            cursor.step();
            registers(cursor, statements, line)
        }
        ".local" | ".shared" | ".param" | ".global" | ".const" => {
            statements.extend(variable(cursor)?.into_iter().map(Statement::Variable));
            cursor.symbol(';')
        }
        ".loc" => {
            // `.loc` has no terminator: integers follow it, then names with values, all on the same line.
            cursor.step();
            while matches!(cursor.kind(), Kind::Integer(_)) {
                cursor.step();
            }
            while cursor.takes(',') {
                while matches!(cursor.kind(), Kind::Integer(_) | Kind::Identifier(_) | Kind::Symbol('+'))
                    && cursor.line() == line
                {
                    cursor.step();
                }
            }
            Ok(())
        }
        ".pragma" => cursor.skip_past(';'),
        _ => instruction(cursor).map(|instruction| statements.push(Statement::Instruction(instruction))),
    }
}

fn label(cursor: &mut Cursor, statements: &mut Vec<Statement>, line: u32, name: String) -> Result<(), PtxError> {
    if cursor.takes_identifier(".branchtargets") {
        let mut labels = vec![cursor.identifier("a label")?];
        while cursor.takes(',') {
            labels.push(cursor.identifier("a label")?);
        }
        statements.push(Statement::Targets { line, name, labels });
        return cursor.symbol(';');
    }
    if cursor.peeked() == Some(".callprototype") {
        return cursor.skip_past(';');
    }
    statements.push(Statement::Label { line, name });
    Ok(())
}

/// Parses a register declaration, such as `.reg .b32 %r<10>, done;`.
fn registers(cursor: &mut Cursor, statements: &mut Vec<Statement>, line: u32) -> Result<(), PtxError> {
    let ty = cursor.identifier("a type")?;
    loop {
        let name = cursor.identifier("the name of a register")?;
        let mut count = None;
        if cursor.takes('<') {
            let number = cursor.integer("the number of registers")?;
            if number > MOST_REGISTERS {
                let message = format!("{number} registers `{name}`; a directive may declare {MOST_REGISTERS}");
                return Err(PtxError::new(line, message));
            }
            count = Some(number as u32);
            cursor.symbol('>')?;
        }
        statements.push(Statement::Registers { line, ty: ty.trim_start_matches('.').to_owned(), name, count });
        if !cursor.takes(',') {
            return cursor.symbol(';');
        }
    }
}

/// Parses a declaration of one or more variables, such as `.shared .align 16 .b8 name[64] = {...}, other[8]`, up to the
/// terminator.
pub(super) fn variable(cursor: &mut Cursor) -> Result<Vec<Variable>, PtxError> {
    let line = cursor.line();
    let space = cursor.identifier("a space")?.trim_start_matches('.').to_owned();
    let (mut alignment, mut lanes, mut bytes) = (None, 1, None);
    while let Some(identifier) = cursor.peeked().filter(|identifier| identifier.starts_with('.')).map(str::to_owned) {
        cursor.step();
        match identifier.as_str() {
            ".align" => {
                let known =
                    cursor.integer("an alignment").ok().filter(|bytes| bytes.is_power_of_two() && *bytes <= MOST);
                alignment = Some(known.ok_or_else(|| cursor.expected("a power of two"))?);
            }
            // `.ptr` describes the memory that a pointer parameter points to: an optional space and alignment, which
            // are ignored.
            ".ptr" => {
                if matches!(cursor.peeked(), Some(".global" | ".shared" | ".const" | ".local")) {
                    cursor.step();
                }
                if cursor.takes_identifier(".align") {
                    cursor.integer("an alignment")?;
                }
            }
            ".attribute" => cursor.skip_past(')')?,
            ".v2" | ".v4" | ".v8" => lanes = identifier[2..].parse::<u64>().unwrap_or(1),
            identifier => {
                let known = bytes_of(identifier);
                bytes = Some(
                    known.ok_or_else(|| PtxError::new(line, format!("`{identifier}` is not a type of variables")))?,
                );
            }
        }
    }
    let element_bytes = bytes.ok_or_else(|| cursor.expected("a type"))? * lanes;
    let alignment = alignment.unwrap_or(element_bytes);
    let mut all = Vec::new();
    loop {
        let name = cursor.identifier("a name")?;
        let elements = elements(cursor, element_bytes)?;
        let initial = if cursor.takes('=') { initials(cursor)? } else { Vec::new() };
        let space = space.clone();
        all.push(Variable { line, space, alignment, element_bytes, name, elements, initial });
        // In a list of kernel parameters, a comma is followed by the next parameter's space, not by another name.
        let another = cursor.is(',')
            && matches!(cursor.following(), Kind::Identifier(identifier) if !identifier.starts_with('.'));
        if !another {
            return Ok(all);
        }
        cursor.step();
    }
}

fn bytes_of(ty: &str) -> Option<u64> {
    let digits = ty.trim_start_matches(|c: char| !c.is_ascii_digit());
    match digits.parse::<u64>().ok()? {
        bits @ (8 | 16 | 32 | 64 | 128) => Some(bits / 8),
        _ => None,
    }
}

/// Parses the dimensions of an array, such as `[4][8]`, to the number of elements; `None` for `[]`, and 1 if there are
/// no dimensions. `bytes` is the size of an element.
fn elements(cursor: &mut Cursor, bytes: u64) -> Result<Option<u64>, PtxError> {
    let mut elements = Some(1u64);
    while cursor.takes('[') {
        if cursor.takes(']') {
            elements = None;
            continue;
        }
        let count = cursor.integer("the number of elements")?;
        cursor.symbol(']')?;
        let product = elements.map(|before| before.checked_mul(count).filter(|all| all.saturating_mul(bytes) <= MOST));
        elements = match product {
            Some(None) => return Err(PtxError::new(cursor.line(), "a variable of more than 256 MiB")),
            product => product.flatten(),
        };
    }
    Ok(elements)
}

/// Parses the initial values of a variable: one number, or a nested list of numbers and addresses.
fn initials(cursor: &mut Cursor) -> Result<Vec<Initial>, PtxError> {
    if !cursor.takes('{') {
        return Ok(vec![initial(cursor)?]);
    }
    let mut all = Vec::new();
    while !cursor.takes('}') {
        if cursor.is('{') {
            all.extend(cursor.nested(initials)?);
        } else {
            all.push(initial(cursor)?);
        }
        cursor.takes(',');
    }
    Ok(all)
}

fn initial(cursor: &mut Cursor) -> Result<Initial, PtxError> {
    match *cursor.kind() {
        Kind::Float(bits, _) => {
            cursor.step();
            Ok(Initial::Bits(bits))
        }
        Kind::Identifier(_) => {
            let mut name = cursor.identifier("a name")?;
            let generic = name == "generic" && cursor.takes('(');
            if generic {
                name = cursor.identifier("a name")?;
                cursor.symbol(')')?;
            }
            let offset = if cursor.takes('+') { cursor.integer("an offset")? } else { 0 };
            Ok(Initial::Address { name, offset, generic })
        }
        _ => cursor.integer("a number or an address").map(Initial::Bits),
    }
}

fn instruction(cursor: &mut Cursor) -> Result<Instruction, PtxError> {
    let line = cursor.line();
    let mut guard = None;
    if cursor.takes('@') {
        let negated = cursor.takes('!');
        guard = Some(Guard { name: cursor.identifier("a predicate")?, negated });
    }
    let opcode = cursor.identifier("an instruction")?;
    let mut operands = Vec::new();
    while !cursor.takes(';') {
        if !operands.is_empty() {
            cursor.symbol(',')?;
        }
        operands.push(operand(cursor)?);
    }
    Ok(Instruction { line, guard, opcode, operands })
}

fn operand(cursor: &mut Cursor) -> Result<Operand, PtxError> {
    let first = simple(cursor)?;
    if !cursor.takes('|') {
        return Ok(first);
    }
    Ok(Operand::Pair(Box::new(first), Box::new(simple(cursor)?)))
}

fn simple(cursor: &mut Cursor) -> Result<Operand, PtxError> {
    match *cursor.kind() {
        Kind::Symbol('{') => Ok(Operand::Group(listed(cursor, '}')?)),
        Kind::Symbol('(') => Ok(Operand::List(listed(cursor, ')')?)),
        Kind::Symbol('[') => address(cursor),
        Kind::Symbol('!') => {
            cursor.step();
            cursor.identifier("a predicate").map(Operand::Not)
        }
        Kind::Symbol('-') if matches!(cursor.following(), Kind::Float(..)) => {
            cursor.step();
            let Kind::Float(bits, width) = *cursor.kind() else { return Err(cursor.expected("a number")) };
            cursor.step();
            Ok(Operand::Float(bits ^ 1 << (width - 1), width))
        }
        Kind::Float(bits, width) => {
            cursor.step();
            Ok(Operand::Float(bits, width))
        }
        Kind::Identifier(_) => {
            let name = cursor.identifier("a name")?;
            match offset(cursor)? {
                0 => Ok(Operand::Name(name)),
                offset => Ok(Operand::Offset(name, offset)),
            }
        }
        _ => cursor.integer("an operand").map(Operand::Integer),
    }
}

/// Parses a constant offset `+4`, `+-4` or `-4` of an address; returns zero if there is none.
fn offset(cursor: &mut Cursor) -> Result<u64, PtxError> {
    if cursor.takes('+') || cursor.is('-') { cursor.integer("an offset") } else { Ok(0) }
}

fn listed(cursor: &mut Cursor, end: char) -> Result<Vec<Operand>, PtxError> {
    cursor.step();
    cursor.nested(|cursor| {
        let mut all = Vec::new();
        while !cursor.takes(end) {
            if !all.is_empty() {
                cursor.symbol(',')?;
            }
            all.push(operand(cursor)?);
        }
        Ok(all)
    })
}

/// Parses an address operand, `[base+offset]` or `[base, {x, y}]`.
fn address(cursor: &mut Cursor) -> Result<Operand, PtxError> {
    cursor.step();
    let (base, mut displacement) = match *cursor.kind() {
        Kind::Identifier(_) => (Operand::Name(cursor.identifier("an address")?), 0),
        _ => (Operand::Integer(cursor.integer("an address")?), 0),
    };
    displacement += offset(cursor)?;
    let mut more = Vec::new();
    while cursor.takes(',') {
        more.push(cursor.nested(operand)?);
    }
    cursor.symbol(']')?;
    Ok(Operand::Address { base: Box::new(base), offset: displacement, more })
}
