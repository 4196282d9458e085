//! The layouts that the movement cases of a target use: samples of its layout families, and neutral layouts of tensors
//! with one and three axes.

use std::cell::RefCell;
use std::collections::HashMap;

use tilewright_kernel::Element;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, FamilySpec, Layout, SampleLayout};

use super::setting::ELEMENTS;
use super::{CaseTensorSpec, KernelConfig, NamedLayout};
use crate::{Context, Status};

/// The layouts for one element width and one number of lanes, for every number of warps.
pub(super) struct LayoutCorpus {
    /// An element type of the width that the layouts are for.
    pub(super) element: Element,
    /// Register layouts for each number of warps, neutral families first.
    distributed: Vec<(KernelConfig, Vec<NamedLayout>)>,
    /// Shared-memory layouts for each number of warps.
    memory: Vec<(KernelConfig, Vec<NamedLayout>)>,
    /// Cache of the results of [`LayoutCorpus::is_supported`], since building a layout takes time.
    usable: RefCell<HashMap<LayoutKey, bool>>,
}

/// Key of a cached result: index of the number of warps, shape of the tensor, name of the layout.
type LayoutKey = (usize, &'static [u64], String);

/// A tensor, and the layouts for it that a caller requested by name.
pub(super) type TensorWithLayouts = (CaseTensorSpec, Vec<NamedLayout>);

/// Selects tensors for the subjects of a group (such as pairs of layouts): a different part of the candidates for each
/// subject; see [`Context::select_variants`].
pub(super) struct Sampler<'a> {
    context: &'a Context,
    subject: usize,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self { context, subject: 0 }
    }

    /// Selects `usual` of the candidates for the next subject; all of them in a thorough run.
    pub(super) fn some_of<T>(&mut self, usual: usize, candidates: Vec<T>) -> Vec<T> {
        self.some_good_of(usual, candidates, |_| true)
    }

    fn some_good_of<T>(&mut self, usual: usize, candidates: Vec<T>, good: impl Fn(&T) -> bool) -> Vec<T> {
        self.subject += 1;
        self.context.select_variants(self.subject - 1, usual, candidates, good)
    }
}

impl LayoutCorpus {
    /// Builds the layouts of a target for every element width and number of lanes.
    pub(super) fn all(context: &Context) -> Vec<Self> {
        let settings = KernelConfig::all(context);
        let mut corpora = Vec::new();
        for &lanes in &context.target().description().lanes.choices {
            for element in ELEMENTS {
                let own = settings.iter().filter(|setting| (setting.lanes, setting.element) == (lanes, element));
                corpora.push(Self::new(context, element, own.copied()));
            }
        }
        corpora
    }

    fn new(context: &Context, element: Element, settings: impl Iterator<Item = KernelConfig>) -> Self {
        let mut corpus = Self { element, distributed: Vec::new(), memory: Vec::new(), usable: RefCell::default() };
        for setting in settings {
            let (mut distributed, mut memory) = (Vec::new(), Vec::new());
            let samples = context.sample_layouts(setting.sample_use());
            for sample in &samples {
                match context.build_layout(&sample.spec, &TYPICAL) {
                    Ok(Layout::Memory(_)) => memory.push(sample.into()),
                    Ok(Layout::TensorMemory(_)) => {}
                    // A layout that cannot be built is kept, so that its cases report it.
                    Ok(Layout::Distributed(_)) | Err(_) => distributed.push(sample),
                }
            }
            let lines = one_axis_layouts(setting, &distributed);
            let distributed =
                distributed.into_iter().map(NamedLayout::from).chain(lines).chain(three_axis_layouts(setting));
            corpus.distributed.push((setting, distributed.collect()));
            corpus.memory.push((setting, memory));
        }
        corpus
    }

    /// Returns the names of the register layouts.
    pub(super) fn distributed(&self) -> Vec<String> {
        names(&self.distributed)
    }

    /// Returns the names of the shared-memory layouts.
    pub(super) fn memory(&self) -> Vec<String> {
        names(&self.memory)
    }

    /// Returns the size in bytes of a tensor of this shape with the corpus's element type.
    pub(super) fn bytes(&self, shape: &[u64]) -> u64 {
        shape.iter().product::<u64>() * u64::from(self.element.bits() / 8)
    }

    /// Returns all tensors with the corpus's element width and number of lanes.
    pub(super) fn tensors(&self) -> Vec<CaseTensorSpec> {
        let of = |setting: KernelConfig| {
            let shapes = (1..=3).flat_map(move |axes| CaseTensorSpec::shapes(axes, setting));
            shapes.map(move |shape| CaseTensorSpec { shape: shape.to_vec(), setting })
        };
        self.distributed.iter().flat_map(|&(setting, _)| of(setting)).collect()
    }

    /// Selects `usual` of the tensors whose shape passes `keep` and is accepted by all layouts named in `expected`; all
    /// of them in a thorough run. Returns each tensor with these layouts.
    pub(super) fn select_tensors(
        &self,
        sampler: &mut Sampler<'_>,
        usual: usize,
        expected: &[&str],
        keep: impl Fn(&[u64]) -> bool,
    ) -> Vec<TensorWithLayouts> {
        let candidates = self.candidates(expected).filter(|(_, shape)| keep(shape)).collect();
        let with_layouts = |(at, shape): (usize, &[u64])| {
            let tensor = CaseTensorSpec { shape: shape.to_vec(), setting: self.distributed[at].0 };
            Some((tensor, self.find(at, expected)?.into_iter().cloned().collect()))
        };
        let context = sampler.context;
        let good = |&(at, shape): &(usize, &'static [u64])| {
            let found = self.find(at, expected).unwrap_or_default();
            found.into_iter().all(|endpoint| self.is_supported(context, at, shape, endpoint))
        };
        sampler.some_good_of(usual, candidates, good).into_iter().filter_map(with_layouts).collect()
    }

    /// Whether the layout's family accepts the shape, and the registers of a lane, rounded up to a power of two, hold
    /// the lane's elements. `at` is the index of the number of warps.
    fn is_supported(&self, context: &Context, at: usize, shape: &'static [u64], endpoint: &NamedLayout) -> bool {
        let key = (at, shape, endpoint.name.clone());
        if let Some(&known) = self.usable.borrow().get(&key) {
            return known;
        }
        let tensor = CaseTensorSpec { shape: shape.to_vec(), setting: self.distributed[at].0 };
        let usable = match endpoint.layout(context, &tensor) {
            Ok(Layout::Distributed(layout)) => {
                // A lane holds a power of two of words; 255 registers count as 256.
                let words = (u64::from(self.element.bits()) << layout.in_bits(Dim::REGISTER)) / 32;
                words <= u64::from(context.target().description().limits.registers_per_lane.next_power_of_two())
            }
            Ok(_) => true,
            // Other errors are reported by the layout's own cases.
            Err(verdict) => verdict.status != Status::Unsupported,
        };
        self.usable.borrow_mut().insert(key, usable);
        usable
    }

    /// Whether all layouts of these names accept a common shape that passes `keep`.
    pub(super) fn has_common_shape(&self, expected: &[&str], keep: impl Fn(&[u64]) -> bool) -> bool {
        self.candidates(expected).any(|(_, shape)| keep(shape))
    }

    /// Returns all pairs (index of a number of warps, tensor shape) that every layout named in `expected` accepts.
    fn candidates(&self, expected: &[&str]) -> impl Iterator<Item = (usize, &'static [u64])> {
        let of_warps = |(at, &(setting, _)): (usize, &(KernelConfig, _))| {
            let found = self.find(at, expected).unwrap_or_default();
            let takes = |&axes: &usize| !found.is_empty() && found.iter().all(|endpoint| endpoint.takes(axes));
            let axes: Vec<usize> = (1..=3).filter(takes).collect();
            axes.into_iter().flat_map(move |axes| CaseTensorSpec::shapes(axes, setting)).map(move |shape| (at, shape))
        };
        self.distributed.iter().enumerate().flat_map(of_warps)
    }

    /// Returns the layouts named in `expected` for the number of warps with index `at`; `None` if a layout is missing.
    fn find(&self, at: usize, expected: &[&str]) -> Option<Vec<&NamedLayout>> {
        let all = || self.distributed[at].1.iter().chain(&self.memory[at].1);
        expected.iter().map(|name| all().find(|endpoint| endpoint.name == **name)).collect()
    }
}

/// A shape that all samples of layout families support.
const TYPICAL: [u64; 2] = [128, 128];

/// Returns the distinct names of the layouts in `of_settings`, which has one entry for each number of warps, in the
/// order of their first occurrence.
fn names(of_settings: &[(KernelConfig, Vec<NamedLayout>)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for endpoint in of_settings.iter().flat_map(|(_, endpoints)| endpoints) {
        if !names.contains(&endpoint.name) {
            names.push(endpoint.name.clone());
        }
    }
    names
}

/// Returns layouts of tensors of one axis: a blocked layout, and slices (layouts of reduction results) along both axes
/// of one neutral sample and of the vendor's samples.
fn one_axis_layouts(setting: KernelConfig, samples: &[&SampleLayout]) -> Vec<NamedLayout> {
    let line = |name: String, spec| NamedLayout { name, spec, axes: 1 };
    let mut lines = vec![line("blocked-row".to_owned(), blocked(&[1], &[setting.lanes], &[setting.warps], &[0]))];
    let neutral: Vec<_> = NeutralFamilies.samples(setting.sample_use()).into_iter().map(|sample| sample.name).collect();
    let (neutral, own): (Vec<&SampleLayout>, Vec<&SampleLayout>) =
        samples.iter().copied().partition(|sample| neutral.contains(&sample.name));
    for sample in neutral.into_iter().take(1).chain(own).filter(|sample| sample.spec.parent.is_none()) {
        for axis in [0, 1] {
            let spec = FamilySpec::new("slice").with_parameter("dim", axis).with_parent(sample.spec.clone());
            lines.push(line(format!("slice{axis}-of-{}", sample.name), spec));
        }
    }
    lines
}

/// Returns layouts of tensors of three axes, with lanes and warps along all of them.
fn three_axis_layouts(setting: KernelConfig) -> Vec<NamedLayout> {
    let solid = |name: &str, spec| NamedLayout { name: name.to_owned(), spec, axes: 3 };
    let (lanes, warps) = (setting.lanes, setting.warps);
    let planes = 1 << (warps.trailing_zeros() / 2);
    vec![
        solid("blocked-rows-3d", blocked(&[1, 1, 4], &[2, lanes / 8, 4], &[planes, warps / planes, 1], &[2, 1, 0])),
        solid("blocked-planes-3d", blocked(&[2, 2, 1], &[4, 2, lanes / 8], &[1, planes, warps / planes], &[0, 1, 2])),
    ]
}

fn blocked(per_lane: &[u32], per_warp: &[u32], per_block: &[u32], order: &[i64]) -> FamilySpec {
    let sizes = |sizes: &[u32]| sizes.iter().map(|&size| i64::from(size)).collect::<Vec<_>>();
    FamilySpec::new("blocked")
        .with_parameter("size_per_thread", &sizes(per_lane)[..])
        .with_parameter("threads_per_warp", &sizes(per_warp)[..])
        .with_parameter("warps_per_cta", &sizes(per_block)[..])
        .with_parameter("order", order)
}
