//! The layouts that a target's movements are shown with: the samples of its families, and neutral ones of tensors
//! of one and of three axes.

use std::cell::RefCell;
use std::collections::HashMap;

use tilewright_kernel::Element;
use tilewright_layout::families::Neutral;
use tilewright_layout::{Dim, Families, FamilySpec, Layout, Sample};

use super::setting::ELEMENTS;
use super::{CaseTensor, Endpoint, Setting};
use crate::{Context, Status};

/// The layouts for one width of elements and one number of lanes, for every number of warps.
pub(super) struct LayoutCorpus {
    /// One element of the width.
    pub(super) element: Element,
    /// Layouts of registers, those of the neutral families first.
    distributed: Vec<(Setting, Vec<Endpoint>)>,
    /// Layouts of shared memory.
    memory: Vec<(Setting, Vec<Endpoint>)>,
    /// Whether the layouts that were asked about are there; see [`LayoutCorpus::is_held`].
    held: RefCell<HashMap<Asked, bool>>,
}

/// The number of warps, by index, the shape, and the name of a layout.
type Asked = (usize, &'static [u64], String);

/// A tensor, and the layouts that were asked for by name.
pub(super) type Way = (CaseTensor, Vec<Endpoint>);

/// Numbers the subjects of a group, so that each is shown in its turn; see [`Context::some_of`].
pub(super) struct Turns<'a> {
    context: &'a Context,
    subject: usize,
}

impl<'a> Turns<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self { context, subject: 0 }
    }

    /// `usual` of the ways to show the next subject.
    pub(super) fn some_of<T>(&mut self, usual: usize, ways: Vec<T>) -> Vec<T> {
        self.some_good_of(usual, ways, |_| true)
    }

    fn some_good_of<T>(&mut self, usual: usize, ways: Vec<T>, good: impl Fn(&T) -> bool) -> Vec<T> {
        self.subject += 1;
        self.context.some_of(self.subject - 1, usual, ways, good)
    }
}

impl LayoutCorpus {
    /// For every width and choice of lanes.
    pub(super) fn all(context: &Context) -> Vec<Self> {
        let settings = Setting::all(context);
        let mut lineups = Vec::new();
        for &lanes in &context.target().description().lanes.choices {
            for element in ELEMENTS {
                let own = settings.iter().filter(|setting| (setting.lanes, setting.element) == (lanes, element));
                lineups.push(Self::new(context, element, own.copied()));
            }
        }
        lineups
    }

    fn new(context: &Context, element: Element, settings: impl Iterator<Item = Setting>) -> Self {
        let mut corpus = Self { element, distributed: Vec::new(), memory: Vec::new(), held: RefCell::default() };
        for setting in settings {
            let (mut distributed, mut memory) = (Vec::new(), Vec::new());
            let samples = context.samples(setting.sample_use());
            for sample in &samples {
                match context.layout(&sample.spec, &TYPICAL) {
                    Ok(Layout::Memory(_)) => memory.push(sample.into()),
                    Ok(Layout::TensorMemory(_)) => {}
                    // One that cannot be built is kept: its cases show it.
                    Ok(Layout::Distributed(_)) | Err(_) => distributed.push(sample),
                }
            }
            let lines = lines(setting, &distributed);
            let distributed = distributed.into_iter().map(Endpoint::from).chain(lines).chain(solids(setting));
            corpus.distributed.push((setting, distributed.collect()));
            corpus.memory.push((setting, memory));
        }
        corpus
    }

    /// The names of layouts of registers.
    pub(super) fn distributed(&self) -> Vec<String> {
        names(&self.distributed)
    }

    /// The names of layouts of shared memory.
    pub(super) fn memory(&self) -> Vec<String> {
        names(&self.memory)
    }

    /// Bytes of a tensor of this shape.
    pub(super) fn bytes(&self, shape: &[u64]) -> u64 {
        shape.iter().product::<u64>() * u64::from(self.element.bits() / 8)
    }

    /// All tensors of the width and number of lanes.
    pub(super) fn tensors(&self) -> Vec<CaseTensor> {
        let of = |setting: Setting| {
            let shapes = (1..=3).flat_map(move |axes| CaseTensor::shapes(axes, setting));
            shapes.map(move |shape| CaseTensor { shape: shape.to_vec(), setting })
        };
        self.distributed.iter().flat_map(|&(setting, _)| of(setting)).collect()
    }

    /// `usual` of the tensors that all of the layouts of these names take and that are kept, with the layouts.
    pub(super) fn some(
        &self,
        turns: &mut Turns<'_>,
        usual: usize,
        expected: &[&str],
        keep: impl Fn(&[u64]) -> bool,
    ) -> Vec<Way> {
        let ways = self.ways(expected).filter(|(_, shape)| keep(shape)).collect();
        let way = |(at, shape): (usize, &[u64])| {
            let tensor = CaseTensor { shape: shape.to_vec(), setting: self.distributed[at].0 };
            Some((tensor, self.find(at, expected)?.into_iter().cloned().collect()))
        };
        let context = turns.context;
        let good = |&(at, shape): &(usize, &'static [u64])| {
            let found = self.find(at, expected).unwrap_or_default();
            found.into_iter().all(|endpoint| self.is_held(context, at, shape, endpoint))
        };
        turns.some_good_of(usual, ways, good).into_iter().filter_map(way).collect()
    }

    /// Whether the family has a layout of the shape, as others than the smallest may have none, and lanes have
    /// registers for it, which they may lack where it keeps many copies.
    fn is_held(&self, context: &Context, at: usize, shape: &'static [u64], endpoint: &Endpoint) -> bool {
        let key = (at, shape, endpoint.name.clone());
        if let Some(&known) = self.held.borrow().get(&key) {
            return known;
        }
        let tensor = CaseTensor { shape: shape.to_vec(), setting: self.distributed[at].0 };
        let held = match endpoint.layout(context, &tensor) {
            Ok(Layout::Distributed(layout)) => {
                // What a lane holds is a power of two; 255 registers stand for 256.
                let words = (u64::from(self.element.bits()) << layout.in_bits(Dim::REGISTER)) / 32;
                words <= u64::from(context.target().description().limits.registers_per_lane.next_power_of_two())
            }
            Ok(_) => true,
            // What is wrong with it is for its cases to show.
            Err(verdict) => verdict.status != Status::Unsupported,
        };
        self.held.borrow_mut().insert(key, held);
        held
    }

    /// Whether any tensor that is kept has all of the layouts of these names.
    pub(super) fn meet(&self, expected: &[&str], keep: impl Fn(&[u64]) -> bool) -> bool {
        self.ways(expected).any(|(_, shape)| keep(shape))
    }

    /// For each number of warps for which all of the layouts of these names are there, by index, the shapes that all
    /// of them take.
    fn ways(&self, expected: &[&str]) -> impl Iterator<Item = (usize, &'static [u64])> {
        let of_warps = |(at, &(setting, _)): (usize, &(Setting, _))| {
            let found = self.find(at, expected).unwrap_or_default();
            let takes = |&axes: &usize| !found.is_empty() && found.iter().all(|endpoint| endpoint.takes(axes));
            let axes: Vec<usize> = (1..=3).filter(takes).collect();
            axes.into_iter().flat_map(move |axes| CaseTensor::shapes(axes, setting)).map(move |shape| (at, shape))
        };
        self.distributed.iter().enumerate().flat_map(of_warps)
    }

    /// The layouts of these names for one number of warps, if it has them all.
    fn find(&self, at: usize, expected: &[&str]) -> Option<Vec<&Endpoint>> {
        let all = || self.distributed[at].1.iter().chain(&self.memory[at].1);
        expected.iter().map(|name| all().find(|endpoint| endpoint.name == **name)).collect()
    }
}

/// A shape that the samples of every family have layouts of.
const TYPICAL: [u64; 2] = [128, 128];

/// The names that layouts have for any number of warps, in their order.
fn names(of_settings: &[(Setting, Vec<Endpoint>)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for endpoint in of_settings.iter().flat_map(|(_, endpoints)| endpoints) {
        if !names.contains(&endpoint.name) {
            names.push(endpoint.name.clone());
        }
    }
    names
}

/// Layouts of tensors of one axis: a plain one, and what reductions leave of each layout that derives from no
/// other.
fn lines(setting: Setting, samples: &[&Sample]) -> Vec<Endpoint> {
    let line = |name: String, spec| Endpoint { name, spec, axes: 1 };
    let mut lines = vec![line("blocked-row".to_owned(), blocked(&[1], &[setting.lanes], &[setting.warps], &[0]))];
    let neutral: Vec<_> = Neutral.samples(setting.sample_use()).into_iter().map(|sample| sample.name).collect();
    let (neutral, own): (Vec<&Sample>, Vec<&Sample>) =
        samples.iter().copied().partition(|sample| neutral.contains(&sample.name));
    for sample in neutral.into_iter().take(1).chain(own).filter(|sample| sample.spec.parent.is_none()) {
        for axis in [0, 1] {
            let spec = FamilySpec::new("slice").with("dim", axis).of(sample.spec.clone());
            lines.push(line(format!("slice{axis}-of-{}", sample.name), spec));
        }
    }
    lines
}

/// Layouts of tensors of three axes: lanes and warps along all of them.
fn solids(setting: Setting) -> Vec<Endpoint> {
    let solid = |name: &str, spec| Endpoint { name: name.to_owned(), spec, axes: 3 };
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
        .with("size_per_thread", &sizes(per_lane)[..])
        .with("threads_per_warp", &sizes(per_warp)[..])
        .with("warps_per_cta", &sizes(per_block)[..])
        .with("order", order)
}
