//! One warp: its registers, where it is, which of its lanes are there.

use std::ops::Range;

use super::access::{BLOCK_SHIFT, Memories, Transactions, access};
use super::arithmetic;
use super::fault::{FaultKind, LaneFault};
use super::meaning::{Call, Meanings};
use super::memory::GlobalMemory;
use super::program::{Bounds, Copied, Instruction, Program, Step};
use super::rounding;
use super::shared::{Accessor, Epoch, SharedMemory};
use crate::kernel::{Counts, Scope, SpecialRegister};
use crate::target::TargetDescription;

/// What all warps of a block share.
pub(super) struct Surroundings<'a> {
    pub(super) program: &'a Program<'a>,
    pub(super) target: &'a TargetDescription,
    pub(super) meanings: Option<&'a Meanings>,
    pub(super) global: &'a mut GlobalMemory,
    /// Of each block of the cluster.
    pub(super) shared: &'a mut [SharedMemory],
    pub(super) transactions: &'a mut Transactions,
    /// Index of the block in the grid.
    pub(super) block: [u32; 3],
    /// Index of the block in its cluster.
    pub(super) member: u8,
    /// What barriers lie behind the block.
    pub(super) epoch: Epoch,
    /// How many steps may still be run.
    pub(super) steps: &'a mut u64,
    /// How many there were at first.
    pub(super) step_limit: u64,
}

/// Why a warp has stopped for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// It waits at the barrier that is this step, with all of the scope: a block or a cluster.
    Barrier(Scope, usize),
    /// It has ended.
    Ended,
}

/// What is remembered while a region runs.
enum Frame {
    If {
        /// The lanes that came to it.
        outer: u64,
        /// The lanes that the second region is for.
        otherwise: u64,
        /// When the first region began.
        began: u64,
        /// Whether lanes have parted, and the times of the first region are in `parted`.
        parted: bool,
    },
    Loop {
        /// The lanes that came to it.
        outer: u64,
    },
}

/// One warp of the block being run.
pub(super) struct Warp {
    index: u32,
    lanes: usize,
    registers: Vec<u64>,
    next: usize,
    /// A bit for every lane that is here.
    active: u64,
    frames: Vec<Frame>,
    counts: Counts,
    /// Number of the next access to memory.
    time: u64,
    /// The first access after the last barrier of the warp.
    barrier: u64,
    /// Times of the first regions from whose lanes the active ones have parted.
    parted: Vec<Range<u64>>,
    scratch: Vec<u64>,
}

type Done = Result<(), LaneFault>;

impl Warp {
    /// A warp with its constants and arguments in place.
    pub(super) fn new(index: u32, lanes: usize, program: &Program<'_>, arguments: &[u64]) -> Self {
        let mut registers = vec![0; program.registers];
        for &(at, n, bits) in &program.constants {
            registers[at..at + n].fill(bits);
        }
        for (&at, &bits) in program.parameters.iter().zip(arguments) {
            registers[at..at + lanes].fill(bits);
        }
        Self {
            index,
            lanes,
            registers,
            next: 0,
            active: all(lanes),
            frames: Vec::new(),
            counts: Counts::default(),
            time: 0,
            barrier: 0,
            parted: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Goes back to the start, for another block; registers that hold results are stale, but no
    /// verified kernel reads one before it is written.
    pub(super) fn restart(&mut self) {
        self.next = 0;
        self.active = all(self.lanes);
        self.frames.clear();
        self.parted.clear();
        self.counts = Counts::default();
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Runs until the warp has to wait or ends; a fault comes with the step that it happened at.
    pub(super) fn run(&mut self, around: &mut Surroundings<'_>) -> Result<Pause, (usize, LaneFault)> {
        while let Some(step) = around.program.steps.get(self.next) {
            let at = self.next;
            if *around.steps == 0 {
                return Err((at, FaultKind::StepLimit { limit: around.step_limit }.into()));
            }
            *around.steps -= 1;
            self.next += 1;
            if let &Step::Barrier(scope @ (Scope::Block | Scope::Cluster)) = step {
                self.require_all_lanes().map_err(|fault| (at, fault))?;
                let barriers = match scope {
                    Scope::Cluster => &mut self.counts.cluster_barriers,
                    _ => &mut self.counts.barriers,
                };
                *barriers += 1;
                return Ok(Pause::Barrier(scope, at));
            }
            self.step(step, around, at).map_err(|fault| (at, fault))?;
        }
        Ok(Pause::Ended)
    }

    fn step(&mut self, step: &Step<'_>, around: &mut Surroundings<'_>, at: usize) -> Done {
        match step {
            Step::Branch { .. }
            | Step::Otherwise { .. }
            | Step::Join { .. }
            | Step::Enter { .. }
            | Step::Repeat { .. } => self.control(step),
            Step::Access(one) => {
                let time = self.next_time();
                let mut accessor = accessor(self.index, (time, self.barrier), &self.parted, around, at);
                let mut memories = memories(around);
                let (registers, counts) = (&mut self.registers, &mut self.counts);
                access(one, self.lanes, self.active, registers, &mut memories, counts, &mut accessor)
            }
            Step::Exchange { value, lane, to } => self.exchange(*value, *lane, *to),
            Step::ExchangeXor { value, mask, to } => self.exchange_xor(*value, *mask, *to),
            Step::Swap { a, b, lane, to } => self.swap([*a, *b], *lane, *to),
            Step::Barrier(_) => {
                self.require_all_lanes()?;
                // Where a warp's accesses are in order anyway, it only holds the compiler back.
                if !around.target.shared.warp_ordered {
                    self.counts.warp_barriers += 1;
                }
                self.barrier = self.time;
                Ok(())
            }
            Step::Instruction(instruction) => self.instruction(instruction, around, at),
            step => {
                self.compute(step, around.block, around.member);
                Ok(())
            }
        }
    }

    fn next_time(&mut self) -> u64 {
        self.time += 1;
        self.time - 1
    }

    fn require_all_lanes(&self) -> Done {
        match all(self.lanes) & !self.active {
            0 => Ok(()),
            missing => Err(FaultKind::Divergent { missing }.into()),
        }
    }

    /// Steps that neither touch memory nor other lanes. All lanes compute, active or not: what the
    /// others compute is never seen.
    fn compute(&mut self, step: &Step<'_>, block: [u32; 3], member: u8) {
        let registers = &mut self.registers;
        match *step {
            Step::Special { register, to } => {
                let value = match register {
                    SpecialRegister::Lane => None,
                    SpecialRegister::Warp => Some(self.index),
                    SpecialRegister::Program(axis) => Some(block.get(usize::from(axis)).copied().unwrap_or(0)),
                    SpecialRegister::Block => Some(u32::from(member)),
                };
                for (to, lane) in registers[to..to + self.lanes].iter_mut().zip(0..) {
                    *to = value.map_or(lane, u64::from);
                }
            }
            Step::Negate { sign, a, to, n } => each(registers, a, to, n, |x| x ^ sign),
            Step::Truncate { mask, a, to, n } => each(registers, a, to, n, |x| x & mask),
            Step::ExtendSign { from_bits, mask, a, to, n } => {
                each(registers, a, to, n, |x| arithmetic::sign_extend(x, from_bits) as u64 & mask);
            }
            Step::Convert { from, signed, element, a, to, n } => {
                each(registers, a, to, n, |x| rounding::convert(from, signed, element, x));
            }
            Step::Integer { op, bits, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                arithmetic::integer(op, bits, a, b, to);
            }
            Step::Float { op, element, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                arithmetic::float(op, element, a, b, to);
            }
            Step::Compare { op, bits, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                arithmetic::compare(op, bits, a, b, to);
            }
            Step::Select { condition, a, b, to, n } => {
                self.counts.selects += 1;
                for register in 0..n {
                    let chosen = if registers[condition + register % self.lanes] != 0 { a } else { b };
                    registers[to + register] = registers[chosen + register];
                }
            }
            Step::PermuteBytes { a, b, selector, alternative, to } => {
                self.counts.permutes += 1;
                for lane in 0..self.lanes {
                    let other = alternative.filter(|(condition, _)| registers[condition + lane] != 0);
                    let selector = other.map_or(selector, |(_, other)| other);
                    registers[to + lane] =
                        arithmetic::permute_bytes(registers[a + lane], registers[b + lane], selector);
                }
            }
            Step::Advance { pointer, bytes, bytes_bits, mask, to } => {
                let (pointer, bytes, to) = pairs(registers, pointer, bytes, to, self.lanes);
                for ((to, &pointer), &bytes) in to.iter_mut().zip(pointer).zip(bytes) {
                    let moved = pointer.wrapping_add(arithmetic::sign_extend(bytes, bytes_bits) as u64);
                    *to = pointer & !mask | moved & mask;
                }
            }
            Step::ClusterAddress { pointer, block, to } => {
                let (pointer, block, to) = pairs(registers, pointer, block, to, self.lanes);
                for ((to, &pointer), &block) in to.iter_mut().zip(pointer).zip(block) {
                    *to = block << BLOCK_SHIFT | pointer;
                }
            }
            Step::Pack { ref elements, to } => {
                for (index, &element) in elements.iter().enumerate() {
                    registers.copy_within(element..element + self.lanes, to + index * self.lanes);
                }
            }
            Step::Regroup { from_bits, to_bits, a, to, to_count } => {
                regroup(registers, self.lanes, (from_bits, a), (to_bits, to), to_count);
            }
            _ => {}
        }
    }

    fn exchange(&mut self, value: usize, lane: usize, to: usize) -> Done {
        self.require_all_lanes()?;
        self.counts.exchanges += 1;
        let lanes = self.lanes;
        let (values, sources, results) = pairs(&mut self.registers, value, lane, to, lanes);
        for (reader, (result, &from)) in results.iter_mut().zip(sources).enumerate() {
            let source = usize::try_from(from).ok().and_then(|from| values.get(from));
            let kind = || FaultKind::ExchangeLane { from, lanes: lanes as u32 };
            *result = *source.ok_or_else(|| LaneFault { lane: Some(reader as u32), kind: kind() })?;
        }
        Ok(())
    }

    fn exchange_xor(&mut self, value: usize, mask: usize, to: usize) -> Done {
        self.require_all_lanes()?;
        self.counts.exchanges += 1;
        self.counts.exchanges_xor += 1;
        for lane in 0..self.lanes {
            self.registers[to + lane] = self.registers[value + (lane ^ mask)];
        }
        Ok(())
    }

    fn swap(&mut self, from: [usize; 2], bit: usize, to: [usize; 2]) -> Done {
        self.require_all_lanes()?;
        self.counts.exchanges += 1;
        for lane in 0..self.lanes {
            // Lanes with the bit trade `a` and keep `b`; the others trade `b` and keep `a`.
            let (traded, kept) = if lane & bit == 0 { (1, 0) } else { (0, 1) };
            self.registers[to[traded] + lane] = self.registers[from[kept] + (lane ^ bit)];
            self.registers[to[kept] + lane] = self.registers[from[kept] + lane];
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction<'_>, around: &mut Surroundings<'_>, at: usize) -> Done {
        self.require_all_lanes()?;
        let meaning = around.meanings.and_then(|meanings| meanings.get(instruction.name));
        let meaning = meaning.ok_or_else(|| FaultKind::UnknownInstruction { name: instruction.name.to_owned() })?;
        for &(at, ty) in &instruction.results {
            self.registers[at..at + ty.count() as usize * self.lanes].fill(0);
        }
        let time = self.next_time();
        let accessor = accessor(self.index, (time, self.barrier), &self.parted, around, at);
        let target = around.target;
        let mut call = Call {
            instruction,
            lanes: self.lanes,
            registers: &mut self.registers,
            target,
            memories: memories(around),
            counts: &mut self.counts,
            accessor,
        };
        meaning.execute(&mut call)
    }

    fn control(&mut self, step: &Step<'_>) -> Done {
        match step {
            Step::Branch { condition, otherwise } => self.branch(*condition, *otherwise),
            Step::Otherwise { copies, end } => {
                self.copy(copies);
                self.otherwise(*end);
            }
            Step::Join { copies } => {
                self.copy(copies);
                if let Some(Frame::If { outer, parted, .. }) = self.frames.pop() {
                    self.active = outer;
                    if parted {
                        self.parted.pop();
                    }
                }
            }
            Step::Enter { bounds, from, copies, end } => {
                self.copy(copies);
                return self.enter(*bounds, *from, *end);
            }
            Step::Repeat { bounds, copies, body } => {
                self.copy(copies);
                return self.repeat(*bounds, *body);
            }
            _ => {}
        }
        Ok(())
    }

    /// A bit for every active lane for which the test of its registers holds.
    fn lanes_where(&self, holds: impl Fn(&[u64], usize) -> bool) -> u64 {
        let set = |lane: usize| u64::from(holds(&self.registers, lane)) << lane;
        (0..self.lanes).fold(0, |mask, lane| mask | set(lane)) & self.active
    }

    fn branch(&mut self, condition: usize, otherwise: usize) {
        let then = self.lanes_where(|registers, lane| registers[condition + lane] != 0);
        let others = self.active & !then;
        self.frames.push(Frame::If { outer: self.active, otherwise: others, began: self.time, parted: false });
        if then == 0 {
            self.active = others;
            self.next = otherwise;
        } else {
            self.active = then;
        }
    }

    fn otherwise(&mut self, end: usize) {
        let Some(Frame::If { outer, otherwise, began, parted }) = self.frames.last_mut() else { return };
        if *otherwise == 0 {
            self.active = *outer;
            self.frames.pop();
            self.next = end;
        } else {
            *parted = true;
            self.active = *otherwise;
            self.parted.push(*began..self.time);
        }
    }

    fn enter(&mut self, bounds: Bounds, from: usize, end: usize) -> Done {
        self.copy(&[Copied { from, to: bounds.index, n: self.lanes }]);
        if self.lanes_where(|registers, lane| registers[bounds.step + lane] == 0) != 0 {
            return Err(FaultKind::LoopStep.into());
        }
        self.frames.push(Frame::Loop { outer: self.active });
        if !self.narrow(bounds) {
            self.next = end;
        }
        Ok(())
    }

    fn repeat(&mut self, bounds: Bounds, body: usize) -> Done {
        for lane in (0..self.lanes).filter(|lane| self.active >> lane & 1 == 1) {
            let (index, step) = (self.registers[bounds.index + lane], self.registers[bounds.step + lane]);
            if index + step > u64::from(u32::MAX) {
                return Err(LaneFault { lane: Some(lane as u32), kind: FaultKind::LoopIndex { index, step } });
            }
            self.registers[bounds.index + lane] = index + step;
        }
        if self.narrow(bounds) {
            self.next = body;
        }
        Ok(())
    }

    /// Leaves the lanes active that have another turn; where there is none, the loop is left.
    fn narrow(&mut self, bounds: Bounds) -> bool {
        let turn = self.lanes_where(|registers, lane| registers[bounds.index + lane] < registers[bounds.to + lane]);
        self.active = turn;
        if turn == 0
            && let Some(Frame::Loop { outer }) = self.frames.pop()
        {
            self.active = outer;
        }
        turn != 0
    }

    /// Copies registers of the active lanes, all at once.
    fn copy(&mut self, copies: &[Copied]) {
        self.scratch.clear();
        for copied in copies {
            self.scratch.extend_from_slice(&self.registers[copied.from..copied.from + copied.n]);
        }
        let mut values = self.scratch.iter();
        for copied in copies {
            let to = &mut self.registers[copied.to..copied.to + copied.n];
            for (register, (to, value)) in to.iter_mut().zip(&mut values).enumerate() {
                if self.active >> (register % self.lanes) & 1 == 1 {
                    *to = *value;
                }
            }
        }
    }
}

/// A bit for every lane.
fn all(lanes: usize) -> u64 {
    arithmetic::mask(lanes as u32)
}

/// Operands, which always lie below the result, and the result.
fn pairs(registers: &mut [u64], a: usize, b: usize, to: usize, n: usize) -> (&[u64], &[u64], &mut [u64]) {
    let (operands, results) = registers.split_at_mut(to);
    (&operands[a..a + n], &operands[b..b + n], &mut results[..n])
}

fn each(registers: &mut [u64], a: usize, to: usize, n: usize, f: impl Fn(u64) -> u64) {
    let (operands, results) = registers.split_at_mut(to);
    for (to, &x) in results[..n].iter_mut().zip(&operands[a..a + n]) {
        *to = f(x);
    }
}

/// The same bits in elements of another width: `from` and `to` are bits of an element and the place
/// of the first.
fn regroup(registers: &mut [u64], lanes: usize, from: (u32, usize), to: (u32, usize), to_count: usize) {
    for element in 0..to_count {
        let first_bit = element as u32 * to.0;
        for lane in 0..lanes {
            let mut bits = 0;
            let mut filled = 0;
            while filled < to.0 {
                let (source, shift) = ((first_bit + filled) / from.0, (first_bit + filled) % from.0);
                bits |= (registers[from.1 + source as usize * lanes + lane] >> shift) << filled;
                filled += from.0 - shift;
            }
            registers[to.1 + element * lanes + lane] = bits & arithmetic::mask(to.0);
        }
    }
}

fn accessor<'a>(
    warp: u32,
    (time, barrier): (u64, u64),
    parted: &'a [Range<u64>],
    around: &Surroundings<'_>,
    at: usize,
) -> Accessor<'a> {
    Accessor {
        block: around.member,
        epoch: around.epoch,
        warp: warp as u16,
        lane: 0,
        time,
        barrier,
        operation: around.program.numbers.get(at).copied().unwrap_or(0),
        warp_ordered: around.target.shared.warp_ordered,
        parted,
    }
}

fn memories<'b>(around: &'b mut Surroundings<'_>) -> Memories<'b> {
    Memories {
        global: around.global,
        shared: around.shared,
        transaction_bytes: u64::from(around.target.global.transaction_bytes.max(1)),
        transactions: around.transactions,
    }
}
