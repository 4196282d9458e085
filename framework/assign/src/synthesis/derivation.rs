//! How layouts were found: a value that prints for people and serialises for programs.

use std::fmt;

use serde::Serialize;

/// How the layouts of a program were found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Derivation {
    /// The target.
    pub target: String,
    /// Warps and lanes of a block.
    pub warps: u32,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Products, which layouts of registers begin with.
    pub products: Vec<ProductLine>,
    /// Copies between memories.
    pub copies: Vec<CopyLine>,
    /// Tensors in registers, each with the constraint that gave its layout.
    pub registers: Vec<RegisterLine>,
    /// Tensors in shared memory.
    pub memories: Vec<MemoryLine>,
    /// Loops whose copies go ahead.
    pub loops: Vec<LoopLine>,
    /// Conversions of layouts that are left, each with what wants it.
    pub conversions: Vec<String>,
    /// Bytes of shared memory of the program's own tensors.
    pub shared_bytes: u64,
    /// What the program is predicted to take.
    pub prediction: PredictionLine,
    /// How much was looked at.
    pub search: SearchSize,
}

/// A product.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProductLine {
    /// What it gives.
    pub value: String,
    /// The instruction.
    pub instruction: String,
    /// Elements of K that a lane holds side by side, where that was chosen.
    pub k_width: Option<u64>,
    /// Columns that a lane holds side by side, where they are said.
    pub n_width: Option<u64>,
    /// Cycles of the block each time.
    pub cycles: f64,
    /// The layouts of both factors and of the sums.
    pub layouts: [String; 3],
}

/// A copy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CopyLine {
    /// What it became.
    pub operation: String,
    /// The value that it fills or gives.
    pub value: String,
    /// Which lane has what.
    pub layout: String,
    /// Why this layout.
    pub constraint: String,
}

/// A tensor in registers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterLine {
    /// The tensor.
    pub value: String,
    /// What makes it.
    pub operation: String,
    /// The constraint that says its layout.
    pub constraint: String,
    /// The layout.
    pub layout: String,
}

/// What a program is predicted to take where each compute unit gets the same number of blocks, many of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionLine {
    /// Cycles of a compute unit.
    pub cycles: f64,
    /// The blocks that it gets.
    pub blocks_of_a_unit: u64,
    /// Those that are resident together.
    pub resident: u64,
    /// Of what there is not enough for more.
    pub limited_by: String,
    /// 32-bit registers of a lane for tensors.
    pub registers: u64,
    /// Cycles of one block by itself.
    pub latency: f64,
    /// What the time is due to.
    pub bound_by: String,
}

/// A tensor in shared memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryLine {
    /// The tensor.
    pub tensor: String,
    /// Its type before a layout was found.
    pub ty: String,
    /// The layout.
    pub layout: String,
    /// The same as CuTe writes it, swizzles first.
    pub notation: String,
    /// What all that access it ask together, with free strides.
    pub term: Option<String>,
    /// Slots of wavefronts of all accesses, those in loops weighted.
    pub price: f64,
    /// Bytes of all its buffers.
    pub bytes: u64,
    /// Who accesses it.
    pub accesses: Vec<AccessLine>,
}

/// One that accesses a tensor in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessLine {
    /// The operation.
    pub operation: String,
    /// The operation, and the value that it moves.
    pub name: String,
    /// The row of the instruction table, where it is no plain access.
    pub instruction: Option<String>,
    /// Bits that a lane moves together.
    pub vector_bits: u64,
    /// The layout that it asks for, with free strides.
    pub term: Option<String>,
    /// Accesses of a warp.
    pub issued: u64,
    /// Wavefronts of a warp.
    pub wavefronts: u64,
    /// As many as it takes at least.
    pub least: u64,
    /// Those due to conflicts of banks.
    pub excess: u64,
    /// How often it is taken to happen.
    pub weight: u64,
}

/// A loop that fills tensors in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoopLine {
    /// Buffers of each tensor.
    pub stages: u32,
    /// The tensors.
    pub tensors: Vec<String>,
    /// Whether boxes fill them, whose bytes arrive at an mbarrier.
    pub boxes: bool,
    /// Warps, behind those of the program, that do nothing but issue these.
    pub producers: u32,
    /// Products that go on while the next turn begins.
    pub pending: Vec<String>,
    /// Why copies do not go ahead, where they do not.
    pub rejected: Option<String>,
}

/// How much of the tree of choices was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SearchSize {
    /// Nodes of the tree.
    pub nodes: usize,
    /// Leaves that were solved.
    pub leaves: usize,
    /// Leaves that have no solution.
    pub unsatisfied: usize,
    /// Branches that were cut, since they cost more than the best leaf.
    pub cut: usize,
}

impl Derivation {
    /// Wavefronts above the least of all accesses of shared memory that happen in loops.
    #[must_use]
    pub fn conflicts_in_loops(&self) -> u64 {
        let accesses = self.memories.iter().flat_map(|memory| &memory.accesses);
        accesses.filter(|access| access.weight > 1).map(|access| access.excess).sum()
    }
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "for {}, {} warps of {} lanes", self.target, self.warps, self.lanes)?;
        for product in &self.products {
            let width =
                product.k_width.map(|width| format!(", {width} elements of K side by side")).unwrap_or_default();
            let columns = product.n_width.map(|width| format!(", {width} columns side by side")).unwrap_or_default();
            writeln!(
                f,
                "product {}: {}{width}{columns}, {:.0} cycles",
                product.value, product.instruction, product.cycles
            )?;
            for (name, layout) in ["a", "b", "sums"].iter().zip(&product.layouts) {
                writeln!(f, "  {name}: {layout}")?;
            }
        }
        for copy in &self.copies {
            writeln!(f, "copy {} by {}: {}", copy.value, copy.operation, copy.constraint)?;
            writeln!(f, "  {}", copy.layout)?;
        }
        for line in &self.registers {
            writeln!(f, "registers {} of {}: {}", line.value, line.operation, line.constraint)?;
            writeln!(f, "  {}", line.layout)?;
        }
        for memory in &self.memories {
            write!(f, "tensor {}: {}, {} bytes", memory.tensor, memory.notation, memory.bytes)?;
            memory.term.iter().try_for_each(|term| write!(f, ", since all ask for {term}"))?;
            writeln!(f)?;
            for access in &memory.accesses {
                let how = access.instruction.as_deref().unwrap_or("plain accesses");
                write!(f, "  {} by {how} of {} bits", access.name, access.vector_bits)?;
                access.term.iter().try_for_each(|term| write!(f, " asks for {term}"))?;
                let AccessLine { issued, wavefronts, least, .. } = access;
                writeln!(f, ": {issued} accesses, {wavefronts} wavefronts, {least} at least")?;
            }
        }
        for of in &self.loops {
            write!(f, "loop that fills {}: {} stages", of.tensors.join(", "), of.stages)?;
            if of.boxes {
                write!(f, ", by boxes that arrive at mbarriers")?;
            }
            if of.producers > 0 {
                write!(f, ", which {} warp of its own issues", of.producers)?;
            }
            if !of.pending.is_empty() {
                write!(f, ", {} waited for in the next turn", of.pending.join(", "))?;
            }
            of.rejected.iter().try_for_each(|reason| write!(f, "; {reason}"))?;
            writeln!(f)?;
        }
        for conversion in &self.conversions {
            writeln!(f, "conversion {conversion}")?;
        }
        let SearchSize { nodes, leaves, unsatisfied, cut } = self.search;
        let PredictionLine { cycles, blocks_of_a_unit, resident, limited_by, registers, latency, bound_by } =
            &self.prediction;
        writeln!(f, "{} bytes of shared memory, {registers} registers of a lane", self.shared_bytes)?;
        writeln!(
            f,
            "predicted: {cycles:.0} cycles for {blocks_of_a_unit} blocks of a compute unit, {resident} at a time by its {limited_by}; {latency:.0} of one alone; most for {bound_by}"
        )?;
        writeln!(f, "searched: {nodes} nodes, {leaves} leaves, {unsatisfied} without solution, {cut} branches cut")
    }
}
