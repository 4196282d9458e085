//! Prints operations whose text has a special form, which templates cannot express.

use std::fmt;

use super::Printer;
use super::line::Line;
use crate::op::OpSpecificFormatPiece;
use crate::{Attribute, Operation, Region, Successor, TileType, Value};

impl Printer<'_> {
    pub(super) fn special(
        &mut self,
        operation: &Operation,
        special: OpSpecificFormatPiece,
        line: &mut Line,
        within: Region,
    ) -> fmt::Result {
        match special {
            OpSpecificFormatPiece::Token(operand, result) => {
                if !operation.result_group(result).is_empty() || !operation.operand_group(operand).is_empty() {
                    line.push_without_space(&format!("[{}]", self.used(operation.operand_group(operand))));
                }
                Ok(())
            }
            OpSpecificFormatPiece::Barriers(barriers, predicates) => {
                let pairs = operation.operand_group(barriers).iter().zip(operation.operand_group(predicates));
                for (barrier, predicate) in pairs {
                    line.push_without_space(&format!(
                        ", {}[{}]",
                        self.names.print_use(*barrier),
                        self.names.print_use(*predicate)
                    ));
                }
                Ok(())
            }
            OpSpecificFormatPiece::Bundles(group) => {
                self.bundles(operation, group, line);
                Ok(())
            }
            OpSpecificFormatPiece::Constant => {
                self.other_attributes(operation, line)?;
                let value = operation.attributes.get("value");
                line.push_token(&value.map(|value| self.attribute(value)).unwrap_or_default());
                Ok(())
            }
            OpSpecificFormatPiece::Choice => self.choice(operation, line),
            OpSpecificFormatPiece::For => self.counted_loop(operation, line),
            OpSpecificFormatPiece::If => self.branches(operation, line),
            OpSpecificFormatPiece::While => self.conditional_loop(operation, line),
            OpSpecificFormatPiece::Switch => self.region_switch(operation, line),
            OpSpecificFormatPiece::Execute => self.execute(operation, line),
            OpSpecificFormatPiece::Branch
            | OpSpecificFormatPiece::ConditionalBranch
            | OpSpecificFormatPiece::SwitchBranch => self.branch(operation, special, line, within),
            OpSpecificFormatPiece::WarpSpecialize => self.warp_specialize(operation, line),
            OpSpecificFormatPiece::WarpGroup => self.warp_group(operation, line),
        }
    }

    fn bundles(&self, operation: &Operation, group: usize, line: &mut Line) {
        let Some(Attribute::List(tags)) = operation.attributes.get("op_bundle_tags") else { return };
        let Some(Attribute::Array(_, sizes)) = operation.attributes.get("op_bundle_sizes") else { return };
        let mut rest = operation.operand_group(group);
        let bundles = tags.iter().zip(sizes).map(|(tag, size)| {
            let (bundle, behind) = rest.split_at(rest.len().min(*size as usize));
            rest = behind;
            let types = if bundle.is_empty() { "" } else { " : " };
            format!("{tag}({}{types}{})", self.used(bundle), self.types_of(bundle))
        });
        let bundles = bundles.collect::<Vec<_>>().join(", ");
        line.push_token(&format!("[{bundles}]"));
    }

    fn choice(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        line.push_token(&self.used(&operation.operands));
        self.other_attributes(operation, line)?;
        line.push_token(":");
        let condition = operation.operands.first().map(|value| self.body.value_type(*value));
        if let Some(condition) = condition.filter(|ty| **ty != TileType::BOOLEAN) {
            line.push_token(&self.ty(condition));
            line.push_token(",");
        }
        line.push_token(&self.types_of(&operation.results));
        Ok(())
    }

    /// Names the arguments of a region's first block, and returns the text of names and initial values: `(%a = %b,
    /// ...)`.
    fn initialised(&mut self, arguments: &[Value], initial: &[Value]) -> String {
        let initial: Vec<_> = initial.iter().map(|value| self.names.print_use(*value)).collect();
        let pairs = arguments.iter().zip(initial);
        let pairs = pairs
            .map(|(argument, initial)| format!("{} = {initial}", self.names.define_values(self.body, &[*argument])));
        format!("({})", pairs.collect::<Vec<_>>().join(", "))
    }

    fn entry_arguments(&self, region: Region) -> &[Value] {
        self.body.blocks(region).first().map_or(&[], |entry| self.body.arguments(*entry))
    }

    fn counted_loop(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        let Some(region) = operation.regions.first().copied() else { return Ok(()) };
        if operation.attributes.get("unsignedCmp").is_some() {
            line.push_token("unsigned");
        }
        let body = self.body;
        let bounds: Vec<_> = (0..3).map(|group| self.used(operation.operand_group(group))).collect();
        self.names.enter();
        let arguments: Vec<Value> = self.entry_arguments(region).to_vec();
        let counter = arguments.first().map(|counter| self.names.define_values(body, &[*counter])).unwrap_or_default();
        line.push_token(&format!("{counter} = {} to {} step {}", bounds[0], bounds[1], bounds[2]));
        let initial = operation.operand_group(3);
        if !initial.is_empty() {
            line.push_token("iter_args");
            line.push_without_space(&self.initialised(arguments.get(1..).unwrap_or_default(), initial));
            line.push_token("->");
            line.push_token(&format!("({})", self.types_of(&operation.results)));
        }
        let counted = operation.operands.first().map(|value| self.body.value_type(*value));
        if let Some(counted) = counted.filter(|ty| **ty != TileType::Index) {
            line.push_token(":");
            line.push_token(&self.ty(counted));
        }
        self.region(region, false, initial.is_empty(), line)?;
        self.names.leave();
        self.other_attributes(operation, line)
    }

    fn arrow(&mut self, operation: &Operation, line: &mut Line, bracketed: bool) {
        if operation.results.is_empty() {
            return;
        }
        line.push_token("->");
        let types = self.types_of(&operation.results);
        line.push_token(&if bracketed { format!("({types})") } else { types });
    }

    fn branches(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        line.push_token(&self.used(&operation.operands));
        self.arrow(operation, line, true);
        let implied = operation.results.is_empty();
        for (number, region) in operation.regions.iter().enumerate() {
            if number > 0 {
                if self.body.blocks(*region).is_empty() {
                    break;
                }
                line.push_token("else");
            }
            self.region(*region, false, implied, line)?;
        }
        self.other_attributes(operation, line)
    }

    fn conditional_loop(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        let [before, after] = operation.regions[..] else { return Ok(()) };
        self.names.enter();
        if !operation.operands.is_empty() {
            let arguments = self.entry_arguments(before).to_vec();
            line.push_token(&self.initialised(&arguments, &operation.operands));
        }
        line.push_token(":");
        line.push_token(&self.function_type(operation));
        self.region(before, false, false, line)?;
        self.names.leave();
        line.push_token("do");
        let labelled = !self.entry_arguments(after).is_empty();
        self.region(after, labelled, false, line)?;
        if !operation.attributes.is_empty() {
            line.push_token("attributes");
        }
        self.other_attributes(operation, line)
    }

    fn region_switch(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        line.push_token(&self.used(&operation.operands));
        self.other_attributes(operation, line)?;
        self.arrow(operation, line, false);
        let Some((default, regions)) = operation.regions.split_first() else { return Ok(()) };
        let cases = match operation.attributes.get("cases") {
            Some(Attribute::Array(_, cases)) => &cases[..],
            _ => &[],
        };
        for (case, region) in cases.iter().zip(regions) {
            line.push_without_space(&self.next_line());
            line.push_without_space(&format!("case {}", *case as i64));
            self.region(*region, false, false, line)?;
        }
        line.push_without_space(&self.next_line());
        line.push_without_space("default");
        self.region(*default, false, false, line)
    }

    fn execute(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        self.arrow(operation, line, false);
        if operation.attributes.get("no_inline").is_some() {
            line.push_token("no_inline");
        }
        if let Some(region) = operation.regions.first() {
            self.region(*region, false, false, line)?;
        }
        self.other_attributes(operation, line)
    }

    fn next_line(&self) -> String {
        format!("\n{}", self.indentation())
    }

    fn indentation(&self) -> String {
        "  ".repeat(self.depth)
    }

    fn branch(
        &mut self,
        operation: &Operation,
        special: OpSpecificFormatPiece,
        line: &mut Line,
        within: Region,
    ) -> fmt::Result {
        let targets: Vec<_> = operation.successors.iter().map(|to| self.successor(operation, to, within)).collect();
        match special {
            OpSpecificFormatPiece::Branch => line.push_token(&targets.join(", ")),
            OpSpecificFormatPiece::ConditionalBranch => {
                line.push_token(&self.used(operation.operand_group(0)));
                if let Some(Attribute::Array(_, weights)) = operation.attributes.get("branch_weights") {
                    let weights: Vec<_> = weights.iter().map(u64::to_string).collect();
                    line.push_token(&format!("weights([{}])", weights.join(", ")));
                }
                line.push_token(",");
                line.push_token(&targets.join(", "));
            }
            _ => {
                line.push_token(&self.used(operation.operand_group(0)));
                line.push_token(":");
                line.push_token(&self.types_of(operation.operand_group(0)));
                line.push_token(",");
                let (open, close) = (format!("\n{}  ", self.indentation()), format!("\n{}", self.indentation()));
                line.push_token(&format!(
                    "[{open}{}{close}]",
                    self.cases(operation, &targets).join(&format!(",{open}"))
                ));
            }
        }
        self.other_attributes(operation, line)
    }

    fn cases(&self, operation: &Operation, targets: &[String]) -> Vec<String> {
        let values = match operation.attributes.get("case_values") {
            Some(Attribute::List(values)) => &values[..],
            _ => &[],
        };
        let words = std::iter::once("default".to_owned()).chain(values.iter().map(|value| match value {
            Attribute::Number(number) => number.as_integer().map(|value| value.to_string()).unwrap_or_default(),
            other => self.attribute(other),
        }));
        words.zip(targets).map(|(word, target)| format!("{word}: {target}")).collect()
    }

    fn successor(&self, operation: &Operation, to: &Successor, within: Region) -> String {
        let name = self.block_name(to.block, within);
        let along = operation.operands.get(to.operands.clone()).unwrap_or_default();
        if along.is_empty() { name } else { format!("{name}({} : {})", self.used(along), self.types_of(along)) }
    }

    fn warp_group(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        if operation.attributes.iter().any(|(name, _)| name != "numWarps") {
            line.push_token("attributes");
            self.other_attributes(operation, line)?;
        }
        for (number, (region, warps)) in operation.regions.iter().zip(warp_counts(operation, "numWarps")).enumerate() {
            line.push_without_space(&self.next_line());
            line.push_without_space(&format!("partition{number} num_warps({warps})"));
            self.region(*region, false, false, line)?;
        }
        Ok(())
    }

    fn warp_specialize(&mut self, operation: &Operation, line: &mut Line) -> fmt::Result {
        line.push_without_space(&format!("({})", self.used(&operation.operands)));
        let others = operation.attributes.iter().any(|(name, _)| name != "partitionNumWarps");
        if others {
            line.push_token("attributes");
            self.other_attributes(operation, line)?;
        }
        let warps = warp_counts(operation, "partitionNumWarps");
        let Some((default, partitions)) = operation.regions.split_first() else { return Ok(()) };
        line.push_without_space(&self.next_line());
        line.push_without_space("default");
        self.region(*default, false, false, line)?;
        for (number, (region, warps)) in partitions.iter().zip(warps).enumerate() {
            line.push_without_space(&self.next_line());
            self.names.enter();
            let arguments = self.entry_arguments(*region).to_vec();
            let arguments: Vec<_> = arguments
                .iter()
                .map(|argument| {
                    let name = self.names.define_values(self.body, &[*argument]);
                    format!("{name}: {}", self.ty(self.body.value_type(*argument)))
                })
                .collect();
            line.push_without_space(&format!("partition{number}({}) num_warps({warps})", arguments.join(", ")));
            self.region(*region, false, false, line)?;
            self.names.leave();
        }
        line.push_token(":");
        line.push_token(&self.function_type(operation));
        Ok(())
    }
}

/// The number of warps of each partition, from the attribute with this name; empty if there is none.
fn warp_counts<'o>(operation: &'o Operation, attribute: &str) -> &'o [u64] {
    match operation.attributes.get(attribute) {
        Some(Attribute::Array(_, warps)) => warps,
        _ => &[],
    }
}
