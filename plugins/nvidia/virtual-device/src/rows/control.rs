//! PTX instructions for control flow: branches, exits and traps.

use super::super::machine::LANES;
use super::call;
use crate::machine::{DeviceFaultKind, Leaves, Next, Operation, Running};
use crate::program::{Form, Operands, Row, Semantics, Type};

pub(super) const ROWS: &[Row] = &[
    Row { name: "bra", modifiers: "uni", types: "", semantics: Semantics::Warp(jump) },
    Row { name: "brx.idx", modifiers: "uni", types: "", semantics: Semantics::Warp(jump_by_index) },
    Row { name: "ret", modifiers: "uni", types: "", semantics: Semantics::Warp(end) },
    Row { name: "exit", modifiers: "", types: "", semantics: Semantics::Warp(end) },
    Row { name: "trap", modifiers: "", types: "", semantics: Semantics::Warp(trap) },
    Row { name: "call", modifiers: "uni", types: "", semantics: Semantics::Warp(call::call) },
];

struct Jump(u32);

fn jump(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    Ok(Box::new(Jump(operands.label(0)?)))
}

impl Operation for Jump {
    fn execute(&self, _: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        Ok(Next::Jump(self.0))
    }

    fn targets(&self) -> &[u32] {
        std::slice::from_ref(&self.0)
    }

    fn leaves(&self) -> Leaves {
        Leaves::Branches
    }
}

struct JumpByIndex {
    index: u32,
    targets: Vec<u32>,
}

fn jump_by_index(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let index = operands.source(0, Type::named("u32").unwrap_or(form.ty()))?;
    Ok(Box::new(JumpByIndex { index, targets: operands.table(1)? }))
}

impl Operation for JumpByIndex {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let mut steps = Box::new([0; LANES]);
        for lane in warp.lanes() {
            let index = warp.read_defined(self.index, lane, "the index of a branch")?;
            steps[lane] = *usize::try_from(index).ok().and_then(|index| self.targets.get(index)).ok_or_else(|| {
                DeviceFaultKind::Instruction(format!("lane {lane}: label {index} of {}", self.targets.len()))
            })?;
        }
        Ok(Next::Scatter(steps))
    }

    fn targets(&self) -> &[u32] {
        &self.targets
    }

    fn leaves(&self) -> Leaves {
        Leaves::Branches
    }
}

struct End;

fn end(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(0..=0)?;
    Ok(Box::new(End))
}

impl Operation for End {
    fn execute(&self, _: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        Ok(Next::End)
    }

    fn leaves(&self) -> Leaves {
        Leaves::Ends
    }
}

struct Trap;

fn trap(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(0..=0)?;
    Ok(Box::new(Trap))
}

impl Operation for Trap {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        Err(DeviceFaultKind::Trap(format!("lanes {:#010x} arrived", warp.active)))
    }

    fn leaves(&self) -> Leaves {
        Leaves::Faults
    }
}
