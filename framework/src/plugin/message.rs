//! The structured values that cross, each with the function that writes and the one that reads it.
//!
//! Rows and list items with variants of a later version are skipped, as far as the rest makes
//! sense without them. Imports `layout`, `target`, `vendor`.

use ciborium::Value;
use serde::{Deserialize, Serialize};

use super::wire::{self, WireError};
use crate::layout::{FamilySpec, Layout, Sample, SampleUse};
use crate::target::{BankRow, ExchangeRow, Instruction, TargetDescription};
use crate::vendor::{Artifact, CompileOptions, Emit, Payload, Target};

/// What a plugin says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PluginInfo {
    pub name: String,
    pub version: String,
    pub abi_minor: u32,
    pub architectures: Vec<String>,
}

/// What a target has besides its description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TargetInfo {
    /// Names of the layout families.
    pub families: Vec<String>,
    /// The instruction table.
    pub instructions: Vec<Instruction>,
    /// Samples of the families, for each use that [`uses`] lists; a plugin need not have any.
    #[serde(default)]
    pub samples: Vec<SamplesOfUse>,
}

/// The samples of a target's families for one use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SamplesOfUse {
    #[serde(rename = "use")]
    pub use_case: SampleUse,
    pub samples: Vec<Sample>,
}

/// The uses whose samples cross: every choice of lanes, blocks of up to 16 warps, elements of 8 to
/// 64 bits.
fn uses(description: &TargetDescription) -> impl Iterator<Item = SampleUse> + '_ {
    description.lanes.choices.iter().flat_map(|&lanes| {
        let most = description.limits.lanes_per_block / lanes.max(1);
        let warps = [1, 2, 4, 8, 16].into_iter().filter(move |&warps| warps <= most);
        warps.flat_map(move |warps| [8, 16, 32, 64].map(|element_bits| SampleUse { lanes, warps, element_bits }))
    })
}

impl TargetInfo {
    pub(super) fn of(target: &dyn Target) -> Self {
        let families = target.families();
        let samples = uses(target.description())
            .map(|use_case| SamplesOfUse { use_case, samples: families.samples(use_case) })
            .filter(|of_use| !of_use.samples.is_empty());
        Self { families: families.names(), instructions: target.instructions().to_vec(), samples: samples.collect() }
    }
}

/// A question about a layout family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FamilyRequest {
    pub spec: FamilySpec,
    pub shape: Vec<u64>,
}

/// The answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FamilyAnswer {
    pub layout: Layout,
}

fn read_without<T: serde::de::DeserializeOwned>(bytes: &[u8], skip: impl Fn(&mut Value)) -> Result<T, WireError> {
    let mut value = wire::read_value(bytes)?;
    skip(&mut value);
    Ok(super::lenient::from_value(&value)?)
}

pub(super) fn read_description(bytes: &[u8]) -> Result<TargetDescription, WireError> {
    read_without(bytes, |value| {
        wire::skip_unknown_rows::<ExchangeRow>(value, &["exchanges"]);
        wire::skip_unknown_rows::<BankRow>(value, &["shared", "banks"]);
    })
}

pub(super) fn read_target_info(bytes: &[u8]) -> Result<TargetInfo, WireError> {
    read_without(bytes, |value| wire::skip_unknown_rows::<Instruction>(value, &["instructions"]))
}

pub(super) fn read_options(bytes: &[u8]) -> Result<CompileOptions, WireError> {
    read_without(bytes, |value| wire::skip_unknown_rows::<Emit>(value, &["emit"]))
}

pub(super) fn read_artifact(bytes: &[u8]) -> Result<Artifact, WireError> {
    read_without(bytes, |value| wire::skip_unknown_rows::<Payload>(value, &["payloads"]))
}
