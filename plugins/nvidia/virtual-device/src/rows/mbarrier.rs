//! Mbarrier instructions, for mbarriers in the executing block's shared memory.

use crate::machine::{Address, Destination, DeviceFaultKind, Next, Operation, PtxSpace, Running, each};
use crate::program::{Form, Operands, Row, Semantics, Type};

const MODIFIERS: &str = "shared shared::cta release acquire relaxed cta cluster parity expect_tx";

pub(super) const ROWS: &[Row] = &[
    Row { name: "mbarrier.init", modifiers: MODIFIERS, types: "b64", semantics: Semantics::Warp(init) },
    Row { name: "mbarrier.inval", modifiers: MODIFIERS, types: "b64", semantics: Semantics::Warp(end) },
    Row { name: "mbarrier.arrive", modifiers: MODIFIERS, types: "b64", semantics: Semantics::Warp(arrive) },
    Row { name: "mbarrier.expect_tx", modifiers: MODIFIERS, types: "b64", semantics: Semantics::Warp(expect) },
    Row { name: "mbarrier.test_wait", modifiers: MODIFIERS, types: "b64", semantics: Semantics::Warp(test) },
    Row { name: "mbarrier.try_wait", modifiers: MODIFIERS, types: "b64", semantics: Semantics::Warp(test) },
];

fn word(form: &Form<'_>) -> Type {
    Type::named("u32").unwrap_or(form.ty())
}

/// Returns the shared-memory address of the mbarrier that a lane names. If the opcode names the shared space,
/// `form_is_shared` is true; otherwise the address is generic.
fn at(warp: &Running<'_>, form_is_shared: bool, address: &Address, lane: usize) -> Result<u64, DeviceFaultKind> {
    let space = if form_is_shared { PtxSpace::Shared } else { PtxSpace::Generic };
    warp.resolve(space, address, lane).map(|(_, at)| at)
}

fn is_shared(form: &Form<'_>) -> bool {
    form.find(PtxSpace::named).is_some()
}

fn init(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let (shared, address, count) = (is_shared(form), operands.address(0)?, operands.source(1, word(form))?);
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let (at, count) =
                (at(warp, shared, &address, lane)?, warp.read_defined(count, lane, "the number of arrivals")?);
            warp.mbarrier_init(lane, at, count as u32)?;
        }
        Ok(())
    }))
}

fn end(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let (shared, address) = (is_shared(form), operands.address(0)?);
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let at = at(warp, shared, &address, lane)?;
            warp.mbarrier_end(lane, at)?;
        }
        Ok(())
    }))
}

/// Decodes an arrival with operands `state, [address]{, count or bytes}`. The state that it returns is the number of
/// the current phase.
fn arrive(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=3)?;
    let (shared, to, address) = (is_shared(form), operands.destination(0)?, operands.address(1)?);
    let more = if operands.count() == 3 { Some(operands.source(2, word(form))?) } else { None };
    let expects = form.has("expect_tx");
    if expects && more.is_none() {
        return Err(form.unknown());
    }
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let at = at(warp, shared, &address, lane)?;
            let more = more
                .map(|more| warp.read_defined(more, lane, "the arrivals or bytes"))
                .transpose()?
                .map(|more| more as u32);
            let (arrivals, bytes) = if expects { (1, more.unwrap_or(0)) } else { (more.unwrap_or(1), 0) };
            let phase = warp.mbarrier_arrive(at, arrivals, bytes)?;
            warp.set(to, lane, phase);
        }
        Ok(())
    }))
}

fn expect(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let (shared, address, bytes) = (is_shared(form), operands.address(0)?, operands.source(1, word(form))?);
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let (at, bytes) =
                (at(warp, shared, &address, lane)?, warp.read_defined(bytes, lane, "the expected bytes")?);
            warp.mbarrier_arrive(at, 0, bytes as u32)?;
        }
        Ok(())
    }))
}

struct Test {
    shared: bool,
    to: Option<Destination>,
    address: Address,
    phase: u32,
    by_parity: bool,
}

fn test(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    // A time limit may be the last operand; it is ignored.
    operands.expect(3..=4)?;
    let by_parity = form.has("parity");
    let ty = if by_parity { word(form) } else { form.ty() };
    let (shared, to, address) = (is_shared(form), operands.destination(0)?, operands.address(1)?);
    Ok(Box::new(Test { shared, to, address, phase: operands.source(2, ty)?, by_parity }))
}

impl Operation for Test {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let mut all = true;
        for lane in warp.lanes() {
            let at = at(warp, self.shared, &self.address, lane)?;
            let phase = warp.read_defined(self.phase, lane, "the phase")?;
            let is_past = warp.mbarrier_is_past(lane, at, phase, self.by_parity)?;
            warp.set(self.to, lane, is_past.into());
            all &= is_past;
        }
        // A completed wait synchronizes: it orders accesses before the arrivals before accesses after the wait. So the
        // epoch of the warp increases.
        *warp.epoch += u32::from(all);
        // An incomplete phase needs arrivals of other warps, so they run next.
        Ok(if all { Next::Continue } else { Next::Yield })
    }
}
