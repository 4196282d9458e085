//! Entries of a vendor's instruction table, and their operands.

use serde::{Deserialize, Serialize};

use super::{
    BlockLoadMatrixParameter, BlockLoadOperand, Completion, MemoryOperand, MmaNumerics, TensorCopyOperand,
    TensorMemoryOperand, named_enum,
};
use tilewright_layout::f2::{Subspace, multiply_vector};
use tilewright_layout::{Dim, LinearLayout};

/// One instruction of a target: its operands with their layouts, and its semantics.
///
/// Generic algorithms match instructions by left division of layouts; none depends on a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// The name that kernel IR uses; unique in the target.
    pub name: String,
    /// Kind of the instruction: MMA, or a kind of data movement.
    pub kind: InstructionKind,
    /// The operands, results first.
    pub operands: Vec<InstructionOperand>,
    /// Number of cycles for which one issue by one warp occupies its pipe; `None` if unknown.
    pub cycles: Option<f64>,
    /// How the results follow from the operands.
    pub semantics: Semantics,
    /// When and how the instruction completes; [`Completion::Immediate`] if serialized bytes lack it.
    #[serde(default, skip_serializing_if = "Completion::is_immediate")]
    pub completion: Completion,
    /// Rounding and order of the accumulation, for floating-point MMA; [`MmaNumerics::default`] if `None`.
    #[serde(default)]
    pub numerics: Option<MmaNumerics>,
    /// The vendor's document or tool that the entry is taken from.
    pub source: String,
}

impl Semantics {
    /// Whether this is an MMA instruction.
    #[must_use]
    pub fn is_mma(&self) -> bool {
        matches!(self, Self::Contract | Self::ContractSaturating | Self::CountDifferent)
    }
}

impl Instruction {
    /// Returns the sizes M, N and K of an MMA instruction; `None` for other instructions.
    ///
    /// M, N and K need not be powers of two, but register layouts have sizes that are. If a tile in memory has a size
    /// that is no power of two, the register operands have the layouts of the enclosing tile whose sizes are powers of
    /// two. Registers whose elements all lie outside of the MMA shape (the last ones of a lane) are not read; values
    /// written to them are undefined.
    #[must_use]
    pub fn mma_shape(&self) -> Option<[u64; 3]> {
        if !self.semantics.is_mma() {
            return None;
        }
        let (a, b) = (self.tile("a")?, self.tile("b")?);
        let (m, n) = match self.tile("d") {
            // Operands in memory have the exact sizes.
            Some(d) => (a[0].min(d[0]), b[1].min(d[1])),
            None => (a[0], b[1]),
        };
        Some([m, n, a[1].min(b[0])])
    }

    /// Returns the sizes along dim0 and dim1 of the tile of the operand with the role `required`; `None` if there is no
    /// such operand.
    fn tile(&self, required: &str) -> Option<[u64; 2]> {
        match self.find_matrix_operand(required)? {
            InstructionOperand::Register { layout, .. } => {
                Some([0, 1].map(|axis| 1 << layout.out_bits(Dim::tensor(axis))))
            }
            InstructionOperand::Memory(memory) => Some(memory.shape),
            InstructionOperand::Tensor(tile) => Some([0, 1].map(|axis| 1 << tile.layout.out_bits(Dim::tensor(axis)))),
            _ => None,
        }
    }

    /// Returns the operand that is a tile of a matrix with the role `required`; `None` if there is none.
    #[must_use]
    pub fn find_matrix_operand(&self, required: &str) -> Option<&InstructionOperand> {
        self.operands.iter().find(|operand| operand.role() == Some(required))
    }

    /// Returns the element type, the width in bits of an element, and the layout of the operand in registers with the
    /// role `required`; `None` if there is none.
    #[must_use]
    pub fn find_register_operand(&self, required: &str) -> Option<(&str, u32, &LinearLayout)> {
        self.operands.iter().find_map(|operand| match operand {
            InstructionOperand::Register { role, element, bits, layout } if role == required => {
                Some((&**element, *bits, layout))
            }
            _ => None,
        })
    }

    /// Returns the operand in shared memory with the role `required`; `None` if there is none.
    #[must_use]
    pub fn find_memory_operand(&self, required: &str) -> Option<&MemoryOperand> {
        self.operands.iter().filter_map(InstructionOperand::memory_operand).find(|memory| memory.role == required)
    }

    /// Returns the operand in tensor memory with the role `required`; `None` if there is none.
    #[must_use]
    pub fn find_tensor_memory_operand(&self, required: &str) -> Option<&TensorMemoryOperand> {
        self.operands.iter().filter_map(InstructionOperand::tensor_memory_operand).find(|tile| tile.role == required)
    }

    /// Returns the operand that describes the boxes of a tensor that the instruction copies; `None` if it copies none.
    #[must_use]
    pub fn tensor_copy_operand(&self) -> Option<&TensorCopyOperand> {
        self.operands.iter().find_map(InstructionOperand::tensor_copy_operand)
    }

    /// Returns the operand that describes the block of a matrix that the instruction accesses; `None` if it accesses
    /// none.
    #[must_use]
    pub fn block_operand(&self) -> Option<&BlockLoadOperand> {
        self.operands.iter().find_map(|operand| match operand {
            InstructionOperand::Block(block) => Some(block),
            _ => None,
        })
    }

    /// Returns the layouts of data and addresses, and the alignment of the slots, of the operand in shared memory whose
    /// addresses the lanes provide ([`InstructionOperand::Access`]); `None` if there is none.
    #[must_use]
    pub fn access_operand(&self) -> Option<(&LinearLayout, &LinearLayout, u32)> {
        self.operands.iter().find_map(|operand| match operand {
            InstructionOperand::Access { data, address, alignment } => Some((data, address, *alignment)),
            _ => None,
        })
    }

    /// Whether the instruction has scales of A and B (operands `scale_a` and `scale_b`).
    #[must_use]
    pub fn takes_scales(&self) -> bool {
        self.operands.iter().any(|operand| matches!(operand.role(), Some("scale_a" | "scale_b")))
    }

    /// Returns the number of registers per lane of a register operand that the instruction reads or writes, from
    /// register 0 on. These are all registers of the operand's layout, except the last ones if their elements lie
    /// outside of an MMA shape that is no power of two. 0 for operands of other kinds.
    #[must_use]
    pub fn registers_per_lane(&self, operand: &InstructionOperand) -> u64 {
        let InstructionOperand::Register { role, layout, .. } = operand else { return 0 };
        let all = 1u64 << layout.in_bits(Dim::REGISTER);
        let Some([m, n, k]) = self.mma_shape() else { return all };
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
        // The least coordinates, over all lanes and warps, of the elements in a register: the register's own
        // coordinates, reduced by the span of the bases of lanes and warps.
        let axes = [0, 1].map(|axis| {
            let others = along(axis, Dim::LANE).chain(along(axis, Dim::WARP));
            (along(axis, Dim::REGISTER).collect::<Vec<_>>(), Subspace::span(others.map(u64::reverse_bits)))
        });
        let is_within = |&register: &u64| {
            axes.iter().zip(within).all(|((columns, others), size)| {
                others.reduce(multiply_vector(columns, register).reverse_bits()).reverse_bits() < size
            })
        };
        (0..all).rev().find(is_within).map_or(0, |last| last + 1)
    }
}

/// The kind of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InstructionKind {
    /// Matrix multiply-accumulate (MMA).
    Matrix,
    /// Data movement between registers and shared memory.
    SharedMove,
    /// Asynchronous copy between global and shared memory without registers; the destination is the first operand.
    AsyncCopy,
    /// Data movement between registers and tensor memory, or from shared to tensor memory.
    TensorMove,
    /// Prefetch of global memory, for example into a cache.
    Prefetch,
    /// Data movement from global memory to registers.
    GlobalMove,
}

/// One operand of an instruction, by its kind and location.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InstructionOperand {
    /// Registers of the lanes of a warp.
    Register {
        /// Role of the operand: `a`, `b`, `c`, `d`; for scaled MMA also `scale_a` and `scale_b`.
        role: String,
        /// Vendor's name of the element type: `f16`, `tf32`, `e4m3`, ...
        element: String,
        /// Width of an element in bits.
        bits: u32,
        /// From (register, lane) to the operand's tile, dim0 x dim1: M x K for `a`, K x N for `b`, M x N for `c` and
        /// `d`; for scales rows of `a`, or columns of `b`, x blocks of K. A tile of several independent blocks has the
        /// block as dim2. If several warps issue the instruction together, from (register, lane, warp), with `warp`
        /// relative to the first of them.
        layout: LinearLayout,
    },
    /// Shared memory that the lanes address in slots: each slot is a contiguous byte range with one address, such as a
    /// row of 16 bytes of PTX `ldmatrix`.
    Access {
        /// Layout from (register, lane, byte) to (slot, byte): the bytes that each lane receives or gives. A copy from
        /// global memory has no registers, so its layout is from (lane, byte).
        data: LinearLayout,
        /// Layout from lane to slot: the slot (contiguous byte range) whose address the lane gives to the instruction.
        address: LinearLayout,
        /// Required alignment of every slot's address in bytes.
        alignment: u32,
    },
    /// A tile in shared memory that the instruction itself reads, through a matrix descriptor.
    Memory(MemoryOperand),
    /// Global memory that the lanes address in slots (contiguous byte ranges with one address each), as
    /// [`InstructionOperand::Access`]. A copy moves each byte that a lane has here to the position of the same byte of
    /// that lane in the operand [`InstructionOperand::Access`].
    Global {
        /// Layout from (lane, byte) to (slot, byte): the bytes that each lane reads or writes.
        data: LinearLayout,
        /// Layout from lane to slot: the slot (contiguous byte range) whose address the lane gives to the instruction.
        address: LinearLayout,
        /// Required alignment of every slot's address in bytes.
        alignment: u32,
    },
    /// A predicate, which may differ between lanes: if false, the lane reads nothing and writes zeros.
    Predicate,
    /// A value in a register that is the same in all lanes of the warp.
    Uniform,
    /// A box of a tensor in shared memory; the value is the box's address, the same in all lanes.
    Box(TensorCopyOperand),
    /// The tensor map (CUDA) of the tensor whose box the instruction copies.
    TensorMap,
    /// The coordinate at which the box (or the block of a matrix) begins along one axis, possibly outside of the
    /// tensor: a signed `i32`, the same in all lanes. Axes are ordered as in the tensor map; for a block of a matrix
    /// first the column, then the row.
    Coordinate,
    /// A block of a matrix in global memory; the value is the matrix's address, the same in all lanes.
    Block(BlockLoadOperand),
    /// A parameter, such as the pitch, of the matrix whose block the instruction accesses
    /// ([`InstructionOperand::Block`]).
    Matrix(BlockLoadMatrixParameter),
    /// Contiguous bytes of shared memory; the value is the address of the first byte, the same in all lanes.
    #[serde(rename = "shared_span")]
    SharedBulk {
        /// Required alignment of the address in bytes.
        alignment: u32,
    },
    /// Contiguous bytes of global memory; the value is the address of the first byte, the same in all lanes.
    #[serde(rename = "global_span")]
    GlobalBulk {
        /// Required alignment of the address in bytes.
        alignment: u32,
    },
    /// The number of bytes of a 1-D bulk copy: an `i32`, the same in all lanes.
    #[serde(rename = "span_bytes")]
    BulkBytes {
        /// Granularity in bytes: the number of bytes to copy is a multiple of it.
        #[serde(rename = "grain")]
        granularity: u32,
    },
    /// The address in shared memory of the mbarrier on which the instruction completes, the same in all lanes.
    Mbarrier,
    /// A tile in tensor memory. With role `d` it is the accumulator, before and after; with role `a` it is operand A.
    /// Scales are rows of `a`, or columns of `b`, x blocks of K.
    Tensor(TensorMemoryOperand),
    /// A predicate, the same in all lanes: whether the MMA adds to the accumulator's old values; if false, the
    /// accumulator starts at zero and the tile's old values are not read.
    Accumulate,
    /// A constant word, the same at every issue: part of the instruction, so that no value of a kernel is passed for
    /// it.
    Constant {
        /// Name of the constant operand, for listings and messages.
        role: String,
        /// Width of the constant in bits.
        bits: u32,
        /// Value of the constant.
        value: u64,
    },
}

impl InstructionOperand {
    /// Returns the role, such as `a` or `scale_b`, of an operand that is a tile of a matrix; `None` for other operands.
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        match self {
            Self::Register { role, .. } => Some(role),
            Self::Memory(memory) => Some(&memory.role),
            Self::Tensor(tile) => Some(&tile.role),
            _ => None,
        }
    }

    /// Returns the vendor's name of the element type of an operand that is a tile of a matrix; `None` for other
    /// operands.
    #[must_use]
    pub fn element(&self) -> Option<&str> {
        match self {
            Self::Register { element, .. } => Some(element),
            Self::Memory(operand) => Some(&operand.element),
            Self::Tensor(operand) => Some(&operand.element),
            _ => None,
        }
    }

    /// Returns the layout of an operand in registers; `None` for operands of other kinds.
    #[must_use]
    pub fn register_layout(&self) -> Option<&LinearLayout> {
        match self {
            Self::Register { layout, .. } => Some(layout),
            _ => None,
        }
    }

    /// Returns an operand in shared memory that a matrix descriptor addresses; `None` for operands of other kinds.
    #[must_use]
    pub fn memory_operand(&self) -> Option<&MemoryOperand> {
        match self {
            Self::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// Returns an operand that describes boxes of a tensor; `None` for operands of other kinds.
    #[must_use]
    pub fn tensor_copy_operand(&self) -> Option<&TensorCopyOperand> {
        match self {
            Self::Box(operand) => Some(operand),
            _ => None,
        }
    }

    /// Returns the tile of an operand in tensor memory; `None` for operands of other kinds.
    #[must_use]
    pub fn tensor_memory_operand(&self) -> Option<&TensorMemoryOperand> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

named_enum! {
    /// The operation by which a bulk tensor copy combines elements with those in global memory (PTX
    /// `cp.reduce.async.bulk.tensor`).
    pub enum MemoryReduction {
        /// Addition; integers wrap.
        Add = "add",
        /// The lesser element; of a number and a NaN, the number.
        Min = "min",
        /// The greater element; of a number and a NaN, the number.
        Max = "max",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
    }
}

/// How the results of an instruction follow from its operands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Semantics {
    /// Copies the source's bits to the destination.
    Move,
    /// Combines each element of the source with the element in global memory by the operation, atomically, in place of a
    /// copy. The tensor map states the element type.
    Reduce(MemoryReduction),
    /// Changes no value: hints that memory will be accessed soon; nothing waits for it.
    Prefetch,
    /// `d = a * b + c`, accumulated over dim1 of `a` and dim0 of `b`; each operand times its scale for scaled
    /// instructions. Integers wrap.
    Contract,
    /// As `Contract` for integers, with the exact sum saturated to the type of `d`.
    ContractSaturating,
    /// `d = c + n`, where `n` is the number of different bits of a row of `a` and a column of `b`, of one-bit elements.
    CountDifferent,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CanonicalLayout, CanonicalLayoutStride, CanonicalMode, Completion, DescriptorField, DescriptorFormat,
        MemoryOperand, XorSwizzle,
    };
    use tilewright_layout::DimBases;

    fn register_operand(role: &str, registers: DimBases, lanes: DimBases, sizes: [u64; 2]) -> InstructionOperand {
        let dims = [(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])];
        let layout = LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &dims);
        InstructionOperand::Register {
            role: role.to_owned(),
            element: "s32".to_owned(),
            bits: 32,
            layout: layout.expect("the bases fit"),
        }
    }

    /// Returns an MMA instruction with M = 4 and N = 6, whose accumulator layout has 4 x 8 elements: registers hold two
    /// neighbouring columns, lanes hold four rows and the next two columns.
    fn row() -> Instruction {
        let field = DescriptorField { at: 0, width: 8, granularity: 4 };
        let axes = [4, 6].map(|count| vec![CanonicalMode { count, stride: CanonicalLayoutStride::Bytes(4) }]);
        let alone =
            CanonicalLayout { name: "rows".to_owned(), mode: 0, axes, swizzle: XorSwizzle::default(), alignment: 4 };
        let b = MemoryOperand {
            role: "b".to_owned(),
            element: "s32".to_owned(),
            bits: 32,
            shape: [4, 6],
            layouts: vec![alone],
            descriptor: DescriptorFormat {
                bits: 32,
                start: field,
                strides: vec![],
                mode: DescriptorField { at: 30, ..field },
                fixed: 0,
            },
        };
        let accumulator = |role| {
            register_operand(role, vec![vec![0, 1], vec![0, 4]], vec![vec![1, 0], vec![2, 0], vec![0, 2]], [4, 8])
        };
        let a = register_operand("a", vec![vec![0, 1], vec![0, 2]], vec![vec![1, 0], vec![2, 0], vec![0, 0]], [4, 4]);
        Instruction {
            name: "mad".to_owned(),
            kind: InstructionKind::Matrix,
            operands: vec![accumulator("d"), a, InstructionOperand::Memory(b), accumulator("c")],
            cycles: None,
            semantics: Semantics::Contract,
            completion: Completion::Immediate,
            numerics: None,
            source: "made up".to_owned(),
        }
    }

    #[test]
    fn an_mma_has_the_extent_of_its_tile_in_memory() {
        let row = row();
        assert_eq!(row.mma_shape(), Some([4, 6, 4]));
        // Register 2 has column 4 in some lanes and column 6 in the others; register 3 has column 5.
        assert_eq!(
            row.operands.iter().map(|operand| row.registers_per_lane(operand)).collect::<Vec<_>>(),
            [4, 4, 0, 4]
        );
        let with_columns = |columns| {
            let mut row = row.clone();
            if let InstructionOperand::Memory(memory) = &mut row.operands[2] {
                memory.shape[1] = columns;
            }
            (row.mma_shape().map(|extent| extent[1]), row.registers_per_lane(&row.operands[0]))
        };
        assert_eq!([5, 4, 1].map(with_columns), [(Some(5), 3), (Some(4), 2), (Some(1), 1)]);
    }

    #[test]
    fn moves_have_no_extent_and_need_all_registers() {
        let moved = Instruction { semantics: Semantics::Move, ..row() };
        assert_eq!((moved.mma_shape(), moved.registers_per_lane(&moved.operands[0])), (None, 4));
    }
}
