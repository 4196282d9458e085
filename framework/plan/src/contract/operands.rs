//! Where one operand of a unit lies: element by element in registers, or in shared memory.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ElementType, Instruction, MemoryOperand, Operand};

/// Where one operand of a unit lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operands {
    pub number: ElementType,
    /// Bits of the place of an element.
    pub bits: u32,
    /// The element of each register bit, as (row, column).
    pub registers: Vec<[u64; 2]>,
    /// The element of each lane bit.
    pub lanes: Vec<[u64; 2]>,
    /// The element of each bit of the warps that issue together.
    pub warps: Vec<[u64; 2]>,
    /// How it lies in shared memory, where it lies there and not in registers. Of elements narrower than a byte, how
    /// their bytes do.
    pub memory: Option<Box<MemoryOperand>>,
}

const NO_SIDES: &str = "layouts have tiles whose sides are powers of two, of whole bytes, and its tile is another";

impl Operands {
    pub(super) fn of(row: &Instruction, required: &str) -> Result<(Self, [u32; 2]), String> {
        let of_role = |operand: &&Operand| match operand {
            Operand::Register { role, .. } => role == required,
            Operand::Memory(memory) => memory.role == required,
            _ => false,
        };
        match row.operands.iter().find(of_role) {
            Some(Operand::Register { element, bits, layout, .. }) => Self::held(required, element, *bits, layout),
            Some(Operand::Memory(memory)) => Self::in_memory(memory),
            _ if row.tensor(required).is_some() => {
                Err(format!("it reads {required} from tensor memory, to which plans bring no factor"))
            }
            _ => Err(format!("it has no operand `{required}`")),
        }
    }

    pub(super) fn held(
        required: &str,
        element: &str,
        bits: u32,
        layout: &LinearLayout,
    ) -> Result<(Self, [u32; 2]), String> {
        let number = number(element)?;
        let size = [0, 1].map(|axis| layout.out_bits(Dim::tensor(axis)));
        if size[0] + size[1] != layout.outs().bits() {
            return Err("it multiplies several independent blocks".to_owned());
        }
        let [registers, lanes, warps] = [Dim::REGISTER, Dim::LANE, Dim::WARP].map(|dim| coordinates(layout, dim));
        if (registers.len() + lanes.len() + warps.len()) as u32 != layout.ins().bits() {
            return Err(format!("operand `{required}` lies in other dims than register, lane and warp"));
        }
        Ok((Self { number, bits, registers, lanes, warps, memory: None }, size))
    }

    fn in_memory(memory: &MemoryOperand) -> Result<(Self, [u32; 2]), String> {
        let number = number(&memory.element)?;
        let bytes = memory.of_bytes().filter(|bytes| bytes.shape.iter().all(|size| size.is_power_of_two()));
        let bytes = bytes.ok_or(NO_SIDES)?;
        let (registers, lanes, warps) = (vec![], vec![], vec![]);
        let own = Self { number, bits: memory.bits, registers, lanes, warps, memory: Some(Box::new(bytes)) };
        Ok((own, memory.shape.map(u64::trailing_zeros)))
    }

    /// Log2 of the elements that share a byte of the shared memory in which they lie.
    pub(super) fn in_byte(&self) -> u32 {
        if self.memory.is_some() { (8 / self.bits.clamp(1, 8)).trailing_zeros() } else { 0 }
    }

    /// Bits of a tile in memory.
    pub(super) fn tile_bits(&self) -> u64 {
        let elements = |memory: &MemoryOperand| memory.shape.iter().product::<u64>();
        self.memory.as_deref().map_or(0, |memory| elements(memory) * u64::from(memory.bits))
    }

    /// The same of the transposed matrix.
    pub(super) fn transposed(self) -> Self {
        let turned = |all: Vec<[u64; 2]>| all.into_iter().map(|[row, column]| [column, row]).collect();
        let (registers, lanes, warps) = (turned(self.registers), turned(self.lanes), turned(self.warps));
        let memory = self.memory.map(|memory| Box::new(memory.transposed()));
        Self { registers, lanes, warps, memory, ..self }
    }
}

/// The type of this name.
pub(super) fn number(element: &str) -> Result<ElementType, String> {
    ElementType::named(element).ok_or_else(|| format!("elements of type `{element}` are not known here"))
}

fn coordinates(layout: &LinearLayout, dim: Dim) -> Vec<[u64; 2]> {
    let at = |column: u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
    layout.columns_of(dim).iter().map(|&column| at(column)).collect()
}
