//! Checks the operand and result types of casts.

use super::{CheckResult, OpContext, ensure};
use crate::op::name::{arith, tt};
use crate::{Attribute, TileType};

/// The width of the result compared to the operand.
#[derive(Clone, Copy)]
enum Width {
    Wider,
    Narrower,
    Same,
    Any,
}

/// The cast operations, each with the width of its result relative to the operand.
const CASTS: [(&str, Width); 15] = [
    (arith::EXTF, Width::Wider),
    (arith::EXTSI, Width::Wider),
    (arith::EXTUI, Width::Wider),
    (arith::TRUNCF, Width::Narrower),
    (arith::CONVERTF, Width::Same),
    (arith::SCALING_EXTF, Width::Wider),
    (arith::SCALING_TRUNCF, Width::Narrower),
    (arith::TRUNCI, Width::Narrower),
    (arith::BITCAST, Width::Same),
    (arith::SITOFP, Width::Any),
    (arith::UITOFP, Width::Any),
    (arith::FPTOSI, Width::Any),
    (arith::FPTOUI, Width::Any),
    (tt::BITCAST, Width::Same),
    (tt::FP_TO_FP, Width::Any),
];

impl OpContext<'_> {
    pub(super) fn casts(&self) -> CheckResult {
        let name = self.operation.name();
        if name == arith::CONSTANT {
            return self.constant();
        }
        let Some((_, width)) = CASTS.iter().find(|(known, _)| *known == name) else { return Ok(()) };
        let (Some(from), Some(to)) = (self.operation.operands.first(), self.result_type()) else { return Ok(()) };
        let from = self.value_type(*from);
        let (Some(before), Some(after)) = (from.element_bits(), to.element_bits()) else { return Ok(()) };
        let (holds, expected) = match width {
            Width::Wider => (after > before, "a wider type"),
            Width::Narrower => (after < before, "a narrower type"),
            Width::Same => (after == before, "a type of the same width"),
            Width::Any => (true, "any type"),
        };
        ensure(holds, || format!("`{from}` becomes `{to}`: expected {expected}"))
    }

    fn constant(&self) -> CheckResult {
        let value = self.operation.attributes.get("value").and_then(Attribute::value_type);
        let result = self.result_type();
        ensure(value.as_ref() == result, || {
            let value = value.as_ref().map_or_else(|| "nothing".to_owned(), TileType::to_string);
            format!("the value is a `{value}`, which is not the type of the result")
        })
    }
}
