//! Rows of a vendor's instruction table.

use serde::{Deserialize, Serialize};

use super::{BlockOperand, Completion, MatrixFigure, MemoryOperand, Numerics, TensorCopyOperand, TensorOperand};
use tilewright_layout::f2::{Subspace, multiply};
use tilewright_layout::{Dim, LinearLayout};

/// One instruction of a target: what it reads and writes, where its operands lie, what it means.
///
/// Generic algorithms fit rows by left division of layouts; none asks for a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// The name by which kernel IR refers to it; unique in the target.
    pub name: String,
    /// What it is for.
    pub kind: InstructionKind,
    /// Its operands, results first.
    pub operands: Vec<Operand>,
    /// Cycles for which one issue by one warp occupies its pipe, where known.
    pub cycles: Option<f64>,
    /// What it computes.
    pub semantics: Semantics,
    /// When it is done. Absent in the bytes of writers that know only [`Completion::AtOnce`].
    #[serde(default, skip_serializing_if = "Completion::is_at_once")]
    pub completion: Completion,
    /// How its sums round, where it multiplies floating-point numbers; where nothing is said, as
    /// [`Numerics::default`] assumes.
    #[serde(default)]
    pub numerics: Option<Numerics>,
    /// The vendor's document or tool from which the row was taken.
    pub source: String,
}

impl Semantics {
    /// Whether matrices are multiplied.
    #[must_use]
    pub fn multiplies(&self) -> bool {
        matches!(self, Self::Contract | Self::ContractSaturating | Self::CountDifferent)
    }
}

impl Instruction {
    /// M, N and K of a product; none of anything else.
    ///
    /// A layout has sizes that are powers of two, a product need not: where a tile in memory has other sizes, operands
    /// in registers have the layouts of the tile that encloses it. Registers all of whose elements lie beyond the
    /// product, the last ones of a lane, are not read, and what is written to them means nothing.
    #[must_use]
    pub fn extent(&self) -> Option<[u64; 3]> {
        if !self.semantics.multiplies() {
            return None;
        }
        let (a, b) = (self.tile("a")?, self.tile("b")?);
        let (m, n) = match self.tile("d") {
            // What is in memory has the sizes that there are.
            Some(d) => (a[0].min(d[0]), b[1].min(d[1])),
            None => (a[0], b[1]),
        };
        Some([m, n, a[1].min(b[0])])
    }

    /// Sizes along dim0 and dim1 of the tile of an operand.
    fn tile(&self, required: &str) -> Option<[u64; 2]> {
        self.operands.iter().find_map(|operand| match operand {
            Operand::Register { role, layout, .. } if role == required => {
                Some([0, 1].map(|axis| 1 << layout.out_bits(Dim::tensor(axis))))
            }
            Operand::Memory(memory) if memory.role == required => Some(memory.shape),
            Operand::Tensor(tile) if tile.role == required => {
                Some([0, 1].map(|axis| 1 << tile.layout.out_bits(Dim::tensor(axis))))
            }
            _ => None,
        })
    }

    /// The tile in tensor memory of this role.
    #[must_use]
    pub fn tensor(&self, required: &str) -> Option<&TensorOperand> {
        self.operands.iter().filter_map(Operand::tensor).find(|tile| tile.role == required)
    }

    /// Whether each factor is multiplied by scales, `scale_a` and `scale_b`.
    #[must_use]
    pub fn takes_scales(&self) -> bool {
        self.operands.iter().any(|operand| matches!(operand.role(), Some("scale_a" | "scale_b")))
    }

    /// How many registers, in elements and counted from the first, a lane needs of an operand in registers: all that
    /// its layout has, but of a product that is no power of two those that hold something of it.
    #[must_use]
    pub fn registers(&self, operand: &Operand) -> u64 {
        let Operand::Register { role, layout, .. } = operand else { return 0 };
        let all = 1u64 << layout.in_bits(Dim::REGISTER);
        let Some([m, n, k]) = self.extent() else { return all };
        let within = match role.as_str() {
            "a" => [m, k],
            "b" => [k, n],
            "c" | "d" => [m, n],
            _ => return all,
        };
        let along = |axis: usize, dim| {
            let at = move |&column: &u64| layout.outs().coordinate(column, Dim::tensor(axis));
            layout.columns_of(dim).iter().map(at)
        };
        // The least coordinate of a register over all lanes: what is left of it without their highest bits.
        let axes = [0, 1].map(|axis| {
            let others = along(axis, Dim::LANE).chain(along(axis, Dim::WARP));
            (along(axis, Dim::REGISTER).collect::<Vec<_>>(), Subspace::span(others.map(u64::reverse_bits)))
        });
        let is_within = |&register: &u64| {
            axes.iter().zip(within).all(|((columns, others), size)| {
                others.reduce(multiply(columns, register).reverse_bits()).reverse_bits() < size
            })
        };
        (0..all).rev().find(is_within).map_or(0, |last| last + 1)
    }
}

/// What an instruction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InstructionKind {
    /// Multiplies matrices.
    Matrix,
    /// Moves data between registers and shared memory.
    SharedMove,
    /// Copies between global and shared memory, past the registers; of its operands the destination comes first.
    AsyncCopy,
    /// Moves data between registers and tensor memory, or from shared to tensor memory.
    TensorMove,
    /// Brings global memory nearer, such as into a cache.
    Prefetch,
    /// Moves data from global memory to registers.
    GlobalMove,
}

/// Where one operand of an instruction lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operand {
    /// Registers of the lanes of a warp.
    Register {
        /// What it is called: `a`, `b`, `c`, `d`; of products that scale, `scale_a` and `scale_b`.
        role: String,
        /// Name of the element type as the vendor writes it: `f16`, `tf32`, `e4m3`, ...
        element: String,
        /// Width of an element in bits.
        bits: u32,
        /// From (register, lane) to the operand's tile, dim0 x dim1: M x K for `a`, K x N for `b`,
        /// M x N for `c` and `d`; for scales rows of `a`, or columns of `b`, x blocks of K. Where a tile is several
        /// independent blocks, dim2 is the block. Where several warps issue the instruction together, from
        /// (register, lane, warp), warps being counted from a multiple of how many they are.
        layout: LinearLayout,
    },
    /// Shared memory addressed by the lanes.
    Access {
        /// From (register, lane, byte) to (slot, byte): which lane receives, or gives, what; of a copy from
        /// global memory, which has no registers, from (lane, byte).
        data: LinearLayout,
        /// From lane to slot: which lane gives the address of which slot.
        address: LinearLayout,
        /// Alignment of every address in bytes.
        alignment: u32,
    },
    /// A tile in shared memory, read by the instruction itself.
    Memory(MemoryOperand),
    /// Global memory addressed by the lanes. A copy brings each byte that a lane has here to the place that the
    /// lane's same byte has in the operand [`Operand::Access`].
    Global {
        /// From (lane, byte) to (slot, byte).
        data: LinearLayout,
        /// From lane to slot: which lane gives the address of which slot.
        address: LinearLayout,
        /// Alignment of every address in bytes.
        alignment: u32,
    },
    /// One truth value a lane: where it is false the lane reads nothing, and what it writes is zero.
    Predicate,
    /// One value for the whole warp.
    Uniform,
    /// A box of a tensor in shared memory; its address, the same in all lanes.
    Box(TensorCopyOperand),
    /// The map of the tensor whose box it is.
    TensorMap,
    /// Where the box begins in the tensor along an axis, which may be outside: an `i32` with sign, the same in all
    /// lanes. The axes follow each other as in the map; of a block of a matrix its first column, then its first row.
    Coordinate,
    /// A block of a matrix in global memory; the address of the matrix, the same in all lanes.
    Block(BlockOperand),
    /// A figure of that matrix.
    Matrix(MatrixFigure),
    /// Bytes of shared memory that follow each other; the address of the first, the same in all lanes.
    SharedSpan {
        /// Alignment of the address in bytes.
        alignment: u32,
    },
    /// Bytes of global memory that follow each other; the address of the first, the same in all lanes.
    GlobalSpan {
        /// Alignment of the address in bytes.
        alignment: u32,
    },
    /// How many bytes the spans have: an `i32`, the same in all lanes.
    SpanBytes {
        /// They are a multiple of so many.
        grain: u32,
    },
    /// The address of an mbarrier in shared memory, the same in all lanes, on which it completes.
    Mbarrier,
    /// A tile in tensor memory. Of role `d` it holds the sums before and after, of `a` the first factor; scales are rows
    /// of `a`, or columns of `b`, x blocks of K.
    Tensor(TensorOperand),
    /// One truth value, the same in all lanes: where it is false the sums begin at zero, and what the tile held is
    /// not read.
    Accumulate,
    /// A word that is the same wherever the instruction is issued: no value of a kernel, but part of it.
    Constant {
        /// What it is called.
        role: String,
        /// Width in bits.
        bits: u32,
        /// The word.
        value: u64,
    },
}

impl Operand {
    /// What an operand that is a tile of a matrix is called.
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        match self {
            Self::Register { role, .. } => Some(role),
            Self::Memory(memory) => Some(&memory.role),
            Self::Tensor(tile) => Some(&tile.role),
            _ => None,
        }
    }

    /// The tile in tensor memory that it is.
    #[must_use]
    pub fn tensor(&self) -> Option<&TensorOperand> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// What an instruction computes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Semantics {
    /// The destination gets the source's bits.
    Move,
    /// No value changes: what is named of memory is brought nearer, some time, and nobody waits for it.
    Prefetch,
    /// `d = a * b + c`, sums over dim1 of `a` and dim0 of `b`; each factor times its scale where the row takes scales.
    /// Integers wrap.
    Contract,
    /// The same of integers whose sum, exact till then, becomes the greatest or the least of the type of `d` where it
    /// is beyond.
    ContractSaturating,
    /// `d = c +` how many elements of a row of `a` and a column of `b`, of one bit each, differ.
    CountDifferent,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CanonicalLayout, Completion, Descriptor, Field, MemoryOperand, Step, Stride, XorSwizzle};
    use tilewright_layout::Bases;

    fn held(role: &str, registers: Bases, lanes: Bases, sizes: [u64; 2]) -> Operand {
        let dims = [(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])];
        let layout = LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &dims);
        Operand::Register {
            role: role.to_owned(),
            element: "s32".to_owned(),
            bits: 32,
            layout: layout.expect("the bases fit"),
        }
    }

    /// Of 4 x 8 sums 4 x 6: registers hold two neighbouring columns, lanes four rows and the next two columns.
    fn row() -> Instruction {
        let field = Field { at: 0, width: 8, grain: 4 };
        let axes = [4, 6].map(|count| vec![Step { count, stride: Stride::Bytes(4) }]);
        let alone =
            CanonicalLayout { name: "rows".to_owned(), mode: 0, axes, mix: XorSwizzle::default(), alignment: 4 };
        let b = MemoryOperand {
            role: "b".to_owned(),
            element: "s32".to_owned(),
            bits: 32,
            shape: [4, 6],
            arrangements: vec![alone],
            descriptor: Descriptor {
                bits: 32,
                start: field,
                strides: vec![],
                mode: Field { at: 30, ..field },
                fixed: 0,
            },
        };
        let sums = |role| held(role, vec![vec![0, 1], vec![0, 4]], vec![vec![1, 0], vec![2, 0], vec![0, 2]], [4, 8]);
        let a = held("a", vec![vec![0, 1], vec![0, 2]], vec![vec![1, 0], vec![2, 0], vec![0, 0]], [4, 4]);
        Instruction {
            name: "mad".to_owned(),
            kind: InstructionKind::Matrix,
            operands: vec![sums("d"), a, Operand::Memory(b), sums("c")],
            cycles: None,
            semantics: Semantics::Contract,
            completion: Completion::AtOnce,
            numerics: None,
            source: "made up".to_owned(),
        }
    }

    #[test]
    fn a_product_is_as_large_as_its_tile_in_memory() {
        let row = row();
        assert_eq!(row.extent(), Some([4, 6, 4]));
        // Register 2 has columns 4 of lanes below, and column 6 of the others; register 3 has column 5.
        assert_eq!(row.operands.iter().map(|operand| row.registers(operand)).collect::<Vec<_>>(), [4, 4, 0, 4]);
        let with_columns = |columns| {
            let mut row = row.clone();
            if let Operand::Memory(memory) = &mut row.operands[2] {
                memory.shape[1] = columns;
            }
            (row.extent().map(|extent| extent[1]), row.registers(&row.operands[0]))
        };
        assert_eq!([5, 4, 1].map(with_columns), [(Some(5), 3), (Some(4), 2), (Some(1), 1)]);
    }

    #[test]
    fn what_is_no_product_has_no_extent_and_needs_all_registers() {
        let moved = Instruction { semantics: Semantics::Move, ..row() };
        assert_eq!((moved.extent(), moved.registers(&moved.operands[0])), (None, 4));
    }
}
