//! Analysis of the values that are equal in all lanes of a warp, block or cluster.
//!
//! The analysis computes the least fixed point of the rules below: every value starts as cluster-uniform and is lowered
//! to weaker levels until nothing changes. Values that a region defines are compared between the lanes that run it.

use super::{Kernel, MAX_VALUES, Op, Region, SpecialRegister, Statement, Uniformity, Value};

/// Computes the uniformity of every value of a kernel, indexed by value number.
///
/// Correct for verified kernels; for others the result is arbitrary, but there is no panic.
#[must_use]
pub fn analyze_uniformity(kernel: &Kernel) -> Vec<Uniformity> {
    let values = kernel.value_number_limit().min(MAX_VALUES) as usize;
    let mut analysis = Analysis { kernel, levels: vec![Uniformity::ClusterUniform; values], changed: true };
    while analysis.changed {
        analysis.changed = false;
        analysis.region(&kernel.body);
    }
    analysis.levels
}

struct Analysis<'a> {
    kernel: &'a Kernel,
    levels: Vec<Uniformity>,
    changed: bool,
}

impl Analysis<'_> {
    fn level(&self, value: Value) -> Uniformity {
        self.levels.get(value.0 as usize).copied().unwrap_or(Uniformity::Varying)
    }

    fn join(&self, values: &[Value]) -> Uniformity {
        values.iter().fold(Uniformity::ClusterUniform, |level, &value| level.join(self.level(value)))
    }

    fn raise(&mut self, value: Value, level: Uniformity) {
        // A warp of one lane, a block of one warp or a cluster of one block is always uniform.
        let level = match level {
            Uniformity::Varying if self.kernel.launch.lanes == 1 => Uniformity::Uniform,
            level => level,
        };
        let level = match level {
            Uniformity::Uniform if self.kernel.launch.warps == 1 => Uniformity::BlockUniform,
            level => level,
        };
        let level = match level {
            Uniformity::BlockUniform if self.kernel.launch.blocks == 1 => Uniformity::ClusterUniform,
            level => level,
        };
        if let Some(old) = self.levels.get_mut(value.0 as usize)
            && *old < level
        {
            *old = level;
            self.changed = true;
        }
    }

    fn region(&mut self, region: &Region) {
        for statement in &region.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.op {
            Op::If { condition, then, otherwise } => {
                self.region(then);
                self.region(otherwise);
                let chosen = self.level(*condition);
                for (index, &(result, _)) in statement.results.iter().enumerate() {
                    let level = chosen
                        .join(self.yielded_uniformity(then, index))
                        .join(self.yielded_uniformity(otherwise, index));
                    self.raise(result, level);
                }
            }
            Op::For { from, to, step, carried, body } => {
                let iterations = self.join(&[*from, *to, *step]);
                let index = self.join(&[*from, *step]);
                if let Some(&(argument, _)) = body.arguments.first() {
                    self.raise(argument, index);
                }
                for (result_index, (&(argument, _), &initial)) in body.arguments.iter().skip(1).zip(carried).enumerate()
                {
                    let level = self.level(initial).join(self.yielded_uniformity(body, result_index));
                    self.raise(argument, level);
                }
                self.region(body);
                // If lanes leave the loop after different iterations, their final carried values differ.
                for (&(result, _), &(argument, _)) in statement.results.iter().zip(body.arguments.iter().skip(1)) {
                    let level = iterations.join(self.level(argument));
                    self.raise(result, level);
                }
            }
            Op::While { carried, body } => {
                for (result_index, (&(argument, _), &initial)) in body.arguments.iter().zip(carried).enumerate() {
                    let level = self.level(initial).join(self.yielded_uniformity(body, result_index + 1));
                    self.raise(argument, level);
                }
                self.region(body);
                // The results are the values yielded last, which differ if lanes leave in different iterations.
                let iterations = self.yielded_uniformity(body, 0);
                for (result_index, &(result, _)) in statement.results.iter().enumerate() {
                    let level = iterations.join(self.yielded_uniformity(body, result_index + 1));
                    self.raise(result, level);
                }
            }
            op => {
                let level = self.computed(op);
                for &(result, _) in &statement.results {
                    self.raise(result, level);
                }
            }
        }
    }

    /// Returns the uniformity of the results of an operation without regions.
    fn computed(&self, op: &Op) -> Uniformity {
        match op {
            Op::Special(SpecialRegister::Lane) => Uniformity::Varying,
            Op::Special(SpecialRegister::Warp) => Uniformity::Uniform,
            // Blocks of a cluster are adjacent along axis 0 of the grid.
            Op::Special(SpecialRegister::Block | SpecialRegister::Program(0)) => Uniformity::BlockUniform,
            // The result is uniform if all lanes read the same lane, or if all lanes provide the same value.
            Op::Shuffle { value, lane, .. } => match (self.level(*value), self.level(*lane)) {
                (Uniformity::Varying, Uniformity::Varying) => Uniformity::Varying,
                (level @ (Uniformity::ClusterUniform | Uniformity::BlockUniform), _) => level,
                _ => Uniformity::Uniform,
            },
            Op::AssumeUniform { value, scope } => self.level(*value).min(scope.uniformity()),
            op => op.uniformity_at_best().join(self.join(&op.operands())),
        }
    }

    /// Returns the uniformity of the value with this index among those that a region yields.
    fn yielded_uniformity(&self, region: &Region, index: usize) -> Uniformity {
        region.yielded_values().get(index).map_or(Uniformity::Varying, |&value| self.level(value))
    }
}
