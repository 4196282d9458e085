//! Launches: execution of a grid, one cluster after another.

use std::collections::VecDeque;

use super::access::Transactions;
use super::cluster::{Cluster, RunState, Stop};
use super::fault::{Fault, FaultKind, FaultLocation, LaneFault};
use super::global_races::GlobalRaces;
use super::mapped_tensor::{Tensor, TensorMapArgument};
use super::memory::{BufferHandle, GlobalMemory};
use super::print::PrintReceiver;
use super::program::{Program, decode};
use super::semantics::SemanticsTable;
use tilewright_kernel::{Counts, Element, Kernel, Op, Parameter, Type, text, verify_without_uniformity};
use tilewright_target::TargetDescription;

/// The argument of a launch for one kernel parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A buffer, for a pointer parameter: its address is passed.
    Buffer(BufferHandle),
    /// An address within a buffer, for a pointer parameter.
    Pointer {
        /// The buffer that contains the address.
        buffer: BufferHandle,
        /// Offset of the address from the start of the buffer, in bytes.
        offset: u64,
    },
    /// The bits of a scalar parameter.
    Scalar(u64),
    /// A tensor, for a tensor-map parameter.
    Tensor(TensorMapArgument),
}

/// Limits of a run, and whether it detects races in global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Maximum number of executed operations; an operation counts once for each warp that executes it.
    pub steps: u64,
    /// Maximum number of bytes of the registers of all lanes of one cluster.
    pub register_bytes: u64,
    /// Whether races in global memory are faults. Their detection takes memory and time.
    pub global_races: bool,
    /// Number of executed operations after which no further cluster starts, for estimates; the clusters that run are
    /// spread over the grid. `None` runs all of them.
    pub sampled_steps: Option<u64>,
}

impl Default for RunLimits {
    /// The default limits: 10^8 operations and 4 GiB of registers, all clusters; races in global memory are not
    /// detected.
    fn default() -> Self {
        Self { steps: 100_000_000, register_bytes: 1 << 32, global_races: false, sampled_steps: None }
    }
}

/// Statistics of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunReport {
    /// Counts of a warp: the maximum over all warps of all blocks, count by count.
    pub counts: Counts,
    /// Number of sectors of global memory that all warps of all blocks loaded: for each load of a warp, the distinct
    /// sectors of `global.transaction_bytes` (of the target) that its lanes touch.
    pub transactions_loaded: u64,
    /// Number of sectors of global memory that all warps stored, counted as for loads.
    pub transactions_stored: u64,
    /// Number of distinct sectors of global memory that were prefetched.
    pub sectors_prefetched: u64,
    /// Number of bytes that all lanes of all blocks stored to shared memory; several stores to one address all count.
    pub shared_bytes_stored: u64,
    /// Number of operations that all warps executed; constants and casts that only reinterpret bits do not count.
    pub steps: u64,
    /// Number of clusters that ran, fewer than those of the grid only if [`RunLimits::sampled_steps`] is set.
    pub clusters: u64,
}

/// A kernel prepared for execution on a target.
pub struct Emulator<'a> {
    kernel: &'a Kernel,
    target: &'a TargetDescription,
    semantics: Option<&'a SemanticsTable>,
    printer: Option<&'a PrintReceiver<'a>>,
    program: Program<'a>,
}

/// Runs a kernel once over a grid, without vendor instructions; `arguments` has one argument for each kernel parameter.
///
/// # Errors
/// [`Fault`] if the kernel is invalid, the target cannot launch it, an argument does not match its parameter, an
/// operation fails, or the run exceeds a limit.
///
/// # Examples
/// ```
/// use tilewright_emulator::{Argument, GlobalMemory, RunLimits, run_kernel};
/// use tilewright_kernel::{Binary, Builder, Element, MemorySpace, SpecialRegister, StaticLaunchConfig, Type};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // Each of 8 lanes doubles one integer.
/// let config = StaticLaunchConfig::new(8, 1);
/// let mut builder = Builder::new("double", config, &[("data", Type::Pointer(MemorySpace::Global))]);
/// let lane = builder.special(SpecialRegister::Lane);
/// let (data, offset) = (builder.parameter(0), builder.binary_const(Binary::Mul, lane, 4));
/// let address = builder.ptr_add(data, offset);
/// let value = builder.load(Type::Scalar(Element::I32), address, 0, None);
/// let twice = builder.binary(Binary::Add, value, value);
/// builder.store(address, 0, twice, None);
/// let mut memory = GlobalMemory::new();
/// let buffer = memory.allocate_with(&(0..8_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
/// let (kernel, arguments) = (builder.finish(), [Argument::Buffer(buffer)]);
/// let report = run_kernel(&kernel, &target, [1; 3], &arguments, &mut memory, &RunLimits::default())?;
/// assert_eq!(memory.read(buffer, 4 * 7, 4)?, 14_u32.to_le_bytes());
/// assert_eq!((report.transactions_loaded, report.transactions_stored), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_kernel(
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
    /// Prepares a kernel for runs. Verifies the kernel's structure, but not that collective operations are under
    /// uniform control flow, which the run checks.
    ///
    /// # Errors
    /// [`FaultKind::Invalid`] if the kernel violates the rules of the IR, [`FaultKind::Launch`] if the target does not
    /// allow its lanes, warps or blocks, [`FaultKind::SharedLimit`] if a block of the target has less shared memory
    /// than it needs.
    pub fn new(kernel: &'a Kernel, target: &'a TargetDescription) -> Result<Self, Fault> {
        let fault = |kind| Fault { kernel: kernel.name.clone(), location: None, kind };
        verify_without_uniformity(kernel).map_err(|error| fault(FaultKind::Invalid(Box::new(error))))?;
        check_launch(kernel, target).map_err(fault)?;
        Ok(Self { kernel, target, semantics: None, printer: None, program: decode(kernel, target) })
    }

    /// Sets the semantics of vendor instructions.
    #[must_use]
    pub fn with_semantics(self, semantics: &'a SemanticsTable) -> Self {
        Self { semantics: Some(semantics), ..self }
    }

    /// Sets the receiver of printed values, which are dropped otherwise.
    #[must_use]
    pub fn with_printer(self, printer: &'a PrintReceiver<'a>) -> Self {
        Self { printer: Some(printer), ..self }
    }

    /// Runs the kernel for all blocks of the grid, on buffers in `memory`; `arguments` has one argument for each kernel
    /// parameter.
    ///
    /// # Errors
    /// [`Fault`] if the kernel is invalid, the target cannot launch it, an argument does not match its parameter, an
    /// operation fails, or the run exceeds a limit.
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
            let message =
                format!("the grid {grid:?} does not consist of clusters of {blocks} blocks along its first axis");
            return Err(self.fault(FaultKind::Launch(message)));
        }
        let mut launch = self.launch(grid, &arguments, tensors, memory, limits).map_err(|kind| self.fault(kind))?;
        let [columns, rows, planes] = [grid[0] / blocks, grid[1], grid[2]].map(u64::from);
        let clusters = columns * rows * planes;
        for number in 0..clusters {
            let index = match limits.sampled_steps {
                Some(steps) if launch.has_sampled(steps) => break,
                Some(_) => spread(number, clusters),
                None => number,
            };
            let [x, y, z] = [index % columns, index / columns % rows, index / columns / rows].map(|index| index as u32);
            launch.start([x * blocks, y, z])?;
        }
        launch.finish()?;
        Ok(launch.report())
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault { kernel: self.kernel.name.clone(), location: None, kind }
    }

    /// Returns, for each argument, the 64 bits that its kernel parameter receives.
    fn arguments(&self, arguments: &[Argument], memory: &GlobalMemory) -> Result<Vec<u64>, FaultKind> {
        let parameters = &self.kernel.parameters;
        if arguments.len() != parameters.len() {
            let message = format!("{} arguments were given; expected {}", arguments.len(), parameters.len());
            return Err(FaultKind::Argument { index: arguments.len().min(parameters.len()), message });
        }
        let bits = |(index, (argument, parameter)): (usize, (&Argument, &Parameter))| match argument {
            // The bits of a tensor-map argument are its parameter index.
            Argument::Tensor(_) if parameter.ty == Type::TensorMap => Ok(index as u64),
            _ => {
                argument_bits(*argument, parameter.ty, memory).map_err(|message| FaultKind::Argument { index, message })
            }
        };
        arguments.iter().zip(parameters).enumerate().map(bits).collect()
    }

    /// Returns the tensor that is bound to each tensor-map parameter, by parameter index; `None` for other parameters.
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
        let arguments = arguments.to_vec();
        Ok(Launch {
            emulator: self,
            grid,
            new_cluster: Box::new(move || {
                Cluster::new(launch, &self.program, &arguments, &buffers, end as usize, self.target)
            }),
            idle: Vec::new(),
            suspended: VecDeque::new(),
            most_suspended: (SUSPENDED_BYTES / bytes.max(1)).max(1) as usize,
            memory,
            tensors,
            transactions: Transactions::default(),
            counts: Counts::default(),
            steps: limits.steps,
            step_limit: limits.steps,
            races: limits.global_races.then(|| GlobalRaces::new(self.kernel)),
            programs: 0,
        })
    }
}

/// Returns the cluster that runs as the one with this number in a sample: each of `clusters` clusters once, in an order
/// that spreads any first ones over the grid, from its middle on.
fn spread(number: u64, clusters: u64) -> u64 {
    let has_common_divisor = |of: u64| {
        let (mut a, mut b) = (of, clusters);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    // Multiples of the golden section are spread evenly.
    let mut stride = (clusters as f64 * 0.618_034) as u64;
    while has_common_divisor(stride) {
        stride += 1;
    }
    ((u128::from(clusters / 2) + u128::from(number) * u128::from(stride)) % u128::from(clusters)) as u64
}

/// Checks that the target supports the launch configuration.
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
    let most = target.limits.named_barriers;
    let beyond = |op: &Op| match *op {
        Op::NamedBarrier { number, .. } => number >= most,
        Op::IndexedBarrier { .. } => most == 0,
        _ => false,
    };
    if kernel.statements().into_iter().any(|statement| beyond(&statement.op)) {
        return Err(FaultKind::Launch(format!(
            "the kernel has named barriers for some warps; the target has {most} of them"
        )));
    }
    for statement in kernel.statements() {
        if let Op::SetMaxRegisters { registers, .. } = statement.op {
            target.limits.check_register_change(registers, lanes).map_err(FaultKind::Launch)?;
        }
    }
    let (bytes, limit) = (kernel.shared_bytes(), u64::from(target.shared.bytes));
    if bytes > limit {
        return Err(FaultKind::SharedLimit { bytes, limit });
    }
    Ok(())
}

fn argument_bits(argument: Argument, ty: Type, memory: &GlobalMemory) -> Result<u64, String> {
    let address = |buffer, offset: u64| match memory.holds(buffer) {
        true => Ok(memory.address(buffer).wrapping_add(offset)),
        false => Err("the buffer does not belong to the memory given".to_owned()),
    };
    match (argument, ty) {
        (Argument::Buffer(buffer), Type::Pointer(_)) => address(buffer, 0),
        (Argument::Pointer { buffer, offset }, Type::Pointer(_)) => address(buffer, offset),
        (Argument::Scalar(bits), Type::Scalar(element)) if fits(bits, element) => Ok(bits),
        (Argument::Scalar(bits), Type::Scalar(_)) => Err(format!("{bits:#x} does not fit into {ty}")),
        (Argument::Tensor(_), _) => Err(format!("a tensor was given; expected {ty}")),
        (Argument::Buffer(_) | Argument::Pointer { .. }, _) => Err(format!("a buffer was given; expected {ty}")),
        (Argument::Scalar(_), _) => Err(format!("a scalar was given; expected a buffer for {ty}")),
    }
}

fn fits(bits: u64, element: Element) -> bool {
    bits & !super::arithmetic::mask(element.bits()) == 0
}

/// Max bytes of host memory for the registers of suspended clusters.
const SUSPENDED_BYTES: u64 = 1 << 30;

/// The state of a grid in execution.
struct Launch<'a> {
    emulator: &'a Emulator<'a>,
    grid: [u32; 3],
    /// Creates the state of a cluster that has not started.
    new_cluster: Box<dyn Fn() -> Cluster + 'a>,
    /// Finished clusters, whose memory later clusters reuse.
    idle: Vec<Cluster>,
    /// The queue of suspended clusters, which have yielded so that other clusters make progress; the first continues
    /// first.
    suspended: VecDeque<RunningCluster>,
    /// Max number of suspended clusters; if there are as many, they continue before another cluster starts.
    most_suspended: usize,
    memory: &'a mut GlobalMemory,
    tensors: Vec<Option<Tensor>>,
    transactions: Transactions,
    counts: Counts,
    steps: u64,
    step_limit: u64,
    /// The record of accesses of global memory, from which races are detected; `None` if the run does not detect races
    /// of global memory.
    races: Option<GlobalRaces>,
    /// Number of clusters that have been started.
    programs: u32,
}

/// A cluster in execution.
struct RunningCluster {
    cluster: Cluster,
    /// Index in the grid of its first block.
    first: [u32; 3],
    /// Number of the cluster in order of start, from one.
    program: u32,
    /// Number of the last cluster whose accesses of global memory are ordered before the next ones of this cluster; 0
    /// if there is none.
    known: u32,
}

impl Launch<'_> {
    /// Starts the cluster whose first block has the grid index `first`, and runs it until it ends or yields. While
    /// there are `most_suspended` suspended clusters, these continue first. If the number of clusters started so far is
    /// then a power of two, all suspended clusters continue once.
    fn start(&mut self, first: [u32; 3]) -> Result<(), Fault> {
        while self.suspended.len() >= self.most_suspended {
            self.resume_all()?;
        }
        self.programs += 1;
        let mut cluster = self.idle.pop().unwrap_or_else(|| (self.new_cluster)());
        cluster.start();
        self.run(RunningCluster { cluster, first, program: self.programs, known: 0 })?;
        if self.programs.is_power_of_two() { self.resume_all() } else { Ok(()) }
    }

    /// Whether the clusters so far have executed `steps` operations, and none waits for another one.
    fn has_sampled(&self, steps: u64) -> bool {
        self.suspended.is_empty() && self.step_limit - self.steps >= steps
    }

    /// Runs the suspended clusters until all have finished.
    fn finish(&mut self) -> Result<(), Fault> {
        while !self.suspended.is_empty() {
            self.resume_all()?;
        }
        Ok(())
    }

    /// Lets every suspended cluster continue once.
    fn resume_all(&mut self) -> Result<(), Fault> {
        for _ in 0..self.suspended.len() {
            if let Some(running) = self.suspended.pop_front() {
                self.run(running)?;
            }
        }
        Ok(())
    }

    /// Runs a cluster until it ends or yields.
    fn run(&mut self, mut running: RunningCluster) -> Result<(), Fault> {
        let first = running.first;
        let mut outside = RunState {
            program: &self.emulator.program,
            target: self.emulator.target,
            semantics: self.emulator.semantics,
            global: self.memory,
            tensors: &self.tensors,
            printer: self.emulator.printer,
            grid: self.grid,
            transactions: &mut self.transactions,
            steps: &mut self.steps,
            step_limit: self.step_limit,
            races: self.races.as_mut(),
        };
        if let Some(races) = &mut outside.races {
            races.enter(running.program, running.known);
        }
        let outcome = running.cluster.run(first, &mut outside);
        running.known = outside.races.as_ref().map_or(0, |races| races.known());
        match outcome {
            Ok(true) => {
                self.counts = self.counts.componentwise_max(running.cluster.counts());
                self.idle.push(running.cluster);
                Ok(())
            }
            Ok(false) => {
                self.suspended.push_back(running);
                Ok(())
            }
            Err(stop) => Err(self.placed(first, stop)),
        }
    }

    /// Converts a stop to a fault: adds the operation with its text and source location, the block and the warp.
    fn placed(&self, first: [u32; 3], stop: Stop) -> Fault {
        let kernel = self.emulator.kernel;
        let statements = kernel.statements();
        let text =
            |operation: usize| statements.get(operation).map(|one| text::print_statement(one)).unwrap_or_default();
        let operation = stop.operation as usize;
        let LaneFault { lane, mut kind } = stop.fault;
        let source = |operation: usize| {
            statements.get(operation).and_then(|one| kernel.locations.get(one.location? as usize)).cloned()
        };
        if let Some(other) = kind.other_mut() {
            other.text = text(other.operation);
            other.source = source(other.operation);
        }
        let block = [first[0] + stop.block, first[1], first[2]];
        let (text, source) = (text(operation), source(operation));
        let location = FaultLocation { operation, text, source, block, warp: stop.warp, lane };
        Fault { kernel: kernel.name.clone(), location: Some(Box::new(location)), kind }
    }

    fn report(&self) -> RunReport {
        RunReport {
            counts: self.counts,
            transactions_loaded: self.transactions.loaded,
            transactions_stored: self.transactions.stored,
            sectors_prefetched: self.transactions.prefetched.len() as u64,
            shared_bytes_stored: self.idle.iter().map(Cluster::shared_bytes_stored).sum(),
            steps: self.step_limit - self.steps,
            clusters: u64::from(self.programs),
        }
    }
}
