//! Checks that every tensor type in real programs, after layout assignment, has a layout that the target's families can
//! resolve.

use crate::prelude::*;
use tilewright_assign::layouts::{LayoutCache, format_layout_attribute};
use tilewright_tile::{FunctionBody, TileType, text};

/// Checks the tensor types of all programs in the shared test data whose file names end with one of `endings`, for
/// warps of `lanes` lanes. Returns the number of distinct types.
pub fn all_have_layouts(target: &dyn Target, endings: &[&str], lanes: u64) -> usize {
    let folder = shared_data::path("kernels/ttgir");
    let families = FamilyProviders::new(vec![&NeutralFamilies, target.families()]);
    let (layouts, dialects) = (LayoutCache::new(&families), tilewright_dialects::all_dialects());
    let mut seen = BTreeSet::new();
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if !endings.iter().any(|ending| file.ends_with(ending)) {
            continue;
        }
        let module = text::parse_module(&std::fs::read_to_string(&path).unwrap(), &dialects).unwrap();
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        for ty in bodies.flat_map(types) {
            if seen.insert(ty.to_string()) {
                check_type(&ty, &layouts, lanes).unwrap_or_else(|error| panic!("{file}: {error}"));
            }
        }
    }
    seen.len()
}

fn types(body: &FunctionBody) -> Vec<TileType> {
    let mut found: Vec<TileType> = Vec::new();
    for op in body.walk_region(body.root()) {
        let operation = body.op(op);
        found.extend(operation.operands.iter().chain(&operation.results).map(|value| body.value_type(*value).clone()));
    }
    found
}

/// Checks that the layout of a type has the type's shape, that it covers the tensor, and that writing and parsing a
/// distributed layout yields the same layout.
fn check_type(ty: &TileType, layouts: &LayoutCache<'_>, lanes: u64) -> Result<(), String> {
    match ty {
        TileType::Tensor(tensor) => {
            let layout = layouts.resolve_distributed(ty).map_err(|error| error.to_string())?;
            let sizes: Vec<u64> = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
            let round_trip =
                TileType::tensor(tensor.shape.clone(), tensor.element.clone(), Some(format_layout_attribute(&layout)));
            let same = layouts.resolve_distributed(&round_trip).map_err(|error| error.to_string())? == layout;
            let fits = sizes == tensor.shape && layout.is_surjective() && 1 << layout.in_bits(Dim::LANE) == lanes;
            (fits && same).then_some(()).ok_or_else(|| format!("{ty}: {layout:?}"))
        }
        TileType::Memory(memory) => {
            let memory_layout = layouts.resolve_memory(ty).map_err(|error| error.to_string())?;
            let allocation_shape = memory.allocation.as_ref().unwrap_or(&memory.shape);
            let fits = [&memory_layout.copies[..], &memory_layout.shape[..]].concat() == *allocation_shape
                && memory_layout.copies.len() <= 1;
            (fits && memory_layout.layout.linear().is_surjective())
                .then_some(())
                .ok_or_else(|| format!("{ty}: {memory_layout:?}"))
        }
        _ => Ok(()),
    }
}
