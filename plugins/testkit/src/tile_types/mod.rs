//! Every type of real programs after layouts were assigned has a layout, of the target's families.

use crate::prelude::*;
use tilewright_assign::layouts::{LayoutCache, name};
use tilewright_tile::{Body, TileType, text};

/// Looks at the programs of the full data whose names end so; the number of different types.
pub fn all_have_layouts(target: &dyn Target, endings: &[&str], lanes: u64) -> usize {
    let folder = shared_data::path("kernels/ttgir");
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let (layouts, dialects) = (LayoutCache::new(&families), tilewright_dialects::all());
    let mut seen = BTreeSet::new();
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if !endings.iter().any(|ending| file.ends_with(ending)) {
            continue;
        }
        let module = text::parse(&std::fs::read_to_string(&path).unwrap(), &dialects).unwrap();
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        for ty in bodies.flat_map(types) {
            if seen.insert(ty.to_string()) {
                look(&ty, &layouts, lanes).unwrap_or_else(|error| panic!("{file}: {error}"));
            }
        }
    }
    seen.len()
}

fn types(body: &Body) -> Vec<TileType> {
    let mut found: Vec<TileType> = Vec::new();
    for op in body.walk(body.root()) {
        let operation = body.op(op);
        found.extend(operation.operands.iter().chain(&operation.results).map(|value| body.ty(*value).clone()));
    }
    found
}

/// Layouts are of the tensor, reach all of it, and come back from the name that is made of them.
fn look(ty: &TileType, layouts: &LayoutCache<'_>, lanes: u64) -> Result<(), String> {
    match ty {
        TileType::Tensor(tensor) => {
            let layout = layouts.distributed(ty).map_err(|error| error.to_string())?;
            let sizes: Vec<u64> = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
            let again = TileType::tensor(tensor.shape.clone(), tensor.element.clone(), Some(name(&layout)));
            let same = layouts.distributed(&again).map_err(|error| error.to_string())? == layout;
            let fits = sizes == tensor.shape && layout.is_surjective() && 1 << layout.in_bits(Dim::LANE) == lanes;
            (fits && same).then_some(()).ok_or_else(|| format!("{ty}: {layout:?}"))
        }
        TileType::Memory(memory) => {
            let place = layouts.memory(ty).map_err(|error| error.to_string())?;
            let whole = memory.allocation.as_ref().unwrap_or(&memory.shape);
            let fits = [&place.copies[..], &place.shape[..]].concat() == *whole && place.copies.len() <= 1;
            (fits && place.layout.linear().is_surjective()).then_some(()).ok_or_else(|| format!("{ty}: {place:?}"))
        }
        _ => Ok(()),
    }
}
