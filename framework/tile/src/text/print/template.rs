//! Prints an operation by the format template of its definition.

use std::fmt;

use super::Printer;
use super::line::Line;
use super::operation::numbered;
use crate::attribute::write_bits;
use crate::op::{AttributeKind, FormatTemplatePiece, OpSpecificFormatPiece};
use crate::{Attribute, Operation, Region, Value};

impl Printer<'_> {
    pub(super) fn formatted(
        &mut self,
        operation: &Operation,
        format: &[FormatTemplatePiece],
        line: &mut Line,
        within: Region,
    ) -> fmt::Result {
        for piece in format {
            self.piece(operation, piece, line, within)?;
        }
        Ok(())
    }

    fn piece(
        &mut self,
        operation: &Operation,
        piece: &FormatTemplatePiece,
        line: &mut Line,
        within: Region,
    ) -> fmt::Result {
        match piece {
            FormatTemplatePiece::Literal(token) => line.push_token(token),
            FormatTemplatePiece::Operands(group) => line.push_token(&self.used(operation.operand_group(*group))),
            FormatTemplatePiece::Attribute(number) => self.attribute_position(operation, *number, line)?,
            FormatTemplatePiece::OperandTypes { group, short } => {
                self.type_position(operation.operand_group(*group), *short, line)
            }
            FormatTemplatePiece::ResultTypes { group, short } => {
                self.type_position(operation.result_group(*group), *short, line)
            }
            FormatTemplatePiece::AllOperandTypes => line.push_token(&self.types_of(&operation.operands)),
            FormatTemplatePiece::FunctionType => line.push_token(&self.function_type(operation)),
            FormatTemplatePiece::Attributes => self.other_attributes(operation, line)?,
            FormatTemplatePiece::Optional(pieces) => {
                if pieces.iter().find_map(|piece| is_there(operation, piece)).unwrap_or(false) {
                    pieces.iter().try_for_each(|piece| self.piece(operation, piece, line, within))?;
                }
            }
            FormatTemplatePiece::Special(special) => self.special(operation, *special, line, within)?,
        }
        Ok(())
    }

    fn type_position(&self, values: &[Value], short: bool, line: &mut Line) {
        let types: Vec<_> = values.iter().map(|value| self.body.value_type(*value)).collect();
        let written = types.iter().map(|ty| if short { self.short_type(ty) } else { self.ty(ty) });
        line.push_token(&written.collect::<Vec<_>>().join(", "));
    }

    /// Appends the attributes that no piece of the format writes, in braces.
    pub(super) fn other_attributes(&self, operation: &Operation, line: &mut Line) -> fmt::Result {
        let format = operation.definition.format.as_deref().unwrap_or_default();
        let written = |name: &str| {
            let number = operation.definition.attributes.iter().position(|row| row.name == name);
            number.is_some_and(|number| format.iter().any(|piece| piece.writes_attribute(number)))
                || format
                    .iter()
                    .any(|piece| matches!(piece, FormatTemplatePiece::Special(special) if special.writes(name)))
        };
        let others = operation.attributes.iter().filter(|(name, _)| !written(name));
        // Only formats write keywords as words; a dictionary has the numbers of the keywords.
        let others: Vec<_> = others.map(|(name, value)| (name, numbered(operation, name, value))).collect();
        if !others.is_empty() {
            line.push_token(&self.entries(others.iter().map(|(name, value)| (*name, value)))?);
        }
        Ok(())
    }

    fn attribute_position(&self, operation: &Operation, number: usize, line: &mut Line) -> fmt::Result {
        let row = &operation.definition.attributes[number];
        let Some(value) = operation.attributes.get(&row.name).or(row.default.as_ref()) else { return Ok(()) };
        match (&row.kind, value) {
            (AttributeKind::Unit, _) => {}
            (AttributeKind::Flags(flags), _) => {
                let text = self.attribute(value);
                line.push_without_space(text.strip_prefix(&flags.name).unwrap_or(&text));
            }
            (AttributeKind::Integer(_), Attribute::Number(number)) => {
                let mut text = String::new();
                write_bits(&mut text, number.bits, &number.ty)?;
                line.push_token(&text);
            }
            (AttributeKind::Integers(_), Attribute::Array(ty, values)) => {
                for (index, bits) in values.iter().enumerate() {
                    let mut text = String::new();
                    write_bits(&mut text, *bits, ty)?;
                    line.push_token(if index > 0 { "," } else { "" });
                    line.push_token(&text);
                }
            }
            _ => line.push_token(&self.attribute(value)),
        }
        Ok(())
    }
}

/// Whether the operation has the operands, results or attribute that the placeholder `piece` writes; `None` for parts
/// of a format that write none of these.
fn is_there(operation: &Operation, piece: &FormatTemplatePiece) -> Option<bool> {
    match piece {
        FormatTemplatePiece::Operands(group) | FormatTemplatePiece::OperandTypes { group, .. } => {
            Some(!operation.operand_group(*group).is_empty())
        }
        FormatTemplatePiece::ResultTypes { group, .. } => Some(!operation.result_group(*group).is_empty()),
        FormatTemplatePiece::Attribute(number) => {
            let row = &operation.definition.attributes[*number];
            Some(operation.attributes.get(&row.name).is_some())
        }
        _ => None,
    }
}

impl OpSpecificFormatPiece {
    /// Whether the special form writes the attribute with this name, so that it is not among the others.
    fn writes(self, name: &str) -> bool {
        match self {
            Self::Constant => name == "value",
            Self::For => name == "unsignedCmp",
            Self::Switch => name == "cases",
            Self::Execute => name == "no_inline",
            Self::ConditionalBranch => name == "branch_weights",
            Self::SwitchBranch => name == "case_values",
            Self::WarpSpecialize => name == "partitionNumWarps",
            Self::WarpGroup => name == "numWarps",
            Self::Bundles(_) => ["op_bundle_sizes", "op_bundle_tags"].contains(&name),
            _ => false,
        }
    }
}
