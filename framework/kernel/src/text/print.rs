//! Prints modules as text.

use std::fmt::{self, Display, Formatter, Write};

use tilewright_layout::text::{Quoted, is_identifier};
use tilewright_target::XorSwizzle;

use super::operation::write_operation;
use crate::{
    Kernel, LaunchDerivedTensorMap, LaunchTimeElementCount, Module, Region, Statement, TensorMap, Type, Value,
};

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
        if self.launch.registers != 0 {
            write!(f, " registers {}", self.launch.registers)?;
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

/// Writes a tensor map, each part after a space.
fn write_map(f: &mut Formatter<'_>, map: &TensorMap) -> fmt::Result {
    write!(f, " {} bits", map.element_bits)?;
    map.element.iter().try_for_each(|element| write!(f, " of {}", Name(element)))?;
    f.write_str(" box")?;
    for (axis, size) in map.box_sizes.iter().enumerate() {
        let by = if axis > 0 { " x" } else { "" };
        write!(f, "{by} {size}")?;
    }
    if map.swizzle != XorSwizzle::default() {
        write!(f, " mix {} {:#x}", map.swizzle.shift, map.swizzle.mask)?;
    }
    write!(f, " outside {}", map.outside.name())
}

/// Writes the derivation of a tensor map: ` rows of %0 by 1 x %4 sizes %1 x %2`.
fn write_rows(f: &mut Formatter<'_>, rows: &LaunchDerivedTensorMap) -> fmt::Result {
    write!(f, " rows of %{} by", rows.pointer)?;
    write_extents(f, &rows.strides)?;
    if !rows.sizes.is_empty() {
        f.write_str(" sizes")?;
        write_extents(f, &rows.sizes)?;
    }
    Ok(())
}

fn write_extents(f: &mut Formatter<'_>, extents: &[LaunchTimeElementCount]) -> fmt::Result {
    for (axis, extent) in extents.iter().enumerate() {
        f.write_str(if axis > 0 { " x " } else { " " })?;
        match extent {
            LaunchTimeElementCount::Number(number) => write!(f, "{number}")?,
            LaunchTimeElementCount::Parameter(number) => write!(f, "%{number}")?,
        }
    }
    Ok(())
}

/// Displays a name, in quotes if it is no identifier.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_identifier(self.0) { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

/// Displays values with their types, comma-separated.
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

fn write_statements(f: &mut Formatter<'_>, region: &Region, depth: usize) -> fmt::Result {
    for statement in &region.statements {
        write!(f, "{:1$}", "", 2 * depth)?;
        f.write_str(&print_statement(statement))?;
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

/// The text of a statement on one line, without its regions.
#[must_use]
pub fn print_statement(statement: &Statement) -> String {
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = write_line(&mut line, statement);
    line
}

fn write_line(line: &mut String, statement: &Statement) -> fmt::Result {
    if !statement.results.is_empty() {
        write!(line, "{} = ", Typed(&statement.results))?;
    }
    write_operation(statement, line)
}
