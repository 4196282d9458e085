//! The inputs of comparisons with other compilers (peers): the layouts of `layouts.json`, with the parameters of
//! Triton's Gluon classes if Gluon has the family, and the targets with code generation.

use std::error::Error;

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, FamilyProviders, FamilySpec, LinearLayout, spec_from_json};
use tilewright_plugin::Target;

/// A layout whose construction is timed.
#[derive(Debug, Clone)]
pub struct LayoutTimingCase {
    /// Name of the layout in the tables of the comparison.
    pub name: String,
    /// The layout family and the values of its parameters.
    pub spec: FamilySpec,
    /// The shape of the tensor that the layout distributes.
    pub shape: Vec<u64>,
}

/// Reads all layouts whose construction is timed.
///
/// # Errors
/// `layouts.json` is not JSON, or an entry lacks a name, a valid layout family or a shape.
pub fn read_layout_timing_cases() -> Result<Vec<LayoutTimingCase>, Box<dyn Error>> {
    let rows: Vec<serde_json::Value> = serde_json::from_str(include_str!("../layouts.json"))?;
    let case = |row: &serde_json::Value| -> Result<LayoutTimingCase, Box<dyn Error>> {
        let name = row["name"].as_str().ok_or("a row has no name")?.to_owned();
        Ok(LayoutTimingCase {
            name,
            spec: spec_from_json(&row["params"])?,
            shape: serde_json::from_value(row["shape"].clone())?,
        })
    };
    rows.iter().map(case).collect()
}

/// Calls `work` with the layout families of all vendors.
pub fn call_with_all_vendor_families<T>(work: impl FnOnce(&dyn Families) -> T) -> T {
    let nvidia = tilewright_nvidia_tables::families::NvidiaFamilies::default();
    let amd = tilewright_amd_tables::families::AmdFamilies::default();
    let intel = tilewright_intel_tables::families::IntelFamilies::default();
    work(&FamilyProviders::new(vec![&NeutralFamilies, &nvidia, &amd, &intel]))
}

/// Returns the target that the catalogue's file `name` describes, with code generation.
///
/// # Errors
/// A target file is invalid, no target has the name, or neither NVIDIA's nor AMD's plugin serves its architecture.
pub fn open_target(name: &str) -> Result<Box<dyn Target>, Box<dyn Error>> {
    let catalogue = tilewright_targets::read_default_catalogue()?;
    let description = catalogue.get(name)?.clone();
    if tilewright_nvidia_tables::ARCHITECTURES.contains(&description.architecture.as_str()) {
        return Ok(Box::new(tilewright_nvidia::NvidiaTarget::new(description)?));
    }
    Ok(Box::new(tilewright_amd::AmdTarget::new(description)?))
}

/// The layouts on which operations of the layout library are timed: 128x64 elements over four warps, with either eight
/// elements along rows or four along columns in each lane; and a layout over four blocks.
#[derive(Debug)]
pub struct BenchmarkLayouts {
    /// Layout with eight adjacent elements of a row in each lane; consecutive lanes follow rows.
    pub rows: LinearLayout,
    /// Layout with four adjacent elements of a column in each lane; consecutive lanes follow columns.
    pub columns: LinearLayout,
    /// Layout with four blocks along the rows.
    pub blocks: LinearLayout,
}

impl BenchmarkLayouts {
    /// Builds the layouts that operations are timed on.
    ///
    /// # Errors
    /// No error occurs, since the layouts' constants are valid.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let over = |registers: &[[u64; 2]], lanes: &[[u64; 2]], warps: &[[u64; 2]]| {
            let listed = |bases: &[[u64; 2]]| bases.iter().map(|basis| basis.to_vec()).collect();
            let ins = [(Dim::REGISTER, listed(registers)), (Dim::LANE, listed(lanes)), (Dim::WARP, listed(warps))];
            LinearLayout::from_bases(&ins, &[(Dim::tensor(0), 128), (Dim::tensor(1), 64)])
        };
        Ok(Self {
            rows: over(
                &[[0, 1], [0, 2], [0, 4], [16, 0], [32, 0], [64, 0]],
                &[[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]],
                &[[4, 0], [8, 0]],
            )?,
            columns: over(
                &[[1, 0], [2, 0], [0, 4], [0, 8], [0, 16], [0, 32]],
                &[[4, 0], [8, 0], [16, 0], [0, 1], [0, 2]],
                &[[32, 0], [64, 0]],
            )?,
            blocks: LinearLayout::identity(4, Dim::BLOCK, Dim::tensor(0))?,
        })
    }
}
