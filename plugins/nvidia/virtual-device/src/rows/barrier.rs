//! Barrier instructions of the block and of the warp, and the change of a warpgroup's registers, for which its warps
//! wait for each other.

use crate::machine::{Arrival, DeviceFaultKind, Next, Operation, RegisterChange, Running, each};
use crate::program::{Form, Operands, Row, Semantics, Type};

pub(super) const ROWS: &[Row] = &[
    Row { name: "bar.sync", modifiers: "aligned", types: "", semantics: Semantics::Warp(wait) },
    Row { name: "bar.cta.sync", modifiers: "aligned", types: "", semantics: Semantics::Warp(wait) },
    Row { name: "barrier.sync", modifiers: "aligned", types: "", semantics: Semantics::Warp(wait) },
    Row { name: "barrier.cta.sync", modifiers: "aligned", types: "", semantics: Semantics::Warp(wait) },
    Row { name: "bar.arrive", modifiers: "aligned", types: "", semantics: Semantics::Warp(arrive) },
    Row { name: "bar.cta.arrive", modifiers: "aligned", types: "", semantics: Semantics::Warp(arrive) },
    Row { name: "barrier.arrive", modifiers: "aligned", types: "", semantics: Semantics::Warp(arrive) },
    Row { name: "barrier.cta.arrive", modifiers: "aligned", types: "", semantics: Semantics::Warp(arrive) },
    Row { name: "bar.warp.sync", modifiers: "", types: "", semantics: Semantics::Warp(of_warp) },
    Row {
        name: "setmaxnreg",
        modifiers: "inc dec sync aligned",
        types: "u32",
        semantics: Semantics::Warp(change_registers),
    },
];

struct Barrier {
    number: u32,
    threads: Option<u32>,
    only_arrives: bool,
}

fn word(form: &Form<'_>) -> Type {
    Type::named("u32").unwrap_or(form.ty())
}

fn of_block(form: &Form<'_>, operands: &mut Operands<'_>, only_arrives: bool) -> Result<Box<dyn Operation>, String> {
    operands.expect(if only_arrives { 2..=2 } else { 1..=2 })?;
    let number = operands.source(0, word(form))?;
    let threads = if operands.count() == 2 { Some(operands.source(1, word(form))?) } else { None };
    Ok(Box::new(Barrier { number, threads, only_arrives }))
}

fn wait(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    of_block(form, operands, false)
}

fn arrive(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    of_block(form, operands, true)
}

impl Operation for Barrier {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        if warp.active != warp.alive {
            return Err(DeviceFaultKind::Divergent { members: warp.alive, active: warp.active });
        }
        let barrier = warp.read_uniform(self.number, "the number of the barrier")? as u32;
        if barrier > 15 {
            return Err(DeviceFaultKind::Barrier(format!("there is no barrier {barrier}; a block has sixteen")));
        }
        let threads = match self.threads {
            None => None,
            Some(threads) => Some(warp.read_uniform(threads, "the threads of the barrier")? as u32),
        };
        if threads.is_some_and(|threads| threads == 0 || threads % 32 != 0) {
            return Err(DeviceFaultKind::Barrier("the threads of a barrier are a multiple of 32".to_owned()));
        }
        warp.counts.barriers += 1;
        Ok(Next::Wait(Arrival { barrier, threads, only_arrives: self.only_arrives }))
    }
}

fn of_warp(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let members = operands.source(0, word(form))?;
    Ok(each(move |warp| {
        warp.members(members)?;
        *warp.epoch += 1;
        warp.counts.warp_barriers += 1;
        Ok(())
    }))
}

impl Operation for RegisterChange {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        if warp.active != warp.alive {
            return Err(DeviceFaultKind::Divergent { members: warp.alive, active: warp.active });
        }
        Ok(Next::ChangeRegisters(*self))
    }
}

fn change_registers(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let registers = operands.constant(0)?;
    if !(24..=256).contains(&registers) || registers % 8 != 0 {
        return Err(format!("{registers} registers of a thread; expected a multiple of 8 from 24 to 256"));
    }
    Ok(Box::new(RegisterChange { acquires: form.has("inc"), registers: registers as u32 }))
}
