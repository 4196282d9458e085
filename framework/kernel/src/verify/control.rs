//! Checks that collectives stand under control that is uniform over their scope.

use super::violation::{VerifyError, Violation};
use crate::{Kernel, Op, Region, Uniformity, Value, analyze_uniformity};

/// Checks the control around every collective.
pub(super) fn verify_collectives(kernel: &Kernel) -> Result<(), VerifyError> {
    let mut walk = ControlWalk { levels: analyze_uniformity(kernel), next: 0 };
    walk.region(&kernel.body, Uniformity::ClusterUniform).map_err(|(operation, name, scope)| VerifyError {
        kernel: kernel.name.clone(),
        operation: Some(operation),
        name,
        violation: Violation::DivergentControl { scope },
    })
}

struct ControlWalk {
    levels: Vec<Uniformity>,
    next: usize,
}

impl ControlWalk {
    fn level(&self, value: Value) -> Uniformity {
        self.levels.get(value.0 as usize).copied().unwrap_or(Uniformity::Varying)
    }

    /// Returns the uniformity of the condition that a `while` body yields, on which the next iteration depends.
    fn condition_level(&self, body: &Region) -> Uniformity {
        body.yielded_values().first().map_or(Uniformity::Varying, |&value| self.level(value))
    }

    fn region(&mut self, region: &Region, control: Uniformity) -> Result<(), (usize, &'static str, &'static str)> {
        for statement in &region.statements {
            let index = self.next;
            self.next += 1;
            let allowed = statement.op.needed_control();
            if control > allowed {
                let scope = match control {
                    Uniformity::Varying => "lanes of a warp",
                    Uniformity::Uniform => "warps of a block",
                    Uniformity::BlockUniform | Uniformity::ClusterUniform => "blocks of a cluster",
                };
                return Err((index, statement.op.name(), scope));
            }
            let inner = match &statement.op {
                Op::If { condition, .. } => control.join(self.level(*condition)),
                Op::For { from, to, step, .. } => {
                    control.join(self.level(*from)).join(self.level(*to)).join(self.level(*step))
                }
                Op::While { body, .. } => control.join(self.condition_level(body)),
                _ => control,
            };
            for region in statement.op.regions() {
                self.region(region, inner)?;
            }
        }
        Ok(())
    }
}
