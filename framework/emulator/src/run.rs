//! Launches: the clusters of a grid one after another.

use super::access::Transactions;
use super::cluster::{Cluster, Outside, Stop};
use super::fault::{Fault, FaultKind, FaultPlace, LaneFault};
use super::mapped_tensor::{Tensor, TensorMapValue};
use super::meaning::SemanticsTable;
use super::memory::{Buffer, GlobalMemory};
use super::print::Printer;
use super::program::{Program, decode};
use tilewright_kernel::{Counts, Element, Kernel, Parameter, Type, text, verify_structure};
use tilewright_target::TargetDescription;

/// What a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// The address of a buffer, for a pointer.
    Buffer(Buffer),
    /// Bits, for a scalar.
    Scalar(u64),
    /// A tensor, for a map.
    Tensor(TensorMapValue),
}

/// How much a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Operations, each counted once for every warp that runs it.
    pub steps: u64,
    /// Bytes of all values of all lanes of the blocks that run together.
    pub register_bytes: u64,
}

impl Default for RunLimits {
    /// A hundred million operations and 4 GiB.
    fn default() -> Self {
        Self { steps: 100_000_000, register_bytes: 1 << 32 }
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunReport {
    /// What a warp did; where warps differ, the most over all warps of all blocks, count by count.
    pub counts: Counts,
    /// Units of global memory loaded by all warps of all blocks: for each load of a warp, how many
    /// units of the target's `global.transaction_bytes` its lanes touch.
    pub transactions_loaded: u64,
    /// Units of global memory stored, likewise.
    pub transactions_stored: u64,
    /// Different units of global memory that were prefetched.
    pub units_prefetched: u64,
    /// Bytes that all lanes of all warps of all blocks stored to shared memory; what several stored to one
    /// place counts for each.
    pub shared_bytes_stored: u64,
    /// Operations that all warps ran; constants and casts that only rename bits are none.
    pub steps: u64,
}

/// A kernel ready to be run for a target.
pub struct Emulator<'a> {
    kernel: &'a Kernel,
    target: &'a TargetDescription,
    meanings: Option<&'a SemanticsTable>,
    printer: Option<&'a Printer<'a>>,
    program: Program<'a>,
}

/// Runs a kernel once; vendor instructions are unknown.
///
/// # Errors
/// [`Fault`]: what the kernel or its launch did wrong.
pub fn run(
    kernel: &Kernel,
    target: &TargetDescription,
    grid: [u32; 3],
    arguments: &[Argument],
    memory: &mut GlobalMemory,
    limits: &RunLimits,
) -> Result<RunReport, Fault> {
    Emulator::new(kernel, target)?.run(grid, arguments, memory, limits)
}

impl<'a> Emulator<'a> {
    /// Prepares a kernel. Its structure is verified; that its collectives stand under uniform control
    /// is not, since a run finds out.
    ///
    /// # Errors
    /// [`FaultKind::Invalid`], [`FaultKind::Launch`] or [`FaultKind::SharedLimit`].
    pub fn new(kernel: &'a Kernel, target: &'a TargetDescription) -> Result<Self, Fault> {
        let fault = |kind| Fault { kernel: kernel.name.clone(), place: None, kind };
        verify_structure(kernel).map_err(|error| fault(FaultKind::Invalid(Box::new(error))))?;
        check_launch(kernel, target).map_err(fault)?;
        Ok(Self { kernel, target, meanings: None, printer: None, program: decode(kernel, target) })
    }

    /// Gives vendor instructions their meanings.
    #[must_use]
    pub fn with_meanings(self, meanings: &'a SemanticsTable) -> Self {
        Self { meanings: Some(meanings), ..self }
    }

    /// Gives what the kernel prints to whoever takes it; nobody does otherwise.
    #[must_use]
    pub fn with_printer(self, printer: &'a Printer<'a>) -> Self {
        Self { printer: Some(printer), ..self }
    }

    /// Runs all blocks of the grid.
    ///
    /// # Errors
    /// [`Fault`]: what the kernel or its launch did wrong.
    pub fn run(
        &self,
        grid: [u32; 3],
        arguments: &[Argument],
        memory: &mut GlobalMemory,
        limits: &RunLimits,
    ) -> Result<RunReport, Fault> {
        let tensors = self.tensors(arguments, memory).map_err(|kind| self.fault(kind))?;
        let arguments = self.arguments(arguments, memory).map_err(|kind| self.fault(kind))?;
        if grid.contains(&0) {
            return Err(self.fault(FaultKind::Launch(format!("the grid {grid:?} has no blocks"))));
        }
        let blocks = self.kernel.launch.blocks;
        if !grid[0].is_multiple_of(blocks) {
            let message = format!("the grid {grid:?} is not made of clusters of {blocks} blocks along its first axis");
            return Err(self.fault(FaultKind::Launch(message)));
        }
        let mut launch = self.launch(grid, &arguments, tensors, memory, limits).map_err(|kind| self.fault(kind))?;
        for z in 0..grid[2] {
            for y in 0..grid[1] {
                for x in (0..grid[0]).step_by(blocks as usize) {
                    launch.run([x, y, z])?;
                }
            }
        }
        Ok(launch.report())
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault { kernel: self.kernel.name.clone(), place: None, kind }
    }

    /// The bits of the arguments.
    fn arguments(&self, arguments: &[Argument], memory: &GlobalMemory) -> Result<Vec<u64>, FaultKind> {
        let parameters = &self.kernel.parameters;
        if arguments.len() != parameters.len() {
            let message = format!("{} arguments were given; expected {}", arguments.len(), parameters.len());
            return Err(FaultKind::Argument { index: arguments.len().min(parameters.len()), message });
        }
        let bits = |(index, (argument, parameter)): (usize, (&Argument, &Parameter))| match argument {
            // A map is known by its parameter.
            Argument::Tensor(_) if parameter.ty == Type::TensorMap => Ok(index as u64),
            _ => {
                argument_bits(*argument, parameter.ty, memory).map_err(|message| FaultKind::Argument { index, message })
            }
        };
        arguments.iter().zip(parameters).enumerate().map(bits).collect()
    }

    /// The tensors that are given for maps, by parameter.
    fn tensors(&self, arguments: &[Argument], memory: &GlobalMemory) -> Result<Vec<Option<Tensor>>, FaultKind> {
        let given = arguments.iter().zip(&self.kernel.parameters).enumerate();
        let tensor = |(index, (argument, parameter)): (usize, (&Argument, &Parameter))| match (argument, &parameter.map)
        {
            (Argument::Tensor(given), Some(map)) => match Tensor::new(map, given, memory) {
                Ok(tensor) => Ok(Some(tensor)),
                Err(message) => Err(FaultKind::Argument { index, message }),
            },
            _ => Ok(None),
        };
        given.map(tensor).collect()
    }

    fn launch<'b>(
        &'b self,
        grid: [u32; 3],
        arguments: &[u64],
        tensors: Vec<Option<Tensor>>,
        memory: &'b mut GlobalMemory,
        limits: &RunLimits,
    ) -> Result<Launch<'b>, FaultKind> {
        let launch = self.kernel.launch;
        let bytes = 8 * self.program.registers as u64 * u64::from(launch.warps) * u64::from(launch.blocks);
        if bytes > limits.register_bytes {
            return Err(FaultKind::RegisterLimit { bytes, limit: limits.register_bytes });
        }
        let (offsets, end) = self.kernel.shared_offsets();
        let ends = offsets.iter().zip(&self.kernel.shared).map(|(&start, buffer)| start + u64::from(buffer.bytes));
        let buffers: Vec<_> = offsets.iter().zip(ends).map(|(&start, end)| start..end).collect();
        Ok(Launch {
            emulator: self,
            grid,
            cluster: Cluster::new(launch, &self.program, arguments, &buffers, end as usize, self.target),
            memory,
            tensors,
            transactions: Transactions::default(),
            counts: Counts::default(),
            steps: limits.steps,
            step_limit: limits.steps,
        })
    }
}

/// Whether a block of the target can be such a block.
fn check_launch(kernel: &Kernel, target: &TargetDescription) -> Result<(), FaultKind> {
    let launch = kernel.launch;
    if launch.lanes != target.lanes.default && !target.lanes.choices.contains(&launch.lanes) {
        let choices = &target.lanes.choices;
        let message = format!("a warp has {} lanes; the target's have one of {choices:?}", launch.lanes);
        return Err(FaultKind::Launch(message));
    }
    let lanes = u64::from(launch.lanes) * u64::from(launch.warps);
    if lanes > u64::from(target.limits.lanes_per_block) {
        let limit = target.limits.lanes_per_block;
        return Err(FaultKind::Launch(format!("a block has {lanes} lanes; the target's have at most {limit}")));
    }
    if launch.blocks > target.limits.blocks_per_cluster {
        let (blocks, limit) = (launch.blocks, target.limits.blocks_per_cluster);
        return Err(FaultKind::Launch(format!("a cluster has {blocks} blocks; the target's have at most {limit}")));
    }
    let most = target.limits.group_barriers;
    let beyond = |op: &&tilewright_kernel::Statement| matches!(op.op, tilewright_kernel::Op::GroupBarrier { number, .. } if number >= most);
    if kernel.statements().into_iter().any(|statement| beyond(&statement)) {
        return Err(FaultKind::Launch(format!(
            "some warps meet by themselves; the target has {most} barriers for that"
        )));
    }
    let (bytes, limit) = (kernel.shared_bytes(), u64::from(target.shared.bytes));
    if bytes > limit {
        return Err(FaultKind::SharedLimit { bytes, limit });
    }
    Ok(())
}

fn argument_bits(argument: Argument, ty: Type, memory: &GlobalMemory) -> Result<u64, String> {
    match (argument, ty) {
        (Argument::Buffer(buffer), Type::Pointer(_)) if memory.holds(buffer) => Ok(memory.address(buffer)),
        (Argument::Buffer(_), Type::Pointer(_)) => Err("the buffer does not belong to the memory given".to_owned()),
        (Argument::Scalar(bits), Type::Scalar(element)) if fits(bits, element) => Ok(bits),
        (Argument::Scalar(bits), Type::Scalar(_)) => Err(format!("{bits:#x} does not fit into {ty}")),
        (Argument::Tensor(_), _) => Err(format!("a tensor was given; expected what is {ty}")),
        (Argument::Buffer(_), _) => Err(format!("a buffer was given; expected {ty}")),
        (Argument::Scalar(_), _) => Err(format!("a scalar was given; expected a buffer for {ty}")),
    }
}

fn fits(bits: u64, element: Element) -> bool {
    bits & !super::arithmetic::mask(element.bits()) == 0
}

/// A grid being run.
struct Launch<'a> {
    emulator: &'a Emulator<'a>,
    grid: [u32; 3],
    cluster: Cluster,
    memory: &'a mut GlobalMemory,
    tensors: Vec<Option<Tensor>>,
    transactions: Transactions,
    counts: Counts,
    steps: u64,
    step_limit: u64,
}

impl Launch<'_> {
    /// Runs the cluster whose first block is at `first` in the grid.
    fn run(&mut self, first: [u32; 3]) -> Result<(), Fault> {
        let mut outside = Outside {
            program: &self.emulator.program,
            target: self.emulator.target,
            meanings: self.emulator.meanings,
            global: self.memory,
            tensors: &self.tensors,
            printer: self.emulator.printer,
            grid: self.grid,
            transactions: &mut self.transactions,
            steps: &mut self.steps,
            step_limit: self.step_limit,
        };
        self.cluster.run(first, &mut outside).map_err(|stop| self.placed(first, stop))?;
        self.counts = self.counts.most(self.cluster.counts());
        Ok(())
    }

    /// The fault with its place.
    fn placed(&self, first: [u32; 3], stop: Stop) -> Fault {
        let statements = self.emulator.kernel.statements();
        let text =
            |operation: usize| statements.get(operation).map(|one| text::statement_line(one)).unwrap_or_default();
        let operation = stop.operation as usize;
        let LaneFault { lane, mut kind } = stop.fault;
        if let Some(other) = kind.other_mut() {
            other.text = text(other.operation);
        }
        let block = [first[0] + stop.block, first[1], first[2]];
        let place = FaultPlace { operation, text: text(operation), block, warp: stop.warp, lane };
        Fault { kernel: self.emulator.kernel.name.clone(), place: Some(Box::new(place)), kind }
    }

    fn report(&self) -> RunReport {
        RunReport {
            counts: self.counts,
            transactions_loaded: self.transactions.loaded,
            transactions_stored: self.transactions.stored,
            units_prefetched: self.transactions.prefetched.len() as u64,
            shared_bytes_stored: self.cluster.shared_bytes_stored(),
            steps: self.step_limit - self.steps,
        }
    }
}
