//! Writes modules as text.

use std::fmt::{self, Display, Formatter, Write};

use super::is_identifier;
use crate::{
    Element, Extent, Kernel, MappedRows, Module, Op, Region, SpecialRegister, Statement, TensorMap, Type, Value,
};
use tilewright_target::Mix;

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, kernel) in self.kernels.iter().enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            kernel.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}(", Name(&self.name))?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}%{index} {}: {}", Name(&parameter.name), parameter.ty)?;
            parameter.map.iter().try_for_each(|map| write_map(f, map))?;
            parameter.rows.iter().try_for_each(|rows| write_rows(f, rows))?;
        }
        write!(f, ") lanes {} warps {}", self.launch.lanes, self.launch.warps)?;
        if self.launch.blocks != 1 {
            write!(f, " blocks {}", self.launch.blocks)?;
        }
        f.write_str(" {\n")?;
        for (index, buffer) in self.shared.iter().enumerate() {
            write!(f, "  shared {index}: {} bytes align {}", buffer.bytes, buffer.alignment)?;
            buffer.at.map_or(Ok(()), |at| write!(f, " at {at}"))?;
            writeln!(f)?;
        }
        write_statements(f, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

/// What a parameter maps, each with its space before it.
fn write_map(f: &mut Formatter<'_>, map: &TensorMap) -> fmt::Result {
    write!(f, " {} bits box", map.element_bits)?;
    for (axis, size) in map.box_sizes.iter().enumerate() {
        let by = if axis > 0 { " x" } else { "" };
        write!(f, "{by} {size}")?;
    }
    if map.mix != Mix::default() {
        write!(f, " mix {} {:#x}", map.mix.shift, map.mix.mask)?;
    }
    write!(f, " outside {}", map.outside.name())
}

/// What the tensor of a map follows from: `rows of %0 by 1, %4`.
fn write_rows(f: &mut Formatter<'_>, rows: &MappedRows) -> fmt::Result {
    write!(f, " rows of %{} by", rows.pointer)?;
    for (axis, stride) in rows.strides.iter().enumerate() {
        f.write_str(if axis > 0 { " x " } else { " " })?;
        match stride {
            Extent::Number(number) => write!(f, "{number}")?,
            Extent::Parameter(number) => write!(f, "%{number}")?,
        }
    }
    Ok(())
}

/// A name, quoted where it is no identifier.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_identifier(self.0) { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Values with commas between them.
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

/// Values and their types, with commas between them.
struct Typed<'a>(&'a [(Value, Type)]);

impl Display for Typed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, (value, ty)) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{value}: {ty}")?;
        }
        Ok(())
    }
}

/// What follows an operation's word, each with its space before it.
struct Operands<'a>(&'a [Value]);

impl Display for Operands<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " {}", Values(self.0)) }
    }
}

fn write_statements(f: &mut Formatter<'_>, region: &Region, depth: usize) -> fmt::Result {
    for statement in &region.statements {
        write!(f, "{:1$}", "", 2 * depth)?;
        f.write_str(&statement_line(statement))?;
        for (index, region) in statement.op.regions().into_iter().enumerate() {
            if index > 0 {
                write!(f, "{:1$}}} else", "", 2 * depth)?;
            }
            if !region.arguments.is_empty() {
                write!(f, " ({})", Typed(&region.arguments))?;
            }
            writeln!(f, " {{")?;
            write_statements(f, region, depth + 1)?;
        }
        if statement.op.regions().is_empty() {
            writeln!(f)?;
        } else {
            writeln!(f, "{:1$}}}", "", 2 * depth)?;
        }
    }
    Ok(())
}

/// The statement without its regions, on one line.
#[must_use]
pub fn statement_line(statement: &Statement) -> String {
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = write_line(&mut line, statement);
    line
}

fn write_line(f: &mut String, statement: &Statement) -> fmt::Result {
    if !statement.results.is_empty() {
        write!(f, "{} = ", Typed(&statement.results))?;
    }
    let word = statement.op.name();
    match &statement.op {
        Op::Constant { bits } => {
            let float = statement.results.first().and_then(|(_, ty)| ty.element()).is_some_and(Element::is_float);
            if float { write!(f, "{word} {bits:#x}") } else { write!(f, "{word} {bits}") }
        }
        Op::Special(SpecialRegister::Lane) => write!(f, "{word} lane"),
        Op::Special(SpecialRegister::Warp) => write!(f, "{word} warp"),
        Op::Special(SpecialRegister::Program(axis)) => write!(f, "{word} program {axis}"),
        Op::Special(SpecialRegister::Programs(axis)) => write!(f, "{word} programs {axis}"),
        Op::Special(SpecialRegister::Block) => write!(f, "{word} block"),
        Op::SharedAddress { buffer } => write!(f, "{word} {buffer}"),
        Op::ClusterAddress { pointer, block } => write!(f, "{word} {pointer}, {block}"),
        Op::Unary { op, a } => write!(f, "{word} {} {a}", op.name()),
        Op::Binary { op, a, b } => write!(f, "{word} {} {a}, {b}", op.name()),
        Op::FMulAdd { a, b, c } => write!(f, "{word} {a}, {b}, {c}"),
        Op::Compare { op, a, b } => write!(f, "{word} {} {a}, {b}", op.name()),
        Op::Select { condition, a, b } => write!(f, "{word} {condition}, {a}, {b}"),
        Op::Same { value, scope } => write!(f, "{word} {} {value}", scope.name()),
        Op::Cast { op, a } => write!(f, "{word} {} {a}", op.name()),
        Op::Pack { elements } => write!(f, "{word}{}", Operands(elements)),
        Op::Extract { vector, index } => write!(f, "{word} {vector}, {index}"),
        Op::PermuteBytes { a, b, selector, alternative } => {
            write!(f, "{word} {a}, {b}, {selector:#06x}")?;
            alternative.map_or(Ok(()), |(condition, other)| write!(f, " or {other:#06x} if {condition}"))
        }
        Op::Advance { pointer, bytes } => write!(f, "{word} {pointer}, {bytes}"),
        Op::Load { pointer, predicate, offset, alignment } => {
            write!(f, "{word} {pointer}")?;
            write_access(f, *offset, *alignment, *predicate)
        }
        Op::Store { pointer, value, predicate, offset, alignment } => {
            write!(f, "{word} {pointer}")?;
            write_offset(f, *offset)?;
            write!(f, ", {value}")?;
            write_access(f, 0, *alignment, *predicate)
        }
        Op::AtomicRmw { op, pointer, value, predicate, order, scope } => {
            write!(f, "{word} {} {} {} {pointer}, {value}", op.name(), order.name(), scope.name())?;
            write_predicate(f, *predicate)
        }
        Op::AtomicCompareExchange { pointer, expected, value, predicate, order, scope } => {
            write!(f, "{word} {} {} {pointer}, {expected}, {value}", order.name(), scope.name())?;
            write_predicate(f, *predicate)
        }
        Op::Fence { scope } => write!(f, "{word} {}", scope.name()),
        Op::Math { function, operands } => write!(f, "{word} {}{}", function.name(), Operands(operands)),
        Op::Assert { condition, message, predicate } => {
            write!(f, "{word} {condition}, {}", Quoted(message))?;
            write_predicate(f, *predicate)
        }
        Op::Print { prefix, hex, values } => {
            let hex = if *hex { " hex" } else { "" };
            write!(f, "{word} {}{hex}{}", Quoted(prefix), Operands(values))
        }
        Op::Assembly { text, constraints, operands } => {
            write!(f, "{word} {} {}{}", Quoted(text), Quoted(constraints), Operands(operands))
        }
        Op::GridDependency { wait } => write!(f, "{word} {}", if *wait { "wait" } else { "launch" }),
        Op::Exchange { kind, value, lane, issuers } => {
            write!(f, "{word} {} {} {value}, {lane}", kind.name(), issuers.name())
        }
        Op::ExchangeXor { value, mask, issuers } => write!(f, "{word} {mask} {} {value}", issuers.name()),
        Op::Swap { a, b, lane, issuers } => write!(f, "{word} {lane} {} {a}, {b}", issuers.name()),
        Op::Barrier { scope, issuers } => write!(f, "{word} {} {}", scope.name(), issuers.name()),
        Op::GroupBarrier { number, warps } => write!(f, "{word} {number}, {warps}"),
        Op::Pend { queue, value } => write!(f, "{word} {} {value}", queue.name()),
        Op::Commit { queue } => write!(f, "{word} {}", queue.name()),
        Op::Wait { queue, outstanding, values } => {
            write!(f, "{word} {} {outstanding}{}", queue.name(), Operands(values))
        }
        Op::MbarrierInit { pointer, arrivals } => write!(f, "{word} {pointer}, {arrivals}"),
        Op::MbarrierArrive { pointer, bytes } => write!(f, "{word} {pointer}, {bytes}"),
        Op::MbarrierWait { pointer, phase } => write!(f, "{word} {pointer}, {phase}"),
        Op::MbarrierCommit { queue, pointer } => write!(f, "{word} {} {pointer}", queue.name()),
        Op::TensorAllocate { pointer, columns } => write!(f, "{word} {pointer}, {columns}"),
        Op::TensorFree { address, columns } => write!(f, "{word} {address}, {columns}"),
        Op::ProxyFence {} => f.write_str(word),
        Op::Instruction { name, operands } => write!(f, "{word} {}{}", Quoted(name), Operands(operands)),
        Op::If { condition, .. } => write!(f, "{word} {condition}"),
        Op::For { from, to, step, carried, .. } => {
            write!(f, "{word} {from} to {to} step {step}")?;
            if carried.is_empty() { Ok(()) } else { write!(f, " carry {}", Values(carried)) }
        }
        Op::While { carried, .. } => {
            f.write_str(word)?;
            if carried.is_empty() { Ok(()) } else { write!(f, " carry {}", Values(carried)) }
        }
        Op::Yield { values } => write!(f, "{word}{}", Operands(values)),
    }
}

fn write_offset(f: &mut String, offset: i32) -> fmt::Result {
    match offset {
        0 => Ok(()),
        1.. => write!(f, " + {offset}"),
        _ => write!(f, " - {}", offset.unsigned_abs()),
    }
}

fn write_access(f: &mut String, offset: i32, alignment: u32, predicate: Option<Value>) -> fmt::Result {
    write_offset(f, offset)?;
    write!(f, " align {alignment}")?;
    write_predicate(f, predicate)
}

fn write_predicate(f: &mut String, predicate: Option<Value>) -> fmt::Result {
    predicate.map_or(Ok(()), |predicate| write!(f, " if {predicate}"))
}
