//! Kernels that issue one bulk copy: of a box of a tensor, or of a span of bytes.

use tilewright_kernel::{
    Binary, Builder, Element, InstructionSignature, Kernel, Launch, MemorySpace, Op, Parameter, Queue, Scope,
    TensorMap, Type, Value,
};
use tilewright_target::{Completion, Instruction, Operand};

use super::copy_pipeline::each_index;

/// What is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bulk<'a> {
    /// A box of the tensor that is mapped so.
    Box(&'a TensorMap),
    /// So many bytes.
    Span(u32),
}

/// What makes a bulk copy wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkFlaw {
    /// Nobody waits for it.
    NoWait,
    /// The mbarrier's phase expects no bytes.
    NothingExpected,
    /// The phase waited for is the one before.
    OtherPhase,
    /// No fence comes before the asynchronous proxy looks at shared memory.
    NoFence,
}

impl BulkFlaw {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::NoWait, Self::NothingExpected, Self::OtherPhase, Self::NoFence];

    /// Whether a copy that completes so can have it.
    #[must_use]
    pub fn concerns(self, completion: Completion) -> bool {
        matches!(self, Self::NoWait | Self::NoFence) || completion == Completion::Mbarrier
    }
}

impl Bulk<'_> {
    /// Bytes that are copied.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Box(map) => map.box_bytes(),
            Self::Span(bytes) => bytes.into(),
        }
    }

    /// Whether a row copies something in bulk.
    #[must_use]
    pub fn is_of(row: &Instruction) -> bool {
        row.operands.iter().any(|operand| matches!(operand, Operand::Box(_) | Operand::SharedSpan { .. }))
    }
}

/// A lane moves so many bytes at a time between its part of shared and of global memory.
const VECTOR: u32 = 16;

/// A kernel of one warp that issues a row once, with shared memory at the start of the block's.
///
/// Parameters: the tensor's map and a pointer to the coordinates of the box, an `i32` for each axis, or a pointer to the
/// bytes in global memory; then a pointer to global memory for what is in shared memory, byte by byte: what a copy to
/// there has brought, or what one from there is to bring.
///
/// # Errors
/// A sentence on why the row copies nothing like this, or what of it no kernel can give.
pub fn bulk_kernel(row: &Instruction, lanes: u32, bulk: Bulk<'_>, flaw: Option<BulkFlaw>) -> Result<Kernel, String> {
    let bytes = u32::try_from(bulk.bytes()).ok().filter(|bytes| bytes.is_multiple_of(VECTOR));
    let bytes = bytes.ok_or_else(|| format!("{} bytes; expected a multiple of {VECTOR}", bulk.bytes()))?;
    let pointer = Type::Pointer(MemorySpace::Global);
    let parameters = match bulk {
        Bulk::Box(map) => vec![Parameter::tensor("tensor", map.clone()), Parameter::plain("origin", pointer)],
        Bulk::Span(_) => vec![Parameter::plain("span", pointer)],
    };
    let held = parameters.len() as u32;
    let parameters = parameters.into_iter().chain([Parameter::plain("held", pointer)]).collect();
    let mut builder = Builder::with_parameters("bulk", Launch::new(lanes, 1), parameters);
    let buffer = builder.shared_buffer(bytes, alignment(row, bulk)?);
    let held = builder.parameter(held);
    let mut issue = Issue { builder, row, flaw, buffer, held, bytes };
    match row.completion {
        Completion::Mbarrier => issue.bring()?,
        Completion::Queue(queue) => issue.put_back(queue)?,
        Completion::AtOnce => return Err("it completes at once".to_owned()),
    }
    Ok(issue.builder.finish())
}

/// Of what the address in shared memory is a multiple.
fn alignment(row: &Instruction, bulk: Bulk<'_>) -> Result<u32, String> {
    let own = row.operands.iter().find_map(|operand| match (operand, bulk) {
        (Operand::Box(operand), Bulk::Box(map)) => {
            Some(map.check_for(operand).map(|()| operand.arrangement_of(map.mix).map_or(1, |one| one.alignment)))
        }
        (Operand::SharedSpan { alignment }, Bulk::Span(_)) => Some(Ok(*alignment)),
        _ => None,
    });
    own.unwrap_or_else(|| Err("it copies something else".to_owned()))
}

struct Issue<'a> {
    builder: Builder,
    row: &'a Instruction,
    flaw: Option<BulkFlaw>,
    buffer: Value,
    held: Value,
    bytes: u32,
}

impl Issue<'_> {
    fn has(&self, flaw: BulkFlaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn bring(&mut self) -> Result<(), String> {
        let mbarrier = self.builder.mbarrier(1);
        if !self.has(BulkFlaw::NoFence) {
            self.builder.proxy_fence();
        }
        self.builder.barrier(Scope::Warp);
        let expected = if self.has(BulkFlaw::NothingExpected) { 0 } else { self.bytes };
        self.builder.mbarrier_arrive(mbarrier, expected);
        self.copy(Some(mbarrier))?;
        let phase = self.builder.i32(u32::from(self.has(BulkFlaw::OtherPhase)));
        if !self.has(BulkFlaw::NoWait) {
            self.builder.mbarrier_wait(mbarrier, phase);
        }
        self.each_vector(|builder, [from, to], active| {
            let vector = builder.load(Type::Vector(Element::I32, VECTOR / 4), from, 0, active);
            builder.store(to, 0, vector, active);
        });
        Ok(())
    }

    fn put_back(&mut self, queue: Queue) -> Result<(), String> {
        self.each_vector(|builder, [to, from], active| {
            let vector = builder.load(Type::Vector(Element::I32, VECTOR / 4), from, 0, active);
            builder.store(to, 0, vector, active);
        });
        if !self.has(BulkFlaw::NoFence) {
            self.builder.proxy_fence();
        }
        self.builder.barrier(Scope::Warp);
        self.copy(None)?;
        self.builder.commit(queue);
        if !self.has(BulkFlaw::NoWait) {
            self.builder.wait(queue, 0, &[]);
        }
        Ok(())
    }

    fn copy(&mut self, mbarrier: Option<Value>) -> Result<(), String> {
        let (mut operands, mut axis) = (Vec::new(), 0);
        for operand in &self.row.operands {
            operands.push(match operand {
                Operand::Box(_) | Operand::SharedSpan { .. } => self.buffer,
                Operand::TensorMap | Operand::GlobalSpan { .. } => self.builder.parameter(0),
                Operand::SpanBytes { .. } => self.builder.i32(self.bytes),
                Operand::Mbarrier => mbarrier.ok_or("it takes an mbarrier and does not complete on it")?,
                Operand::Coordinate => {
                    axis += 1;
                    let origin = self.builder.parameter(1);
                    self.builder.load(Type::Scalar(Element::I32), origin, 4 * (axis - 1), None)
                }
                _ => return Err("it takes more than a bulk copy".to_owned()),
            });
        }
        InstructionSignature::of(self.row).check_launch(self.builder.launch())?;
        self.builder.effect(Op::Instruction { name: self.row.name.clone(), operands });
        Ok(())
    }

    /// Each lane's vectors in turn: where they are in shared and in global memory, and whether there is one.
    fn each_vector(&mut self, act: impl FnOnce(&mut Builder, [Value; 2], Option<Value>)) {
        let (buffer, held) = (self.buffer, self.held);
        each_index(&mut self.builder, self.bytes / VECTOR, |builder, index, active| {
            let at = builder.binary_const(Binary::Mul, index, VECTOR);
            let places = [buffer, held].map(|start| builder.advance(start, at));
            act(builder, places, active);
        });
    }
}
