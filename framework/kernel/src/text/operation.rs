//! Writes and parses an operation's line by the row of its operation in the table.

use std::fmt::{self, Write};

use tilewright_layout::text::Parsed;

use super::form::{FieldText, bits_of, carry, hex, index, other, otherwise, wait_or_launch};
use super::parser::Parser;
use crate::op::operations;
use crate::{Op, Statement};

/// Writes one item of a row's text form: a literal or a field.
macro_rules! write_item {
    ($statement:ident $line:ident ($form:ident $field:ident)) => {
        $form::write($field, $statement, $line)?
    };
    ($statement:ident $line:ident $field:ident) => {
        FieldText::write($field, $line)?
    };
    ($statement:ident $line:ident $literal:literal) => {
        write_literal($literal, $line)?
    };
}

/// Parses one item of a row's text form. A field's value is bound to a variable with the field's name; before, this
/// variable held the field's name for messages.
macro_rules! read_item {
    ($parser:ident ($form:ident $field:ident)) => {
        let $field = $form::read($parser, $field)?;
    };
    ($parser:ident $field:ident) => {
        let $field = FieldText::read($parser, $field)?;
    };
    ($parser:ident $literal:literal) => {
        $parser.literal($literal)?;
    };
}

macro_rules! define {
    ($(
        $(#[$doc:meta])* $name:ident $variant:ident $(in_bytes($earlier:literal))? $(($one:ident: $one_type:ty))?
        $({ $($(#[$about:meta])* $field:ident: $type:ty $(= $what:literal)? $(where $rule:expr)?),* $(,)? })?
        [$($text:tt)*] -> $count:ident $(($given:expr))? $(at_best($best:expr))? $(needs($control:expr))? $(fn $method:ident)?;
    )*) => {
        /// Writes an operation without its regions.
        #[allow(unused_variables, reason = "a region is not a part of the line")]
        pub(super) fn write_operation(statement: &Statement, line: &mut String) -> fmt::Result {
            line.push_str(statement.op.name());
            match &statement.op {
                $(Op::$variant { $(0: $one)? $($($field),*)? } => {
                    $(write_item!(statement line $text);)*
                })*
            }
            Ok(())
        }

        /// One parser per operation, in the order of [`Op::NAMES`]. Separate functions keep stack frames small:
        /// operations nest, and one function would need the stack of all operations at every level.
        #[allow(unused_variables, reason = "a row without text reads nothing")]
        const READERS: [fn(&mut Parser<'_>) -> Parsed<Op>; Op::NAMES.len()] = [$(
            |parser| {
                $(let $one = "";)?
                $($(let $field = concat!($($what)?);)*)?
                $(read_item!(parser $text);)*
                Ok(Op::$variant { $(0: $one)? $($($field),*)? })
            }
        ),*];
    };
}

operations!(define);

/// Writes punctuation, or a keyword after a space.
fn write_literal(literal: &str, line: &mut String) -> fmt::Result {
    let space = if literal.starts_with(|c: char| c.is_ascii_alphabetic()) { " " } else { "" };
    write!(line, "{space}{literal}")
}

impl Parser<'_> {
    pub(super) fn op(&mut self) -> Parsed<Op> {
        let rows: [usize; Op::NAMES.len()] = std::array::from_fn(|row| row);
        let token = self.token();
        let row = self.one_of("an operation", &rows, |row| match Op::NAMES_IN_BYTES[row] {
            earlier if earlier == token => earlier,
            _ => Op::NAMES[row],
        })?;
        READERS[row](self)
    }
}
