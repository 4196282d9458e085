//! The accesses by which a warp moves its share of a tensor to or from a memory, address by address.

use tilewright_layout::f2::Solver;
use tilewright_layout::{ColumnAction, Dim, LinearLayout, MemoryLayout};

use crate::PictureError;
use crate::error::check_size;

/// The accesses of one warp, each as wide as both layouts and the hardware allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Accesses {
    /// Elements that a lane moves in one access.
    pub elements: u64,
    /// Width of an element in bytes.
    pub element_bytes: u64,
    /// The accesses in order of registers.
    pub list: Vec<Access>,
}

/// One access of a warp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Access {
    /// The registers that hold the elements, in the order of their addresses.
    pub registers: Vec<u64>,
    /// For each lane the byte address of its first element; none for lanes that take no part.
    pub addresses: Vec<Option<u64>>,
    /// For each lane its elements as packed coordinates of the memory's tensor, in the order of addresses.
    pub held: Vec<Vec<u64>>,
}

impl Accesses {
    /// Bytes that a lane moves in one access.
    pub fn bytes(&self) -> u64 {
        self.elements * self.element_bytes
    }

    /// Bits that a lane moves in one access.
    pub fn bits(&self) -> u32 {
        self.bytes() as u32 * 8
    }
}

/// Which registers are moved to or from which memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccessSpec<'a> {
    /// From (register, lane, warp, block) to elements.
    pub registers: &'a LinearLayout,
    /// Where the elements lie.
    pub memory: &'a MemoryLayout,
    /// Width of an element.
    pub element_bits: u32,
    /// Widths of an access in bits of a lane.
    pub widths: &'a [u32],
    /// The warp, of block 0.
    pub warp: u64,
    /// Whether lanes that hold copies access them too, as loads must; a store needs one lane only.
    pub copies: bool,
}

impl AccessSpec<'_> {
    /// The accesses.
    pub fn accesses(&self) -> Result<Accesses, PictureError> {
        check_element(self.element_bits)?;
        if self.element_bits < 8 {
            return Err(PictureError::not_drawable(
                "the accesses",
                format!("an element has {} bits and addresses count bytes", self.element_bits),
                "draw a layout of bytes that hold several elements each",
            ));
        }
        check_size("the accesses", self.registers.ins().bits())?;
        let order: Vec<Dim> = self.memory.linear.outs().dims().collect();
        let holders = self.registers.transpose_outs(&order)?;
        let distinct = holders.without_broadcast(Dim::REGISTER);
        let places = distinct.apply(&holders)?.invert_and_compose(&self.memory.linear)?;
        let (elements, vector) = self.widest(&places)?;
        let action = distinct.then(&vector)?;
        let registers: Vec<u64> = (0..1 << self.registers.in_bits(Dim::REGISTER)).collect();
        let registers = action.apply_values(&registers);
        let places = vector.apply(&places)?;
        let element_bytes = u64::from(self.element_bits / 8);
        let access =
            |(index, registers): (usize, &[u64])| self.access(&holders, &places, index as u64 * elements, registers);
        let list = registers.chunks(elements as usize).enumerate().map(access).collect();
        Ok(Accesses { elements, element_bytes, list })
    }

    /// The most elements of an access, and the order of registers that it needs.
    fn widest(&self, places: &LinearLayout) -> Result<(u64, ColumnAction), PictureError> {
        let mut widths: Vec<u32> = self.widths.iter().copied().filter(|&bits| bits >= self.element_bits).collect();
        widths.sort_unstable();
        for bits in widths.into_iter().rev() {
            let elements = u64::from(bits / self.element_bits);
            let (found, action) = places.largest_vector(Dim::REGISTER, Dim::OFFSET, elements);
            let unbroken = |p: &tilewright_layout::Padding| {
                p.interval.is_multiple_of(elements) && p.padding.is_multiple_of(elements)
            };
            if found == elements && self.memory.padding.iter().all(unbroken) {
                return Ok((elements, action));
            }
        }
        Err(PictureError::not_drawable(
            "the accesses",
            format!("there is no access of {} bits, only of {:?}", self.element_bits, self.widths),
            "choose an element that the target can access by itself",
        ))
    }

    /// The access that begins at a register, counted in the order of `places`.
    fn access(&self, holders: &LinearLayout, places: &LinearLayout, first: u64, registers: &[u64]) -> Access {
        let image = |layout: &LinearLayout, register: u64, lane: u64| {
            let at = |dim, index: u64| layout.ins().shift_of(dim).map_or(0, |shift| index << shift);
            let input = at(Dim::REGISTER, register) | at(Dim::LANE, lane) | at(Dim::WARP, self.warp);
            layout.apply_packed(input)
        };
        let idle = if self.copies { 0 } else { self.idle_lanes() };
        let address = |lane: u64| {
            let offset = places.outs().coordinate(image(places, first, lane), Dim::OFFSET);
            let bytes = u64::from(self.element_bits / 8);
            (lane & idle == 0).then(|| self.memory.physical_offset(offset) * bytes)
        };
        let lanes = 0..1u64 << places.in_bits(Dim::LANE);
        let held = |lane: u64| registers.iter().map(|&register| image(holders, register, lane)).collect();
        Access {
            registers: registers.to_vec(),
            addresses: lanes.clone().map(address).collect(),
            held: lanes.map(held).collect(),
        }
    }

    /// Lane bits that tell copies apart: lanes with one of them set leave the access to another.
    fn idle_lanes(&self) -> u64 {
        let columns = |dim| self.registers.columns_of(dim).iter().copied();
        let all: Vec<u64> = columns(Dim::REGISTER).chain(columns(Dim::LANE)).collect();
        Solver::new(&all).free_columns() >> self.registers.in_bits(Dim::REGISTER)
    }
}

/// Refuses widths that no element in memory has.
pub(super) fn check_element(bits: u32) -> Result<(), PictureError> {
    if bits.is_power_of_two() && bits <= 128 {
        return Ok(());
    }
    let reason = format!("no element has {bits} bits");
    Err(PictureError::not_drawable("the memory", reason, "give a power of two from 1 to 128"))
}
