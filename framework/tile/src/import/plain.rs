//! Defines the default layout of tensors that are loaded from shared or tensor memory without an explicit layout.

use crate::op::name::ttg;
use crate::{Attribute, Attributes, FloatType, FunctionBody, LayoutAttribute, MemDescType, Op, Signedness, TileType};
use tilewright_layout::parse_family_spec;

/// Attribute of the modules that [`around`] returns for operations in partitions.
const PARTITION: &str = "tw.partition";

/// Returns the type of a tensor that is loaded from `memory`, in the default layout.
///
/// A lane has adjacent elements along the last axis, and lanes divide the last axes first. All warps and the blocks of
/// a cluster divide the first axis. The type has no layout if the module does not give the numbers of warps and lanes.
pub(crate) fn tensor(memory: &MemDescType, module: &Attributes) -> TileType {
    of_shape(&memory.shape, &memory.element, module)
}

/// Returns the type of a tensor that is loaded from `memory` for a dot or another operation that chooses the layout: it
/// has none, so that layout assignment chooses it.
///
/// In a partition of warps it has the default layout, since the number of warps that hold it is the partition's.
pub(crate) fn open_tensor(memory: &MemDescType, module: &Attributes) -> TileType {
    match module.get(PARTITION) {
        Some(_) => tensor(memory, module),
        None => TileType::tensor(memory.shape.clone(), memory.element.clone(), None),
    }
}

/// The type of a tensor of this shape and element type in the default layout, as [`tensor`].
pub(crate) fn of_shape(shape: &[u64], element: &TileType, module: &Attributes) -> TileType {
    let count = |name| module.get(name).and_then(Attribute::as_integer).and_then(|count| u64::try_from(count).ok());
    let layout = match (count("ttg.num-warps"), count("ttg.threads-per-warp")) {
        (Some(warps), Some(lanes)) => layout(shape, element, warps, lanes, count("ttg.num-ctas").unwrap_or(1)),
        _ => None,
    };
    TileType::tensor(shape.to_vec(), element.clone(), layout)
}

fn layout(shape: &[u64], element: &TileType, warps: u64, lanes: u64, blocks: u64) -> Option<LayoutAttribute> {
    let axes = shape.len();
    let (mut sizes, mut threads) = (vec![1; axes], vec![1; axes]);
    // Sixteen contiguous bytes per lane.
    let wide = (128 / u64::from(element.element_bits()?)).max(1);
    *sizes.last_mut()? = wide.min(*shape.last()?).max(1);
    let mut left = lanes;
    for axis in (0..axes).rev() {
        threads[axis] = if axis == 0 { left } else { left.min((shape[axis] / sizes[axis]).max(1)) };
        left /= threads[axis];
    }
    let mut of_warps = vec![1; axes];
    of_warps[0] = warps;
    let order: Vec<_> = (0..axes).rev().collect();
    let mut text = format!(
        "#ttg.blocked<{{sizePerThread = {sizes:?}, threadsPerWarp = {threads:?}, warpsPerCTA = {of_warps:?}, order = {order:?}"
    );
    if blocks > 1 {
        let of_block = |bit: u32| {
            let mut tiles = vec![0; axes];
            tiles[0] = if shape[0] >> bit > 1 { 1u64 << bit } else { 0 };
            tiles
        };
        let divided: Vec<_> = (0..blocks.trailing_zeros()).map(of_block).collect();
        text.push_str(&format!(", CGALayout = {divided:?}"));
    }
    text.push_str("}>");
    parse_family_spec(&text).ok().map(|spec| LayoutAttribute::new(spec, text))
}

/// Returns the module attributes. If `op` is in a partition of a `ttg.warp_specialize`, the attribute `ttg.num-warps`
/// is the number of warps of the partition.
pub(crate) fn around(module: &Attributes, body: &FunctionBody, op: Op) -> Attributes {
    let mut plain_module = module.clone();
    for groups in body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == ttg::WARP_SPECIALIZE) {
        let operation = body.op(groups);
        let Some(Attribute::Array(_, warps)) = operation.attributes.get("partitionNumWarps") else { continue };
        let partitions = operation.regions.iter().skip(1).zip(warps);
        if let Some((_, &warps)) = partitions.into_iter().find(|(region, _)| body.walk_region(**region).contains(&op)) {
            plain_module.set(PARTITION, Attribute::Unit);
            plain_module.set("ttg.num-warps", Attribute::integer(warps as i64, TileType::integer(32)));
        }
    }
    plain_module
}

/// Returns the element type with this name, such as `f32` or `i8`; `None` if there is none.
pub(super) fn element(name: &str) -> Option<TileType> {
    let bits = name.strip_prefix('i').and_then(|bits| bits.parse().ok());
    let integer = bits.map(|bits| TileType::Integer(bits, Signedness::Signless));
    integer.or_else(|| FloatType::from_name(name).map(TileType::Float))
}
