//! Which instructions read tiles of a matrix where it lies in shared memory, and how they are told.
//!
//! Left division of the memory layout by the operand's tile: with the bits of an address unmixed, each
//! bit of a coordinate in the tile must move the address by its step's stride, and each bit above the tile by a
//! power of two, which then moves the start. Addresses are sums without carries, so a sum is a sum over F2.

use crate::layouts;
use tilewright_kernel::{Binary, Builder, Cast, Element, Type, Value};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{CanonicalLayout, DescriptorFields, MemoryOperand, Stride};

/// How an instruction reads the tiles of a matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorMatch {
    /// Index of the arrangement among the operand's.
    pub arrangement: usize,
    /// The strides that the descriptor says, in bytes.
    pub strides: Vec<u64>,
    /// By how many bytes each bit of the tile's number along dim0 and dim1 moves the start, before mixing.
    pub starts: [Vec<u64>; 2],
    /// Bytes of which the memory must begin at a multiple.
    pub alignment: u32,
}

impl DescriptorMatch {
    /// How the instruction reads a matrix of a memory layout, from offsets in elements to dim0 x dim1.
    ///
    /// # Errors
    /// A sentence for each arrangement on why it is not the memory's.
    pub fn of(memory: &LinearLayout, operand: &MemoryOperand) -> Result<Self, String> {
        if operand.bits < 8 {
            return Err("memory layouts are of whole bytes, and its elements are narrower".to_owned());
        }
        let places = memory.invert().map_err(|error| error.to_string())?;
        let offset = |dim: Dim| -> Vec<u64> {
            let columns = places.columns_of(dim).iter();
            columns.map(|&column| places.outs().coordinate(column, Dim::OFFSET) * bytes(operand)).collect()
        };
        let axes = [0, 1].map(|axis| offset(Dim::tensor(axis)));
        if axes.iter().map(Vec::len).sum::<usize>() != memory.outs().bits() as usize {
            return Err("the memory has other axes than dim0 and dim1".to_owned());
        }
        let mut reasons = Vec::new();
        for (index, arrangement) in operand.arrangements.iter().enumerate() {
            match divided(&axes, operand, arrangement) {
                Ok((strides, starts)) => {
                    return Ok(Self { arrangement: index, strides, starts, alignment: arrangement.alignment });
                }
                Err(reason) => reasons.push(format!("{}: {reason}", arrangement.name)),
            }
        }
        Err(reasons.join("; "))
    }

    /// Bytes from the memory's start to that of a tile, by the tile's number along dim0 and dim1.
    #[must_use]
    pub fn start(&self, tile: [u64; 2]) -> u64 {
        let [rows, columns] = [0, 1].map(|axis| tilewright_layout::f2::multiply(&self.starts[axis], tile[axis]));
        rows ^ columns
    }

    /// Writes the kernel IR of the descriptor's field for the start, in its place in 64 bits, from an address in
    /// shared memory (an `i32`). What else a descriptor says is added.
    pub fn emit_start(builder: &mut Builder, operand: &MemoryOperand, address: Value) -> Value {
        let field = operand.descriptor.start;
        let units = builder.binary_const(Binary::ShrU, address, field.grain.trailing_zeros());
        let units = builder.binary_const(Binary::And, units, (1u32 << field.width) - 1);
        let wide = Type::Scalar(Element::I64);
        let units = builder.cast(Cast::ExtendU, units, wide);
        if field.at == 0 {
            return units;
        }
        let at = builder.constant(wide, u64::from(field.at));
        builder.binary(Binary::Shl, units, at)
    }

    /// The descriptor of a tile in memory that begins at address zero; to it the address is added in units of
    /// the field for the start. None where a field cannot say it.
    #[must_use]
    pub fn descriptor(&self, operand: &MemoryOperand, tile: [u64; 2]) -> Option<u64> {
        let mode = operand.arrangements.get(self.arrangement)?.mode;
        operand.descriptor.encode(&DescriptorFields { start: self.start(tile), strides: self.strides.clone(), mode })
    }
}

fn bytes(operand: &MemoryOperand) -> u64 {
    u64::from(operand.bits / 8)
}

/// Strides and starts where coordinates' bits are at these bytes.
fn divided(
    places: &[Vec<u64>; 2],
    operand: &MemoryOperand,
    arrangement: &CanonicalLayout,
) -> Result<(Vec<u64>, [Vec<u64>; 2]), String> {
    let fields = &operand.descriptor.strides;
    let mut strides: Vec<Option<u64>> = vec![None; fields.len()];
    let mut starts = [Vec::new(), Vec::new()];
    for axis in 0..2 {
        let mut unmixed = places[axis].iter().map(|&place| arrangement.mix.apply(place));
        for step in &arrangement.axes[axis] {
            let bits = power(step.count)?;
            for bit in 0..bits {
                let place = unmixed.next().ok_or_else(|| format!("the matrix has less than a tile along dim{axis}"))?;
                let stride = match step.stride {
                    Stride::Bytes(stride) => stride,
                    Stride::Free(field) => {
                        let known = strides.get_mut(field as usize).ok_or("there is no such stride")?;
                        *known.get_or_insert(place >> bit)
                    }
                };
                if place != stride << bit {
                    let found = format!("bit {bit} of a step along dim{axis} moves the address by {place:#x}");
                    return Err(format!("{found}, not {:#x}", stride << bit));
                }
            }
        }
        starts[axis] = unmixed.collect();
    }
    let single = |place: &u64| place.is_power_of_two() && operand.descriptor.start.holds(*place);
    if let Some(place) = starts.iter().flatten().find(|place| !single(place)) {
        return Err(format!("tiles would begin {place:#x} bytes apart"));
    }
    // A stride that nothing uses is at its least.
    let strides: Vec<u64> = strides.iter().zip(fields).map(|(found, field)| found.unwrap_or(field.grain)).collect();
    match strides.iter().zip(fields).find(|(stride, field)| !field.holds(**stride) || !stride.is_power_of_two()) {
        Some((stride, _)) => Err(format!("no descriptor says a stride of {stride:#x} bytes")),
        None => Ok((strides, starts)),
    }
}

fn power(count: u64) -> Result<u32, String> {
    if count.is_power_of_two() { Ok(count.trailing_zeros()) } else { Err(format!("{count} steps are no power of two")) }
}

/// The memory layout of a matrix of `shape` in an arrangement of the operand: what is next to each other along the
/// contiguous axis fills the gaps of the tile; above it, the other axis comes first. `None` where the matrix is
/// too small, the tile is no power of two, or elements are narrower than a byte.
///
/// # Errors
/// [`LayoutError`]: sizes that are no powers of two.
pub fn arranged(
    operand: &MemoryOperand,
    arrangement: &CanonicalLayout,
    shape: [u64; 2],
) -> Result<Option<LinearLayout>, LayoutError> {
    if operand.bits < 8 || operand.shape.iter().any(|size| !size.is_power_of_two()) {
        return Ok(None);
    }
    let outs = Space::of_sizes(&[(Dim::tensor(0), shape[0]), (Dim::tensor(1), shape[1])])?;
    let sizes = shape.map(u64::trailing_zeros);
    let Some((fixed, free)) = assigned(operand, arrangement, sizes) else { return Ok(None) };
    let element = operand.bits.trailing_zeros() - 3;
    let total = sizes[0] + sizes[1];
    let contiguous = fixed.iter().find(|(place, _)| *place == element).map_or(1, |&(_, (axis, _))| axis);
    let gaps_end = fixed.iter().map(|(place, _)| place + 1).max().unwrap_or(element);
    let mut free = free;
    let mut by_place = Vec::new();
    for place in element..element + total {
        let own = fixed.iter().position(|(at, _)| *at == place);
        by_place.push(match own {
            Some(own) => fixed[own].1,
            None => {
                let first = if place < gaps_end { contiguous } else { 1 - contiguous };
                let next = free.iter().position(|&(axis, _)| axis == first);
                if next.is_none() && place < gaps_end {
                    return Ok(None);
                }
                free.remove(next.unwrap_or(0))
            }
        });
    }
    let coordinate = |place: u64| {
        let bits = (0..total).filter(|bit| place >> (bit + element) & 1 == 1);
        bits.fold(0, |sum, bit| {
            let (axis, bit) = by_place[bit as usize];
            sum ^ 1u64 << (bit + if axis == 0 { 0 } else { sizes[0] })
        })
    };
    let columns: Vec<u64> = (0..total).map(|bit| coordinate(arrangement.mix.apply(1 << (bit + element)))).collect();
    layouts::in_memory(&columns, &outs).map(Some)
}

/// A bit of a coordinate: axis and number.
type Bit = (usize, u32);

/// Its place in an address, log2, and a bit.
type PlacedBit = (u32, Bit);

/// The bits of coordinates whose place in an address (its log2) the arrangement says, and the others.
fn assigned(
    operand: &MemoryOperand,
    arrangement: &CanonicalLayout,
    sizes: [u32; 2],
) -> Option<(Vec<PlacedBit>, Vec<Bit>)> {
    let (mut fixed, mut free) = (Vec::new(), Vec::new());
    for (axis, &size) in sizes.iter().enumerate() {
        let mut next = 0;
        for step in &arrangement.axes[axis] {
            for bit in 0..power(step.count).ok()? {
                match step.stride {
                    Stride::Bytes(stride) => fixed.push((power(stride).ok()? + bit, (axis, next))),
                    Stride::Free(_) => free.push((axis, next)),
                }
                next += 1;
            }
        }
        if next > size || operand.shape[axis] != 1 << next {
            return None;
        }
        free.extend((next..size).map(|bit| (axis, bit)));
    }
    Some((fixed, free))
}
