//! Loads and stores of a warp: address resolution, checks and counts.

use tilewright_target::{Direction, count_access_wavefronts};

use super::registers::LANES;
use super::space::WINDOW_BITS;
use super::{Address, CachePath, Destination, DeviceFaultKind, Next, Operation, PtxSpace, Running};
use crate::program::Type;

/// Maximum bytes that a lane can load or store by one instruction.
const WIDEST: usize = 64;

impl Running<'_> {
    /// Returns the memory space of a lane's access, and the address in that space.
    pub(crate) fn resolve(
        &self,
        space: PtxSpace,
        address: &Address,
        lane: usize,
    ) -> Result<(PtxSpace, u64), DeviceFaultKind> {
        let base = match address.base {
            register if address.space.is_none() => self.read_defined(register, lane, "the address")?,
            register => self.registers.get(register, lane),
        };
        let at = base.wrapping_add(address.offset);
        let at = if address.is_wide { at } else { at & u64::from(u32::MAX) };
        Ok(match (space, address.space) {
            // A variable's name stands for an address in the variable's own space.
            (PtxSpace::Generic | PtxSpace::Parameter, Some(space)) => (space, at),
            (PtxSpace::Generic, None) => PtxSpace::of_generic(at),
            // Pointers to shared memory may be generic addresses even if the instruction names the space.
            (PtxSpace::Shared, _) if at >> WINDOW_BITS == 1 => (space, at - space.window()),
            _ => (space, at),
        })
    }

    /// Returns `count` bytes of global, local or parameter memory from an address on. If they are not allocated,
    /// returns an out-of-bounds fault of `lane` with the given `direction`.
    pub(crate) fn bytes(
        &mut self,
        direction: Direction,
        (space, address): (PtxSpace, u64),
        count: u64,
        lane: usize,
    ) -> Result<&mut [u8], DeviceFaultKind> {
        let beyond = |near: String| DeviceFaultKind::OutOfBounds {
            direction,
            space,
            address,
            bytes: count,
            near,
            lane: lane as u32,
        };
        let each = (self.local.len() / LANES) as u64;
        match space {
            PtxSpace::Local => match address.checked_add(count).filter(|&end| end <= each) {
                Some(end) => {
                    let first = lane as u64 * each;
                    Ok(&mut self.local[(first + address) as usize..(first + end) as usize])
                }
                None => Err(beyond(format!("a lane has {each} bytes"))),
            },
            _ => self.global.bytes(address, count).map_err(beyond),
        }
    }

    /// Loads bytes from an address in any space into `into`, for one lane.
    pub(crate) fn load(
        &mut self,
        (space, address): (PtxSpace, u64),
        into: &mut [u8],
        lane: usize,
    ) -> Result<(), DeviceFaultKind> {
        let count = into.len() as u64;
        match space {
            PtxSpace::Shared => {
                let who = self.accessor(lane);
                self.shared.load(address, into, &who)
            }
            PtxSpace::Parameter => {
                let size = self.parameters.len() as u64;
                let end = address.checked_add(count).filter(|&end| end <= size);
                let end = end.ok_or_else(|| DeviceFaultKind::OutOfBounds {
                    direction: Direction::Load,
                    space,
                    address,
                    bytes: count,
                    near: format!("the kernel was launched with {size} bytes"),
                    lane: lane as u32,
                })?;
                into.copy_from_slice(&self.parameters[address as usize..end as usize]);
                Ok(())
            }
            _ => self.bytes(Direction::Load, (space, address), count, lane).map(|bytes| into.copy_from_slice(bytes)),
        }
    }

    /// Stores bytes to an address in any space for one lane. If not `is_defined`, bytes of shared memory become
    /// uninitialized, while a store to global memory is a fault.
    pub(crate) fn store(
        &mut self,
        (space, address): (PtxSpace, u64),
        from: &[u8],
        is_defined: bool,
        lane: usize,
    ) -> Result<(), DeviceFaultKind> {
        if space == PtxSpace::Shared {
            let who = self.accessor(lane);
            return self.shared.store(address, from, is_defined, &who);
        }
        if space == PtxSpace::Parameter {
            let near = "parameters are read-only".to_owned();
            let (direction, bytes) = (Direction::Store, from.len() as u64);
            return Err(DeviceFaultKind::OutOfBounds { direction, space, address, bytes, near, lane: lane as u32 });
        }
        if space == PtxSpace::Global && !is_defined {
            return Err(DeviceFaultKind::UndefinedRegister {
                what: "what is stored to global memory",
                lane: lane as u32,
            });
        }
        self.bytes(Direction::Store, (space, address), from.len() as u64, lane)?.copy_from_slice(from);
        Ok(())
    }

    /// Adds one access of the warp to the counts: shared-memory wavefronts, or global-memory sectors. Each lane
    /// accesses `bytes` bytes at its entry of `addresses`; `None` for lanes that do not access memory.
    pub(crate) fn count(
        &mut self,
        (direction, path): (Direction, CachePath),
        addresses: &[Option<(PtxSpace, u64)>; LANES],
        bytes: u32,
    ) -> Result<(), DeviceFaultKind> {
        let of = |required| addresses.map(|address| address.and_then(|(space, at)| (space == required).then_some(at)));
        let shared = of(PtxSpace::Shared);
        if shared.iter().any(Option::is_some) {
            let row = self.target.find_bank_row(direction, bytes * 8).ok_or_else(|| {
                DeviceFaultKind::Instruction(format!("the target has no bank row for accesses of {bytes} bytes"))
            })?;
            let taken = count_access_wavefronts(row, &shared, bytes);
            let (operations, total) = match direction {
                Direction::Load => (&mut self.counts.shared_loads, &mut self.counts.wavefronts_loaded),
                Direction::Store => (&mut self.counts.shared_stores, &mut self.counts.wavefronts_stored),
            };
            *operations += 1;
            *total += taken;
        }
        let global = of(PtxSpace::Global);
        let pieces = global.iter().flatten().map(|&at| at..at.saturating_add(u64::from(bytes)));
        self.traffic.count(direction, path, pieces);
        Ok(())
    }
}

/// A load or store instruction, as decoded from PTX.
pub(crate) struct Access {
    pub(crate) space: PtxSpace,
    pub(crate) address: Address,
    pub(crate) ty: Type,
    pub(crate) data: Data,
    pub(crate) path: CachePath,
}

/// The registers of the elements: destinations of a load (`None` for a discarded element) or sources of a store.
pub(crate) enum Data {
    Load(Vec<Option<Destination>>),
    Store(Vec<u32>),
}

impl Access {
    fn element_bytes(&self) -> usize {
        (self.ty.width() / 8) as usize
    }
}

impl Operation for Access {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let size = self.element_bytes();
        let (direction, count) = match &self.data {
            Data::Load(destinations) => (Direction::Load, destinations.len()),
            Data::Store(sources) => (Direction::Store, sources.len()),
        };
        let bytes = size * count;
        let mut buffer = [0u8; WIDEST];
        let buffer = &mut buffer[..bytes];
        let mut addresses = [None; LANES];
        for lane in warp.lanes() {
            let (space, address) = warp.resolve(self.space, &self.address, lane)?;
            if !address.is_multiple_of(bytes as u64) {
                let alignment = bytes as u64;
                return Err(DeviceFaultKind::Misaligned { direction, space, address, alignment, lane: lane as u32 });
            }
            addresses[lane] = Some((space, address));
            match &self.data {
                Data::Load(to) => {
                    warp.load((space, address), buffer, lane)?;
                    for (destination, register_bytes) in to.iter().zip(buffer.chunks_exact(size)) {
                        let bits = register_bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                        warp.set(*destination, lane, self.ty.extend_all_elements(bits));
                    }
                }
                Data::Store(from) => {
                    let mut is_defined = true;
                    for (&register, register_bytes) in from.iter().zip(buffer.chunks_exact_mut(size)) {
                        is_defined &= warp.registers.has_low_bytes(register, size, lane);
                        register_bytes.copy_from_slice(&warp.registers.get(register, lane).to_le_bytes()[..size]);
                    }
                    self.put(warp, (space, address), buffer, is_defined, lane)?;
                }
            }
        }
        warp.count((direction, self.path), &addresses, bytes as u32)?;
        Ok(Next::Continue)
    }
}

impl Access {
    /// Stores a lane's elements, whose bytes are in `bytes`. If `is_defined` is false, some elements are undefined, and
    /// each element is stored separately.
    fn put(
        &self,
        warp: &mut Running<'_>,
        (space, address): (PtxSpace, u64),
        bytes: &[u8],
        is_defined: bool,
        lane: usize,
    ) -> Result<(), DeviceFaultKind> {
        let Data::Store(from) = &self.data else { return Ok(()) };
        if is_defined || from.len() == 1 {
            return warp.store((space, address), bytes, is_defined, lane);
        }
        let size = self.element_bytes();
        for ((&register, register_bytes), at) in
            from.iter().zip(bytes.chunks_exact(size)).zip((address..).step_by(size))
        {
            let is_defined = warp.registers.has_low_bytes(register, size, lane);
            warp.store((space, at), register_bytes, is_defined, lane)?;
        }
        Ok(())
    }
}
