//! Kernels that issue one bulk copy, of a box of a tensor or of contiguous bytes.

use tilewright_kernel::{
    Binary, Builder, CollectiveScope, Element, InstructionSignature, Kernel, MemorySpace, Op, Parameter, Queue,
    StaticLaunchConfig, TensorMap, Type, Value,
};
use tilewright_target::{Completion, Instruction, InstructionOperand, Semantics};

use super::copy_pipeline::each_index;
use crate::CheckFailure;

/// The data that a bulk copy transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkCopyExtent<'a> {
    /// A box of a tensor, with the tensor's map.
    Box(&'a TensorMap),
    /// This number of contiguous bytes.
    Copy1d(u32),
}

/// A synchronization error that is built into a kernel on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkCopyFlaw {
    /// The kernel does not wait for the copy.
    NoWait,
    /// The mbarrier phase expects no bytes of the copy (no `expect_tx`), so it does not complete as the copy does: too
    /// early or never.
    NothingExpected,
    /// The wait is for the mbarrier's previous phase.
    OtherPhase,
    /// No proxy fence precedes the asynchronous proxy's access of shared memory.
    NoFence,
}

impl BulkCopyFlaw {
    /// All flaws.
    pub const ALL: [Self; 4] = [Self::NoWait, Self::NothingExpected, Self::OtherPhase, Self::NoFence];

    /// Whether a copy with this completion can have the flaw.
    #[must_use]
    pub fn applies_to(self, completion: Completion) -> bool {
        matches!(self, Self::NoWait | Self::NoFence) || completion == Completion::Mbarrier
    }
}

impl BulkCopyExtent<'_> {
    /// Number of copied bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Box(map) => map.box_bytes(),
            Self::Copy1d(bytes) => bytes.into(),
        }
    }

    /// Whether an instruction copies this kind of data.
    #[must_use]
    pub fn is_copied_by(row: &Instruction) -> bool {
        let is_bulk = |operand: &InstructionOperand| {
            matches!(operand, InstructionOperand::Box(_) | InstructionOperand::SharedBulk { .. })
        };
        let is_moved = matches!(row.semantics, Semantics::Move | Semantics::Reduce(_));
        is_moved && row.operands.iter().any(is_bulk)
    }
}

/// Number of bytes that a lane moves at a time between shared and global memory.
const VECTOR: u32 = 16;

/// Builds a kernel of one warp that issues an instruction once, with its shared buffer at the start of shared memory.
/// The kernel has the synchronization error `flaw`; `None` for a correct kernel.
///
/// Parameters for a box: the tensor map, and a pointer to the coordinates of the box, an `i32` for each axis. For
/// contiguous bytes: a pointer to the bytes in global memory. The last parameter is a pointer to global memory for the
/// contents of shared memory: the result of a copy to shared memory, or the source of a copy from it.
///
/// # Errors
/// [`CheckFailure::Row`] if the row is no such bulk copy, or a kernel cannot supply its operands.
pub fn build_bulk_copy_kernel(
    row: &Instruction,
    lanes: u32,
    bulk: BulkCopyExtent<'_>,
    flaw: Option<BulkCopyFlaw>,
) -> Result<Kernel, CheckFailure> {
    build(row, lanes, bulk, flaw).map_err(CheckFailure::Row)
}

fn build(
    row: &Instruction,
    lanes: u32,
    bulk: BulkCopyExtent<'_>,
    flaw: Option<BulkCopyFlaw>,
) -> Result<Kernel, String> {
    let bytes = u32::try_from(bulk.bytes()).ok().filter(|bytes| bytes.is_multiple_of(VECTOR));
    let bytes = bytes.ok_or_else(|| format!("{} bytes; expected a multiple of {VECTOR}", bulk.bytes()))?;
    let pointer = Type::Pointer(MemorySpace::Global);
    let parameters = match bulk {
        BulkCopyExtent::Box(map) => {
            vec![Parameter::tensor_map("tensor", map.clone()), Parameter::scalar_or_pointer("origin", pointer)]
        }
        BulkCopyExtent::Copy1d(_) => vec![Parameter::scalar_or_pointer("span", pointer)],
    };
    let shared_contents = parameters.len() as u32;
    let parameters = parameters.into_iter().chain([Parameter::scalar_or_pointer("held", pointer)]).collect();
    let mut builder = Builder::with_parameters("bulk", StaticLaunchConfig::new(lanes, 1), parameters);
    let buffer = builder.shared_buffer(bytes, alignment(row, bulk)?);
    let shared_contents = builder.parameter(shared_contents);
    let mut issue = Issue { builder, row, flaw, buffer, shared_contents, bytes };
    match row.completion {
        Completion::Mbarrier => issue.bring()?,
        Completion::Queue(queue) => issue.put_back(queue)?,
        Completion::Immediate => return Err("it completes synchronously".to_owned()),
    }
    Ok(issue.builder.finish())
}

/// Returns the alignment in bytes that the instruction requires of the address in shared memory.
fn alignment(row: &Instruction, bulk: BulkCopyExtent<'_>) -> Result<u32, String> {
    let own = row.operands.iter().find_map(|operand| match (operand, bulk) {
        (InstructionOperand::Box(operand), BulkCopyExtent::Box(map)) => {
            let alignment = || operand.find_layout(map.swizzle).map_or(1, |one| one.alignment);
            Some(map.check_for_operand(operand).map(|()| alignment()).map_err(|error| error.to_string()))
        }
        (InstructionOperand::SharedBulk { alignment }, BulkCopyExtent::Copy1d(_)) => Some(Ok(*alignment)),
        _ => None,
    });
    own.unwrap_or_else(|| Err("it copies neither a box nor a span".to_owned()))
}

struct Issue<'a> {
    builder: Builder,
    row: &'a Instruction,
    flaw: Option<BulkCopyFlaw>,
    buffer: Value,
    shared_contents: Value,
    bytes: u32,
}

impl Issue<'_> {
    fn has(&self, flaw: BulkCopyFlaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn bring(&mut self) -> Result<(), String> {
        let mbarrier = self.builder.mbarrier(1);
        if !self.has(BulkCopyFlaw::NoFence) {
            self.builder.proxy_fence();
        }
        self.builder.barrier(CollectiveScope::Warp);
        let expected = if self.has(BulkCopyFlaw::NothingExpected) { 0 } else { self.bytes };
        self.builder.mbarrier_arrive(mbarrier, expected);
        self.copy(Some(mbarrier))?;
        let phase = self.builder.i32(u32::from(self.has(BulkCopyFlaw::OtherPhase)));
        if !self.has(BulkCopyFlaw::NoWait) {
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
        if !self.has(BulkCopyFlaw::NoFence) {
            self.builder.proxy_fence();
        }
        self.builder.barrier(CollectiveScope::Warp);
        self.copy(None)?;
        self.builder.commit(queue);
        if !self.has(BulkCopyFlaw::NoWait) {
            self.builder.wait(queue, 0, &[]);
        }
        Ok(())
    }

    fn copy(&mut self, mbarrier: Option<Value>) -> Result<(), String> {
        let (mut operands, mut axis) = (Vec::new(), 0);
        for operand in &self.row.operands {
            operands.push(match operand {
                InstructionOperand::Box(_) | InstructionOperand::SharedBulk { .. } => self.buffer,
                InstructionOperand::TensorMap | InstructionOperand::GlobalBulk { .. } => self.builder.parameter(0),
                InstructionOperand::BulkBytes { .. } => self.builder.i32(self.bytes),
                InstructionOperand::Mbarrier => mbarrier.ok_or("it takes an mbarrier, but does not complete on it")?,
                InstructionOperand::Coordinate => {
                    axis += 1;
                    let origin = self.builder.parameter(1);
                    self.builder.load(Type::Scalar(Element::I32), origin, 4 * (axis - 1), None)
                }
                _ => return Err("it has operands that a bulk copy does not have".to_owned()),
            });
        }
        let checked = InstructionSignature::from_instruction(self.row).check_launch(self.builder.launch());
        checked.map_err(|error| error.to_string())?;
        self.builder.effect(Op::Instruction { name: self.row.name.clone(), operands });
        Ok(())
    }

    /// Emits code that divides the vectors of the shared buffer among the lanes of the warp. `act` gets the shared and
    /// the global address of a vector, and a predicate if some lanes have no vector.
    fn each_vector(&mut self, act: impl FnOnce(&mut Builder, [Value; 2], Option<Value>)) {
        let (buffer, shared_contents) = (self.buffer, self.shared_contents);
        each_index(&mut self.builder, self.bytes / VECTOR, |builder, index, active| {
            let at = builder.binary_const(Binary::Mul, index, VECTOR);
            let addresses = [buffer, shared_contents].map(|start| builder.ptr_add(start, at));
            act(builder, addresses, active);
        });
    }
}
