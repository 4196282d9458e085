//! Computes the memory accesses by which a warp loads or stores its part of a tensor, with the address of each lane.

use tilewright_layout::f2::Solver;
use tilewright_layout::{ColumnAction, Dim, LinearLayout, MemoryLayout};

use crate::PictureError;
use crate::error::check_size;

/// The accesses by which one warp loads or stores its part of a tensor. Each access is as wide as the register layout,
/// the memory layout and the target allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WarpAccesses {
    /// Number of consecutive elements that a lane moves in one access.
    pub elements: u64,
    /// Size of an element in bytes.
    pub element_bytes: u64,
    /// The accesses, in ascending order of the registers that they move.
    pub list: Vec<Access>,
}

/// One access of a warp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Access {
    /// Indices of the registers that the access moves, in address order.
    pub registers: Vec<u64>,
    /// For each lane, the byte address of its first element; `None` for an inactive lane.
    pub addresses: Vec<Option<u64>>,
    /// For each lane, its elements in address order, as packed coordinates in the memory's tensor.
    pub lane_elements: Vec<Vec<u64>>,
}

impl WarpAccesses {
    /// Returns the bytes that a lane moves in one access.
    pub fn bytes(&self) -> u64 {
        self.elements * self.element_bytes
    }

    /// Returns the bits that a lane moves in one access.
    pub fn bits(&self) -> u32 {
        self.bytes() as u32 * 8
    }
}

/// The parameters of a transfer between the registers of a warp and a memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccessSpec<'a> {
    /// Distributed layout of the tensor in registers.
    pub registers: &'a LinearLayout,
    /// Layout of the tensor in memory.
    pub memory: &'a MemoryLayout,
    /// Width of an element in bits.
    pub element_bits: u32,
    /// The target's access widths, in bits per lane.
    pub widths: &'a [u32],
    /// Index of the warp in block 0 whose accesses are computed.
    pub warp: u64,
    /// Whether all lanes that hold a replica of an element are active, as in loads. Otherwise only one lane with each
    /// element is active, which suffices for stores.
    pub copies: bool,
}

impl AccessSpec<'_> {
    /// Computes the accesses of the warp.
    pub fn compute_accesses(&self) -> Result<WarpAccesses, PictureError> {
        check_element(self.element_bits)?;
        if self.element_bits < 8 {
            return Err(PictureError::not_drawable(
                "the accesses",
                format!("an element has {} bits and addresses count bytes", self.element_bits),
                "draw a layout of bytes that hold several elements each",
            ));
        }
        check_size("the accesses", self.registers.ins().total_bits())?;
        let order: Vec<Dim> = self.memory.linear.outs().dims().collect();
        let holders = self.registers.transpose_outs(&order)?;
        let distinct = holders.remove_broadcast_action(Dim::REGISTER);
        let memory_map = distinct.apply(&holders)?.invert_and_compose(&self.memory.linear)?;
        let (elements, vector) = self.widest(&memory_map)?;
        let action = distinct.then(&vector)?;
        let registers: Vec<u64> = (0..1 << self.registers.in_bits(Dim::REGISTER)).collect();
        let registers = action.apply_values(&registers);
        let memory_map = vector.apply(&memory_map)?;
        let element_bytes = u64::from(self.element_bits / 8);
        let access = |(index, registers): (usize, &[u64])| {
            self.access(&holders, &memory_map, index as u64 * elements, registers)
        };
        let list = registers.chunks(elements as usize).enumerate().map(access).collect();
        Ok(WarpAccesses { elements, element_bytes, list })
    }

    /// Returns the max number of elements that a lane moves per access, and the permutation of registers that makes
    /// them consecutive in memory; `memory_map` is the map from register positions to memory offsets.
    fn widest(&self, memory_map: &LinearLayout) -> Result<(u64, ColumnAction), PictureError> {
        let mut widths: Vec<u32> = self.widths.iter().copied().filter(|&bits| bits >= self.element_bits).collect();
        widths.sort_unstable();
        for bits in widths.into_iter().rev() {
            let elements = u64::from(bits / self.element_bits);
            let (found, action) = memory_map.widest_vector_access(Dim::REGISTER, Dim::OFFSET, elements);
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
            "choose an element width that the target can access",
        ))
    }

    /// Computes the access that moves `registers` of each lane. In `memory_map`, from permuted registers to memory
    /// offsets, register `first` has the lowest address; `holders` maps registers to elements.
    fn access(&self, holders: &LinearLayout, memory_map: &LinearLayout, first: u64, registers: &[u64]) -> Access {
        let image = |layout: &LinearLayout, register: u64, lane: u64| {
            let at = |dim, index: u64| layout.ins().shift_of(dim).map_or(0, |shift| index << shift);
            let input = at(Dim::REGISTER, register) | at(Dim::LANE, lane) | at(Dim::WARP, self.warp);
            layout.apply_packed(input)
        };
        let idle = if self.copies { 0 } else { self.idle_lanes() };
        let address = |lane: u64| {
            let offset = memory_map.outs().coordinate(image(memory_map, first, lane), Dim::OFFSET);
            let bytes = u64::from(self.element_bits / 8);
            (lane & idle == 0).then(|| self.memory.physical_offset(offset) * bytes)
        };
        let lanes = 0..1u64 << memory_map.in_bits(Dim::LANE);
        let lane_elements = |lane: u64| registers.iter().map(|&register| image(holders, register, lane)).collect();
        Access {
            registers: registers.to_vec(),
            addresses: lanes.clone().map(address).collect(),
            lane_elements: lanes.map(lane_elements).collect(),
        }
    }

    /// Returns the mask of lane bits that only select replicas: a lane in whose index one of these bits is set is
    /// inactive.
    fn idle_lanes(&self) -> u64 {
        let columns = |dim| self.registers.columns_of(dim).iter().copied();
        let all: Vec<u64> = columns(Dim::REGISTER).chain(columns(Dim::LANE)).collect();
        Solver::new(&all).free_columns() >> self.registers.in_bits(Dim::REGISTER)
    }
}

/// Returns an error for an element width in bits that memory cannot have.
pub(super) fn check_element(bits: u32) -> Result<(), PictureError> {
    if bits.is_power_of_two() && bits <= 128 {
        return Ok(());
    }
    let reason = format!("no element has {bits} bits");
    Err(PictureError::not_drawable("the memory", reason, "give a power of two from 1 to 128"))
}
