//! Conversions by renaming registers: they are possible if every lane already holds all elements that it needs, and all
//! lanes permute their registers equally.

use super::super::{ConversionProblem, PlanStats};
use super::plan::{ConversionKind, ConversionPlan, Steps};
use super::renaming::Renaming;

pub(super) fn plan(conversion: &ConversionProblem) -> Result<ConversionPlan, String> {
    let origin = conversion.origin.as_ref().ok_or("elements cross blocks")?;
    if origin.of_registers.iter().any(|p| p.thread != 0) {
        return Err("a lane needs elements of other lanes".to_owned());
    }
    if origin.of_threads.iter().enumerate().any(|(bit, p)| p.thread != 1 << bit || p.register != 0) {
        return Err("lanes need elements of other lanes, or different registers in different lanes".to_owned());
    }
    let registers = 1u64 << conversion.dst.registers.len();
    let source: Vec<_> = (0..registers).map(|register| origin.of(register, 0).register as usize).collect();
    let same = conversion.src.registers == conversion.dst.registers;
    Ok(ConversionPlan {
        path: if same { ConversionKind::None } else { ConversionKind::Register },
        stats: PlanStats::default(),
        steps: Steps::Renaming(Renaming { source }),
    })
}
