//! How a factor reaches the registers of its layout: by loads from global memory straight into it, or by loads
//! into a layout that global memory serves well, and a conversion.

use crate::kernel::{Builder, Value};
use crate::layout::{Dim, LinearLayout};
use crate::movement::{
    GlobalAccess, GlobalTensor, LinearAddress, Means, MovementError, Place, Plan, Stride, Thread, access_global,
    coalesced_layout, convert, slots_with_accesses,
};
use crate::target::Direction;

/// A part of a matrix in global memory, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// Rows and columns.
    pub shape: [u64; 2],
    /// From row to row, and from column to column.
    pub strides: [u64; 2],
    /// What the places are a multiple of at which parts begin.
    pub grain: u64,
}

/// Matrices begin at multiples of this many bytes.
const ALIGNMENT: u64 = 16;

/// What an access of shared memory counts beside its wavefronts, in slots: as much as one of global memory. So of ways
/// with as many wavefronts the one of fewer accesses wins, such as that by an instruction that moves several
/// matrices at once.
const ACCESS_SLOTS: f64 = 1.0;

/// The way of a factor.
#[derive(Debug, Clone)]
pub struct Feed {
    /// The layout that is loaded.
    pub loaded: LinearLayout,
    /// The loads.
    pub access: GlobalAccess,
    /// The conversion to the factor's layout; absent where it is loaded straight.
    pub conversion: Option<Plan>,
    strides: [u64; 2],
    element_bytes: u64,
}

impl Feed {
    /// The way with the fewest wavefront slots of a warp, where an access to memory is one, and each unit
    /// of global memory that it touches another.
    pub(super) fn new(
        layout: &LinearLayout,
        matrix: Matrix,
        bits: u32,
        means: Means<'_>,
    ) -> Result<Self, MovementError> {
        let tensor = matrix.tensor(bits);
        let of = |loaded: LinearLayout, conversion| -> Result<Self, MovementError> {
            let access = access_global(&loaded, &tensor, bits, Direction::Load, means.target)?;
            Ok(Self { loaded, access, conversion, strides: matrix.strides, element_bytes: u64::from(bits / 8) })
        };
        let straight = of(layout.clone(), None)?;
        let (lanes, warps) = (1 << layout.in_bits(Dim::LANE), 1 << layout.in_bits(Dim::WARP));
        let coalesced = coalesced_layout(&tensor, bits, lanes, warps, means.target)?;
        let Ok(conversion) = convert(&coalesced, layout, bits, means.with_access_slots(ACCESS_SLOTS)) else {
            return Ok(straight);
        };
        let staged = of(coalesced, Some(conversion))?;
        Ok(if staged.slots() < straight.slots() { staged } else { straight })
    }

    /// What it takes of a warp.
    #[must_use]
    pub fn slots(&self) -> f64 {
        let warps = (1u64 << self.loaded.in_bits(Dim::WARP)) as f64;
        let converted = self.conversion.as_ref().map_or(0.0, |plan| slots_with_accesses(&plan.counts, ACCESS_SLOTS));
        self.access.accesses as f64 + self.access.transactions as f64 / warps + converted
    }

    /// Writes the kernel IR that loads the part of the matrix at `base`; gives one integer for each register of
    /// the factor's layout.
    pub fn emit(&self, builder: &mut Builder, base: Value) -> Vec<Value> {
        let mut places = places(builder, &self.loaded, base, self.strides, self.element_bytes);
        let values = self.access.emit_load(builder, &mut places);
        self.conversion.as_ref().map_or_else(|| values.clone(), |plan| plan.emit(builder, &values))
    }

    /// Whether shared memory is used, so that the block must meet before it is used again.
    #[must_use]
    pub fn uses_shared(&self) -> bool {
        self.conversion.as_ref().is_some_and(|plan| plan.shared_bytes > 0)
    }
}

impl Matrix {
    fn tensor(self, bits: u32) -> GlobalTensor {
        let axis = |axis: usize| (Dim::tensor(axis), self.shape[axis], Stride::Elements(self.strides[axis]));
        let axes = vec![axis(0), axis(1)];
        GlobalTensor { axes, alignment: ALIGNMENT.min(self.grain * u64::from(bits / 8)) }
    }
}

/// Where each register's element lies in a matrix.
fn places(
    builder: &mut Builder,
    layout: &LinearLayout,
    base: Value,
    strides: [u64; 2],
    element_bytes: u64,
) -> impl FnMut(&mut Builder, usize) -> Place + use<> {
    let at = |column: u64| {
        let [row, column] = [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
        row * strides[0] + column * strides[1]
    };
    let columns = |dim| layout.columns_of(dim).iter().map(|&column| at(column));
    let threads: Vec<u64> = columns(Dim::LANE).chain(columns(Dim::WARP)).map(|index| index * element_bytes).collect();
    let registers: Vec<u64> = columns(Dim::REGISTER).collect();
    let thread = Thread::new(builder, layout.in_bits(Dim::LANE));
    let mut addresses = LinearAddress::new(builder, thread, base, &threads, element_bytes);
    move |builder, register| {
        let (pointer, offset) = addresses.at(builder, crate::f2::multiply(&registers, register as u64));
        Place { pointer, offset, predicate: None }
    }
}
