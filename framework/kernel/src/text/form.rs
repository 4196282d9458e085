//! The text form of each field type: how a field is written after a space, and parsed; empty fields are omitted.

use std::fmt::{self, Display, Formatter, Write};

use tilewright_layout::text::{Parsed, Quoted};

use super::parser::Parser;
use crate::{
    Atomic, BarrierAction, Binary, Cast, ClockCounter, CollectiveScope, Compare, Issuers, MathFunction, MemoryOrder,
    MemoryScope, Queue, Region, RegisterChange, ShuffleMode, SpecialRegister, Unary, Value,
};

/// A type of the fields of operations, with its text form.
pub(super) trait FieldText: Sized {
    /// Writes the field after a space, or nothing if it is empty.
    fn write(&self, line: &mut String) -> fmt::Result;

    /// Parses the field; `what` names it in messages if the type alone does not.
    fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<Self>;
}

impl FieldText for Value {
    fn write(&self, line: &mut String) -> fmt::Result {
        write!(line, " {self}")
    }

    fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Self> {
        parser.value()
    }
}

impl FieldText for Vec<Value> {
    fn write(&self, line: &mut String) -> fmt::Result {
        if self.is_empty() { Ok(()) } else { write!(line, " {}", Values(self)) }
    }

    fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Self> {
        parser.values()
    }
}

/// The form of a predicate: `if %3`; nothing if there is none.
impl FieldText for Option<Value> {
    fn write(&self, line: &mut String) -> fmt::Result {
        self.map_or(Ok(()), |predicate| write!(line, " if {predicate}"))
    }

    fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Self> {
        if parser.on_same_line() && parser.take_keyword("if") { parser.value().map(Some) } else { Ok(None) }
    }
}

/// The form of a byte selector: four hexadecimal digits.
impl FieldText for u16 {
    fn write(&self, line: &mut String) -> fmt::Result {
        write!(line, " {self:#06x}")
    }

    fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<Self> {
        parser.number(what)
    }
}

/// The form of a second byte selector, for lanes whose condition is true: `or 0x7654 if %3`; nothing if there is none.
impl FieldText for Option<(Value, u16)> {
    fn write(&self, line: &mut String) -> fmt::Result {
        self.map_or(Ok(()), |(condition, selector)| write!(line, " or {selector:#06x} if {condition}"))
    }

    fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<Self> {
        if !(parser.on_same_line() && parser.take_keyword("or")) {
            return Ok(None);
        }
        let selector = parser.number(what)?;
        parser.keyword("if")?;
        Ok(Some((parser.value()?, selector)))
    }
}

impl FieldText for u32 {
    fn write(&self, line: &mut String) -> fmt::Result {
        write!(line, " {self}")
    }

    fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<Self> {
        parser.number(what)
    }
}

/// The form of an offset, which is omitted if zero.
impl FieldText for i32 {
    fn write(&self, line: &mut String) -> fmt::Result {
        match *self {
            0 => Ok(()),
            1.. => write!(line, " + {self}"),
            _ => write!(line, " - {}", self.unsigned_abs()),
        }
    }

    fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<Self> {
        let sign = if parser.cursor.skip_if_next("+") {
            1
        } else if parser.cursor.skip_if_next("-") {
            -1
        } else {
            return Ok(0);
        };
        parser.cursor.skip_blanks();
        let start = parser.cursor.at;
        let offset = sign * i64::from(parser.number::<u32>(what)?);
        i32::try_from(offset).map_err(|_| parser.cursor.error_at(start, "the offset does not fit into 32 bits"))
    }
}

impl FieldText for String {
    fn write(&self, line: &mut String) -> fmt::Result {
        write!(line, " {}", Quoted(self))
    }

    fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<Self> {
        parser.cursor.read_quoted(&format!("{what} in quotes"))
    }
}

/// The form of a region: in braces behind the operation's line.
impl FieldText for Region {
    fn write(&self, _: &mut String) -> fmt::Result {
        Ok(())
    }

    fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Self> {
        parser.region()
    }
}

impl FieldText for SpecialRegister {
    fn write(&self, line: &mut String) -> fmt::Result {
        match self {
            Self::Lane => write!(line, " lane"),
            Self::Warp => write!(line, " warp"),
            Self::Block => write!(line, " block"),
            Self::Program(axis) => write!(line, " program {axis}"),
            Self::Programs(axis) => write!(line, " programs {axis}"),
        }
    }

    fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Self> {
        let words = ["lane", "warp", "block", "program", "programs"];
        Ok(match parser.one_of("a special register", &words, |name| name)? {
            "lane" => Self::Lane,
            "warp" => Self::Warp,
            "block" => Self::Block,
            "programs" => Self::Programs(parser.number("an axis of the grid")?),
            _ => Self::Program(parser.number("an axis of the grid")?),
        })
    }
}

macro_rules! choices {
    ($($type:ident = $what:literal),* $(,)?) => {
        $(impl FieldText for $type {
            fn write(&self, line: &mut String) -> fmt::Result {
                write!(line, " {}", self.name())
            }

            fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Self> {
                parser.one_of($what, Self::ALL, Self::name)
            }
        })*
    };
}

choices! {
    Atomic = "an atomic operation",
    Binary = "an operation on two values",
    Cast = "a cast",
    ClockCounter = "a counter",
    Compare = "a comparison",
    ShuffleMode = "a kind of shuffle",
    Issuers = "the issuers",
    MathFunction = "a function",
    MemoryOrder = "an order",
    MemoryScope = "among whom",
    Queue = "a queue",
    CollectiveScope = "a scope",
    RegisterChange = "`release` or `acquire`",
    BarrierAction = "`arrive` or `sync`",
    Unary = "an operation on one value",
}

/// The form of the initial values that a loop carries: `carry %1, %2`; nothing if there are none.
pub(super) mod carry {
    use super::{Parsed, Parser, Value, Values, Write, fmt};
    use crate::Statement;

    pub(in crate::text) fn write(values: &[Value], _: &Statement, line: &mut String) -> fmt::Result {
        if values.is_empty() { Ok(()) } else { write!(line, " carry {}", Values(values)) }
    }

    pub(in crate::text) fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Vec<Value>> {
        if parser.take_keyword("carry") { parser.values() } else { Ok(Vec::new()) }
    }
}

/// The form of the value that lanes get whose predicate is false: `else %4`; nothing if there is none.
pub(super) mod other {
    use super::{Parsed, Parser, Value, Write, fmt};
    use crate::Statement;

    pub(in crate::text) fn write(other: &Option<Value>, _: &Statement, line: &mut String) -> fmt::Result {
        other.map_or(Ok(()), |other| write!(line, " else {other}"))
    }

    pub(in crate::text) fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Option<Value>> {
        if parser.on_same_line() && parser.take_keyword("else") { parser.value().map(Some) } else { Ok(None) }
    }
}

/// The form of a constant's bits: hexadecimal for floating-point types.
pub(super) mod bits_of {
    use super::{Parsed, Parser, Write, fmt};
    use crate::{Element, Statement};

    pub(in crate::text) fn write(bits: &u64, statement: &Statement, line: &mut String) -> fmt::Result {
        let float = statement.results.first().and_then(|(_, ty)| ty.element()).is_some_and(Element::is_float);
        if float { write!(line, " {bits:#x}") } else { write!(line, " {bits}") }
    }

    pub(in crate::text) fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<u64> {
        parser.number(what)
    }
}

/// The form of a print's flag for hexadecimal: the keyword `hex`, or nothing.
pub(super) mod hex {
    use super::{Parsed, Parser, fmt};
    use crate::Statement;

    pub(in crate::text) fn write(hex: &bool, _: &Statement, line: &mut String) -> fmt::Result {
        line.push_str(if *hex { " hex" } else { "" });
        Ok(())
    }

    pub(in crate::text) fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<bool> {
        Ok(parser.on_same_line() && parser.take_keyword("hex"))
    }
}

/// The form of a print's index: the keyword `index` and the values, or nothing.
pub(super) mod index {
    use super::{FieldText, Parsed, Parser, fmt};
    use crate::{Statement, Value};

    pub(in crate::text) fn write(index: &Option<Vec<Value>>, _: &Statement, line: &mut String) -> fmt::Result {
        let Some(index) = index else { return Ok(()) };
        line.push_str(" index");
        index.write(line)
    }

    pub(in crate::text) fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Option<Vec<Value>>> {
        let is_given = parser.on_same_line() && parser.take_keyword("index");
        is_given.then(|| parser.values()).transpose()
    }
}

/// The form of a flag: the keyword `wait` if it is true, `launch` if not.
pub(super) mod wait_or_launch {
    use super::{Parsed, Parser, fmt};
    use crate::Statement;

    pub(in crate::text) fn write(wait: &bool, _: &Statement, line: &mut String) -> fmt::Result {
        line.push_str(if *wait { " wait" } else { " launch" });
        Ok(())
    }

    pub(in crate::text) fn read(parser: &mut Parser<'_>, what: &str) -> Parsed<bool> {
        Ok(parser.one_of(what, &["wait", "launch"], |name| name)? == "wait")
    }
}

/// The form of the second region of an `if`, behind `else`; the printer writes it after the first region.
pub(super) mod otherwise {
    use super::{Parsed, Parser, Region, fmt};
    use crate::Statement;

    pub(in crate::text) fn write(_: &Region, _: &Statement, _: &mut String) -> fmt::Result {
        Ok(())
    }

    pub(in crate::text) fn read(parser: &mut Parser<'_>, _: &str) -> Parsed<Region> {
        parser.keyword("else")?;
        parser.region()
    }
}

/// Displays values with commas between them.
struct Values<'a>(&'a [Value]);

impl Display for Values<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{value}")?;
        }
        Ok(())
    }
}
