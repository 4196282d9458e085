//! A kernel that loads the tiles of a matrix one after the other, each prefetched some tiles before.

use tilewright_kernel::{Binary, Builder, Element, Kernel, Launch, MemorySpace, Type, Value};
use tilewright_layout::Dim;
use tilewright_plan::contract::matrix_places;
use tilewright_plan::movement::{
    AxisStride, GlobalTensor, MovementError, PlanContext, Prefetch, access_global, coalesced_layout,
};
use tilewright_target::Direction;

use tilewright_lower::registers::integer;

/// How far prefetches are ahead of loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// Tiles.
    pub tiles: u32,
    /// Whether, on purpose, they are of a matrix that begins a byte later, which is wrong.
    pub is_misaligned: bool,
}

impl Ahead {
    /// So many tiles ahead.
    #[must_use]
    pub fn by(tiles: u32) -> Self {
        Self { tiles, is_misaligned: false }
    }
}

/// A kernel of one block that copies a matrix, tile by tile from its first row on, through registers; each tile is as
/// wide as the matrix and is prefetched some tiles before it is loaded.
///
/// Parameters are pointers to global memory: the matrix, with its pitch, and the copy, with the same.
///
/// # Errors
/// [`MovementError`]: elements that cannot be loaded, lanes that the target has not, a pitch that is no power of two, by
/// which loads here do not reach rows.
pub fn prefetched_kernel(
    prefetch: &Prefetch,
    lanes: u32,
    ahead: Ahead,
    context: PlanContext<'_>,
) -> Result<Kernel, MovementError> {
    let problem = prefetch.problem();
    let ([rows, columns], bits) = (problem.tile, problem.element_bits);
    if !problem.pitch.is_power_of_two() {
        let reason = format!("{} elements from row to row: expected a power of two", problem.pitch);
        return Err(MovementError::Memory { reason });
    }
    let axes = vec![
        (Dim::tensor(0), rows, AxisStride::Elements(problem.pitch)),
        (Dim::tensor(1), columns, AxisStride::Elements(1)),
    ];
    let tile = GlobalTensor { axes, alignment: problem.alignment };
    let layout = coalesced_layout(&tile, bits, lanes.into(), problem.warps, context.target)?;
    let [load, store] =
        [Direction::Load, Direction::Store].map(|way| access_global(&layout, &tile, bits, way, context.target));
    let (load, store) = (load?, store?);
    integer(bits)?;
    let pointer = Type::Pointer(MemorySpace::Global);
    let launch = Launch::new(lanes, problem.warps as u32);
    let mut builder = Builder::new("prefetched", launch, &[("matrix", pointer), ("copy", pointer)]);
    let fetch = |builder: &mut Builder, tile: Value| {
        let (mut base, column) = (builder.parameter(0), builder.i32(0));
        if ahead.is_misaligned {
            let one = builder.i32(1);
            base = builder.advance(base, one);
        }
        let row = builder.binary_const(Binary::Mul, tile, rows as u32);
        prefetch.emit(builder, base, [column, row]);
    };
    for tile in 0..ahead.tiles {
        let tile = builder.i32(tile);
        fetch(&mut builder, tile);
    }
    let [from, to, step] = [0, problem.matrix[0].div_ceil(rows) as u32, 1].map(|bound| builder.i32(bound));
    let iteration = builder.begin_region(&[Type::Scalar(Element::I32)])[0];
    let next = builder.binary_const(Binary::Add, iteration, ahead.tiles);
    fetch(&mut builder, next);
    let bytes = builder.binary_const(Binary::Mul, iteration, (rows * problem.pitch) as u32 * bits / 8);
    let [matrix, copy] = [0, 1].map(|parameter| {
        let base = builder.parameter(parameter);
        builder.advance(base, bytes)
    });
    let strides = [problem.pitch, 1];
    let bytes = u64::from(bits / 8);
    let mut places = matrix_places(&mut builder, &layout, matrix, strides, bytes);
    let values = load.emit_load(&mut builder, &mut places);
    let mut places = matrix_places(&mut builder, &layout, copy, strides, bytes);
    store.emit_store(&mut builder, &values, &mut places);
    let body = builder.end_region(&[]);
    builder.for_loop(from, to, step, &[], body);
    Ok(builder.finish())
}
