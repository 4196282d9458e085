//! A kernel that loads the tiles of a matrix one after another, each prefetched some iterations earlier.

use tilewright_kernel::{Binary, Builder, Element, Kernel, MemorySpace, StaticLaunchConfig, Type, Value};
use tilewright_layout::Dim;
use tilewright_plan::mma::global_matrix_address_emitter;
use tilewright_plan::movement::{
    AxisStride, GlobalTensor, MovementError, PlanContext, PrefetchPlan, find_coalesced_layout, plan_global_access,
};
use tilewright_target::Direction;

use tilewright_lower::registers::find_memory_integer;

/// The distance between the prefetch of a tile and the load of that tile, in a test kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefetchDistance {
    /// The distance in tiles, which is also the number of iterations between prefetch and load.
    pub tiles: u32,
    /// Whether prefetches are wrong on purpose: they are for a matrix that begins one byte later.
    pub is_misaligned: bool,
}

impl PrefetchDistance {
    /// Returns a distance of `tiles` tiles, with correct prefetches.
    #[must_use]
    pub fn in_tiles(tiles: u32) -> Self {
        Self { tiles, is_misaligned: false }
    }
}

/// Builds a kernel of one block that copies a matrix through registers, tile by tile from its first row. Each tile is
/// as wide as the matrix, and is prefetched some iterations before it is loaded.
///
/// Parameters are pointers to global memory with the same pitch: the matrix and the copy.
///
/// # Errors
/// [`MovementError`] if no element has this width, the target has no warps of `lanes` lanes, or the pitch is no power
/// of two.
pub fn build_prefetch_kernel(
    prefetch: &PrefetchPlan,
    lanes: u32,
    distance: PrefetchDistance,
    context: PlanContext<'_>,
) -> Result<Kernel, MovementError> {
    let problem = prefetch.to_spec();
    let ([rows, columns], bits) = (problem.tile, problem.element_bits);
    if !problem.pitch.is_power_of_two() {
        let reason = format!("{} elements from row to row: expected a power of two", problem.pitch);
        return Err(MovementError::Memory { reason });
    }
    let axes = vec![
        (Dim::tensor(0), rows, AxisStride::Elements(problem.pitch)),
        (Dim::tensor(1), columns, AxisStride::Elements(1)),
    ];
    let tile = GlobalTensor::new(axes, problem.alignment);
    let layout = find_coalesced_layout(&tile, bits, lanes.into(), problem.warps, context.target)?;
    let [load, store] = [Direction::Load, Direction::Store]
        .map(|direction| plan_global_access(&layout, &tile, bits, direction, context.target));
    let (load, store) = (load?, store?);
    find_memory_integer(bits)?;
    let pointer = Type::Pointer(MemorySpace::Global);
    let launch = StaticLaunchConfig::new(lanes, problem.warps as u32);
    let mut builder = Builder::new("prefetched", launch, &[("matrix", pointer), ("copy", pointer)]);
    let fetch = |builder: &mut Builder, tile: Value| {
        let (mut base, column) = (builder.parameter(0), builder.i32(0));
        if distance.is_misaligned {
            let one = builder.i32(1);
            base = builder.ptr_add(base, one);
        }
        let row = builder.binary_const(Binary::Mul, tile, rows as u32);
        prefetch.emit(builder, base, [column, row]);
    };
    for tile in 0..distance.tiles {
        let tile = builder.i32(tile);
        fetch(&mut builder, tile);
    }
    let [from, to, step] = [0, problem.matrix[0].div_ceil(rows) as u32, 1].map(|bound| builder.i32(bound));
    let iteration = builder.begin_region(&[Type::Scalar(Element::I32)])[0];
    let next = builder.binary_const(Binary::Add, iteration, distance.tiles);
    fetch(&mut builder, next);
    let bytes = builder.binary_const(Binary::Mul, iteration, (rows * problem.pitch) as u32 * bits / 8);
    let [matrix, copy] = [0, 1].map(|parameter| {
        let base = builder.parameter(parameter);
        builder.ptr_add(base, bytes)
    });
    let strides = [problem.pitch, 1];
    let bytes = u64::from(bits / 8);
    let mut addresses = global_matrix_address_emitter(&mut builder, &layout, matrix, strides, bytes);
    let values = load.emit_load(&mut builder, &mut addresses);
    let mut addresses = global_matrix_address_emitter(&mut builder, &layout, copy, strides, bytes);
    store.emit_store(&mut builder, &values, &mut addresses);
    let body = builder.end_region(&[]);
    builder.for_loop(from, to, step, &[], body);
    Ok(builder.finish())
}
