//! Tests of layout names in types: resolving a name, and naming a layout.

use tilewright_assign::layouts::{
    LayoutCache, LayoutResolveError, format_layout_attribute, resolve_distributed_layout, to_canonical_dim_order,
};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, Layout, LayoutError, LinearLayout};
use tilewright_tile::op::Dialects;
use tilewright_tile::{TileModule, TileType, text};

/// Returns the types of the arguments of a function with these argument types.
fn types(types: &[&str]) -> Vec<TileType> {
    let arguments: Vec<String> = types.iter().enumerate().map(|(number, ty)| format!("%a{number}: {ty}")).collect();
    let program = format!("module {{ tt.func @f({}) {{ tt.return }} }}", arguments.join(", "));
    let module: TileModule =
        text::parse_module(&program, &Dialects::neutral()).unwrap_or_else(|error| panic!("{program}: {error}"));
    module.functions[0].signature.arguments.clone()
}

fn ty(text: &str) -> TileType {
    types(&[text]).remove(0)
}

const BLOCKED: &str =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";

#[test]
fn a_tensor_has_the_layout_that_its_type_names() {
    let blocked_layout =
        resolve_distributed_layout(&ty(&format!("tensor<32x16xf32, {BLOCKED}>")), &NeutralFamilies).expect("a layout");
    assert_eq!(
        blocked_layout.apply(&[(Dim::REGISTER, 3), (Dim::LANE, 5), (Dim::WARP, 2)]).expect("in range"),
        [(Dim::tensor(0), 17), (Dim::tensor(1), 7),]
    );
    let slice = format!("tensor<32xf32, #ttg.slice<{{dim = 1, parent = {BLOCKED}}}>>");
    let slice = resolve_distributed_layout(&ty(&slice), &NeutralFamilies).expect("a layout");
    assert_eq!(slice.bases_of(Dim::LANE), [[0], [0], [1], [2], [4]]);
}

#[test]
fn dims_that_types_lack_are_errors() {
    let of = |dim| LinearLayout::identity(4, dim, Dim::tensor(0)).expect("a layout");
    assert!(to_canonical_dim_order(&of(Dim::LANE)).is_ok());
    assert_eq!(to_canonical_dim_order(&of(Dim::OFFSET)), Err(LayoutError::NoSuchDim { dim: Dim::OFFSET }));
}

#[test]
fn a_type_without_a_layout_is_an_error() {
    let plain = ty("tensor<32x16xf32>");
    assert_eq!(
        resolve_distributed_layout(&plain, &NeutralFamilies),
        Err(LayoutResolveError::Unassigned { ty: "tensor<32x16xf32>".to_owned() })
    );
    assert!(matches!(resolve_distributed_layout(&ty("f32"), &NeutralFamilies), Err(LayoutResolveError::Kind { .. })));
    let foreign = resolve_distributed_layout(&ty("tensor<32xf32, #ttg.nowhere<{}>>"), &NeutralFamilies);
    assert!(matches!(foreign, Err(LayoutResolveError::Family { .. })), "{foreign:?}");
    let memory = "tensor<32x16xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>>";
    assert!(matches!(resolve_distributed_layout(&ty(memory), &NeutralFamilies), Err(LayoutResolveError::Wrong { .. })));
}

#[test]
fn buffers_stand_before_the_axes_of_a_memory_layout() {
    let swizzled = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>";
    let memory = |shape: &str, more: &str| {
        let text = format!("!ttg.memdesc<{shape}xf16, {swizzled}, #ttg.shared_memory, mutable{more}>");
        LayoutCache::new(&NeutralFamilies).resolve_memory(&ty(&text)).unwrap_or_else(|error| panic!("{error}"))
    };
    let memory_layout = memory("3x8x16", "");
    assert_eq!((memory_layout.copies, memory_layout.shape), (vec![3], vec![8, 16]));
    assert_eq!(memory_layout.layout.linear().in_bits(Dim::OFFSET), 7);
    // A subview has the layout of the whole allocation.
    let memory_layout = memory("8x4", ", 8x16");
    assert_eq!((memory_layout.copies, memory_layout.shape), (vec![], vec![8, 16]));
    assert!(matches!(memory_layout.layout, Layout::Memory(_)));
}

/// Checks that a name resolves to the layout that it was made from, for each family of layouts.
#[test]
fn a_name_stands_for_its_layout() {
    let shapes = [vec![128], vec![32, 16], vec![8, 4, 32]];
    let mut blocked = 0;
    for shape in &shapes {
        for vector in [1u64, 2, 4] {
            for lanes in [32u64, 64] {
                let layout = line(shape, vector, lanes);
                let name = format_layout_attribute(&layout);
                blocked += usize::from(name.spec().name == "blocked");
                let ty = TileType::tensor(shape.clone(), TileType::integer(32), Some(name.clone()));
                assert_eq!(resolve_distributed_layout(&ty, &NeutralFamilies).as_ref(), Ok(&layout), "{}", name.text());
                let written = self::ty(&ty.to_string());
                assert_eq!(written, ty, "read as it was written");
            }
        }
    }
    assert!(blocked >= 6, "{blocked} of the layouts are blocked");
}

#[test]
fn what_is_no_blocked_layout_is_named_by_its_bases() {
    let bases = [
        (Dim::REGISTER, vec![vec![8, 0], vec![0, 0]]),
        (Dim::LANE, vec![vec![0, 1], vec![1, 0], vec![3, 2], vec![2, 0]]),
        (Dim::WARP, vec![vec![4, 0]]),
        (Dim::BLOCK, vec![]),
    ];
    let layout = LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 16), (Dim::tensor(1), 4)]).expect("a layout");
    let name = format_layout_attribute(&layout);
    assert_eq!(name.spec().name, "generic_linear", "lane 2 moves along two axes");
    let resolved = NeutralFamilies.resolve(name.spec(), &[16, 4], &NeutralFamilies).expect("a layout");
    assert_eq!(resolved, Layout::Distributed(layout));
}

/// Returns a row-major layout of registers, lanes and warps; surplus lanes and warps replicate.
fn line(shape: &[u64], vector: u64, lanes: u64) -> LinearLayout {
    let outs: Vec<_> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    let mut units = Vec::new();
    for (axis, &size) in shape.iter().enumerate().rev() {
        units.extend((0..size.trailing_zeros()).map(|bit| {
            let mut basis = vec![0; shape.len()];
            basis[axis] = 1 << bit;
            basis
        }));
    }
    let mut units = units.into_iter();
    let mut take = |count: u32| -> Vec<Vec<u64>> {
        (0..count).map(|_| units.next().unwrap_or_else(|| vec![0; shape.len()])).collect()
    };
    let mut registers = take(vector.trailing_zeros());
    let (lanes, warps) = (take(lanes.trailing_zeros()), take(2));
    registers.extend(units);
    registers.retain(|basis| basis.iter().any(|&by| by != 0));
    let bases = [(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps), (Dim::BLOCK, vec![])];
    LinearLayout::from_bases(&bases, &outs).expect("a layout")
}
