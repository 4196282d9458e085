//! Checks regions, their arguments and terminators, calls and branches.

use super::{CheckResult, OpContext, ensure, format_type_list};
use crate::op::name::{scf, tt};
use crate::{Region, TileType, Value};

impl OpContext<'_> {
    pub(super) fn control(&self) -> CheckResult {
        self.check_successors()?;
        match self.operation.name() {
            tt::REDUCE => self.combination(tt::REDUCE_RETURN, true),
            tt::SCAN => self.combination(tt::SCAN_RETURN, false),
            tt::MAP_ELEMENTWISE => self.mapped(),
            scf::FOR => self.counted_loop(),
            scf::IF => self.branches(),
            scf::WHILE => self.conditional_loop(),
            tt::CALL => self.call(),
            tt::RETURN => self.returns(),
            _ => Ok(()),
        }
    }

    /// Checks that the operands that a branch passes to a block have the types of the block's arguments.
    fn check_successors(&self) -> CheckResult {
        for successor in &self.operation.successors {
            let brought = self.types(self.operation.operands.get(successor.operands.clone()).unwrap_or_default());
            let taken = self.types(self.body.arguments(successor.block));
            ensure(brought == taken, || {
                format!(
                    "a jump brings {}, and the block takes {}",
                    format_type_list(&brought),
                    format_type_list(&taken)
                )
            })?;
        }
        Ok(())
    }

    fn entry_types(&self, region: Region) -> Vec<&TileType> {
        self.body.blocks(region).first().map_or_else(Vec::new, |entry| self.types(self.body.arguments(*entry)))
    }

    /// The operands of a region's terminator; an error if the region does not end with the operation `name`.
    fn ending(&self, region: Region, name: &str) -> Result<&[Value], String> {
        let last = self.body.blocks(region).last().and_then(|block| self.body.ops(*block).last());
        match last.map(|last| self.body.op(*last)).filter(|last| last.name() == name) {
            Some(last) => Ok(&last.operands),
            None => Err(format!("a region does not end with `{name}`")),
        }
    }

    fn takes(&self, region: Region, expected: &[&TileType]) -> CheckResult {
        let taken = self.entry_types(region);
        ensure(taken == expected, || {
            format!("a region takes {}: expected {}", format_type_list(&taken), format_type_list(expected))
        })
    }

    fn gives(&self, region: Region, name: &str, expected: &[&TileType]) -> CheckResult {
        let given = self.types(self.ending(region, name)?);
        ensure(given == expected, || {
            format!("`{name}` yields {}: expected {}", format_type_list(&given), format_type_list(expected))
        })
    }

    /// Checks a reduction or scan: its region, which ends with `ending`, combines two elements of each tensor into one.
    ///
    /// With `drops_axis`, the results have the operands' shape without the axis; otherwise they have the same shape.
    fn combination(&self, ending: &str, drops_axis: bool) -> CheckResult {
        let Some(region) = self.operation.regions.first() else { return Ok(()) };
        let sources = self.types(&self.operation.operands);
        ensure(!sources.is_empty(), || "there is nothing to combine".to_owned())?;
        let elements: Vec<&TileType> = sources.iter().map(|ty| ty.element()).collect();
        let twice: Vec<&TileType> = elements.iter().chain(&elements).copied().collect();
        self.takes(*region, &twice)?;
        self.gives(*region, ending, &elements)?;
        let shape = sources[0].shape().unwrap_or_default();
        ensure(sources.iter().all(|ty| ty.shape() == Some(shape) && ty.layout() == sources[0].layout()), || {
            format!("the tensors {} differ in shape or layout", format_type_list(&sources))
        })?;
        let axis = self
            .integer_attribute("axis")
            .and_then(|axis| usize::try_from(axis).ok())
            .filter(|axis| *axis < shape.len());
        let Some(axis) = axis else { return Err(format!("a tensor of {shape:?} has no such axis")) };
        let mut expected = shape.to_vec();
        if drops_axis {
            expected.remove(axis);
        }
        let results = self.types(&self.operation.results);
        let fits = results.len() == sources.len()
            && results.iter().zip(&elements).all(|(result, element)| {
                // A scalar has an empty shape: it is the reduction of a one-dimensional tensor.
                result.element() == *element && result.shape().unwrap_or_default() == expected
            });
        ensure(fits, || {
            format!(
                "{} become {}: expected the shape {expected:?}",
                format_type_list(&sources),
                format_type_list(&results)
            )
        })
    }

    /// Checks `tt.map_elementwise`: its region takes `pack` elements of each operand, and yields `pack` elements of
    /// each result.
    fn mapped(&self) -> CheckResult {
        let Some(region) = self.operation.regions.first() else { return Ok(()) };
        let pack = self.integer_attribute("pack").and_then(|pack| usize::try_from(pack).ok()).filter(|pack| *pack > 0);
        let Some(pack) = pack else { return Err("`pack` is not above zero".to_owned()) };
        let most = self.body.blocks(*region).first().map_or(0, |block| self.body.arguments(*block).len());
        ensure(pack <= most.max(1), || {
            format!("its region takes {most} elements, which are not {pack} of each tensor")
        })?;
        let packed = |values: &[Value]| -> Vec<&TileType> {
            let elements = values.iter().map(|value| self.value_type(*value).element());
            elements.flat_map(|element| std::iter::repeat_n(element, pack)).collect()
        };
        self.takes(*region, &packed(&self.operation.operands))?;
        self.gives(*region, tt::MAP_ELEMENTWISE_RETURN, &packed(&self.operation.results))
    }

    fn counted_loop(&self) -> CheckResult {
        let (Some(region), Some(counter)) = (self.operation.regions.first(), self.operand_type("lowerBound")) else {
            return Ok(());
        };
        let bounds = self.types(&self.operation.operands[..3.min(self.operation.operands.len())]);
        ensure(bounds.iter().all(|ty| *ty == counter), || {
            format!("bounds and step are {}: expected one type", format_type_list(&bounds))
        })?;
        let carried = self.types(self.operation.operand_group(3));
        let results = self.types(&self.operation.results);
        ensure(carried == results, || {
            format!(
                "{} are loop-carried, and the results are {}",
                format_type_list(&carried),
                format_type_list(&results)
            )
        })?;
        let all: Vec<&TileType> = std::iter::once(counter).chain(carried.iter().copied()).collect();
        self.takes(*region, &all)?;
        self.gives(*region, scf::YIELD, &carried)
    }

    fn branches(&self) -> CheckResult {
        let results = self.types(&self.operation.results);
        for (index, region) in self.operation.regions.iter().enumerate() {
            if index == 1 && self.body.blocks(*region).is_empty() {
                return ensure(results.is_empty(), || "results need a region for the other case: `else`".to_owned());
            }
            self.takes(*region, &[])?;
            self.gives(*region, scf::YIELD, &results)?;
        }
        Ok(())
    }

    fn conditional_loop(&self) -> CheckResult {
        let [before, after] = self.operation.regions[..] else { return Ok(()) };
        let carried = self.types(&self.operation.operands);
        let results = self.types(&self.operation.results);
        self.takes(before, &carried)?;
        let passed = self.ending(before, scf::CONDITION)?;
        let passed = self.types(passed.get(1..).unwrap_or_default());
        ensure(passed == results, || {
            format!("`scf.condition` passes {}: expected {}", format_type_list(&passed), format_type_list(&results))
        })?;
        self.takes(after, &results)?;
        self.gives(after, scf::YIELD, &carried)
    }

    fn call(&self) -> CheckResult {
        let Some(name) = self.operation.attributes.get("callee").and_then(crate::Attribute::as_text) else {
            return Err("`callee` is missing".to_owned());
        };
        let Some(callee) = self.module.find_function(name) else {
            return Err(format!("there is no function `@{name}`"));
        };
        let operands = self.types(&self.operation.operands);
        let results = self.types(&self.operation.results);
        let fits = operands.iter().copied().eq(&callee.signature.arguments)
            && results.iter().copied().eq(&callee.signature.results);
        ensure(fits, || {
            let (takes, gives): (Vec<_>, Vec<_>) =
                (callee.signature.arguments.iter().collect(), callee.signature.results.iter().collect());
            format!("`@{name}` takes {} and returns {}", format_type_list(&takes), format_type_list(&gives))
        })
    }

    fn returns(&self) -> CheckResult {
        let given = self.types(&self.operation.operands);
        ensure(given.iter().copied().eq(&self.function.signature.results), || {
            let expected: Vec<_> = self.function.signature.results.iter().collect();
            format!("{} are returned: expected {}", format_type_list(&given), format_type_list(&expected))
        })
    }
}
