//! The context of cases: a target, the known answers, and the thoroughness of the run.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{
    AttributeSyntaxes, FamilyError, FamilyProviders, FamilySpec, Layout, SampleLayout, SampleLayoutRequest,
};
use tilewright_plugin::Target;

use crate::{KnownAnswers, LazyDevice};

/// The context of cases: one target, the known answers that cases compare with, and options of the run.
#[derive(Clone)]
pub struct Context {
    target: Arc<dyn Target>,
    answers: Arc<KnownAnswers>,
    thoroughness: Thoroughness,
    /// The device that cases run kernels on; `None` unless devices were requested.
    devices: Option<Arc<LazyDevice>>,
    /// Folders of test programs; empty selects those that the suite carries.
    cases: Arc<[PathBuf]>,
    seed: u32,
    /// The first layouts that cases requested since [`Self::take_requested`] was last called; a report shows them for a
    /// failed case.
    requested: Arc<Mutex<Vec<RequestedLayout>>>,
}

/// A layout that a case requested from [`Context::build_layout`].
#[derive(Debug, Clone, PartialEq)]
struct RequestedLayout {
    spec: FamilySpec,
    shape: Vec<u64>,
    layout: Layout,
}

/// Max number of requested layouts that are recorded for the report of a case.
const MOST_REQUESTED: usize = 4;

/// How many variants (tensor shapes, numbers of warps) of each subject (such as a pair of layouts) a run checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thoroughness {
    /// Every subject on a few tensors, chosen so that all shapes and numbers of warps occur equally often: takes
    /// minutes for a target.
    #[default]
    Usual,
    /// Every subject on every tensor: takes hours for a target.
    Thorough,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.target.description().name).finish()
    }
}

impl Context {
    /// Creates the context of a target with the known answers that the suite carries.
    #[must_use]
    pub fn new(target: Arc<dyn Target>) -> Self {
        Self::with_answers(target, Arc::new(KnownAnswers::builtin()))
    }

    /// Creates the context of a target with the given known answers.
    #[must_use]
    pub fn with_answers(target: Arc<dyn Target>, answers: Arc<KnownAnswers>) -> Self {
        Self {
            target,
            answers,
            thoroughness: Thoroughness::default(),
            devices: None,
            cases: Arc::default(),
            seed: 0,
            requested: Arc::default(),
        }
    }

    /// Sets how many variants of each subject (such as a pair of layouts) are checked.
    #[must_use]
    pub fn with_thoroughness(self, thoroughness: Thoroughness) -> Self {
        Self { thoroughness, ..self }
    }

    /// Also runs kernels on the target's first device.
    #[must_use]
    pub fn with_devices(self) -> Self {
        self.with_device_named("")
    }

    /// Also runs kernels on the target's first device whose name contains `requested`.
    #[must_use]
    pub fn with_device_named(self, requested: &str) -> Self {
        Self { devices: Some(Arc::new(LazyDevice::select_named(requested))), ..self }
    }

    /// Sets the folders of test programs, in place of those that the suite carries.
    #[must_use]
    pub fn with_case_folders(self, folders: &[PathBuf]) -> Self {
        Self { cases: folders.into(), ..self }
    }

    /// Sets the first seed for cases that are generated at random.
    #[must_use]
    pub fn with_seed(self, seed: u32) -> Self {
        Self { seed, ..self }
    }

    /// Returns the first seed for cases that are generated at random; the other seeds follow it consecutively.
    #[must_use]
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Returns the folders of test programs; empty selects those that the suite carries.
    #[must_use]
    pub fn case_folders(&self) -> &[PathBuf] {
        &self.cases
    }

    /// Returns the device that cases run kernels on; `None` unless devices were requested.
    #[must_use]
    pub fn tested_device(&self) -> Option<&LazyDevice> {
        self.devices.as_deref()
    }

    /// Selects the variants of a subject to check, where `subject` is its index: `usual` of the candidates that pass
    /// `good`, or all of those in a thorough run.
    ///
    /// The selection rotates from subject to subject, so that over many subjects each variant occurs about equally
    /// often. If no variant passes `good`, one is returned all the same, so that its failure shows the reason.
    #[must_use]
    pub fn select_variants<T>(
        &self,
        subject: usize,
        usual: usize,
        candidates: Vec<T>,
        good: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let mut chosen = BTreeSet::new();
        if self.thoroughness == Thoroughness::Thorough {
            chosen.extend((0..candidates.len()).filter(|&index| good(&candidates[index])));
        } else {
            for draw in subject * usual..(subject + 1) * usual {
                let first = golden_ratio_step(draw, candidates.len());
                let mut order = (first..candidates.len()).chain(0..first);
                chosen.extend(order.find(|index| !chosen.contains(index) && good(&candidates[*index])));
            }
        }
        if chosen.is_empty() {
            chosen.insert(golden_ratio_step(subject, candidates.len()));
        }
        candidates
            .into_iter()
            .enumerate()
            .filter(|(index, _)| chosen.contains(index))
            .map(|(_, candidate)| candidate)
            .collect()
    }

    /// Returns the known answers, including those about layout families of other targets.
    #[must_use]
    pub fn answers(&self) -> &KnownAnswers {
        &self.answers
    }

    /// Returns the target that the cases check.
    #[must_use]
    pub fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// Returns all layout families that a program for the target can name: neutral ones and the vendor's.
    #[must_use]
    pub fn families(&self) -> FamilyProviders<'_> {
        FamilyProviders::new(vec![&NeutralFamilies, self.target.families()])
    }

    /// Returns the layout that `spec` (a family and its parameters) names for a tensor of `shape`.
    ///
    /// # Errors
    /// [`FamilyError`] if the family is unknown or rejects the parameters or the shape.
    pub fn build_layout(&self, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, FamilyError> {
        let layout = self.families().layout(spec, shape)?;
        // A lock poisoned by a panic is used all the same: the list holds complete layouts only.
        let mut requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        if requested.len() < MOST_REQUESTED
            && !requested.iter().any(|requested| requested.spec == *spec && requested.shape == shape)
        {
            requested.push(RequestedLayout { spec: spec.clone(), shape: shape.to_vec(), layout: layout.clone() });
        }
        Ok(layout)
    }

    /// Clears the record of requested layouts, before a case starts.
    pub(crate) fn forget_requested(&self) {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes the first layouts that were requested since the last call, each with its spec and shape as text: the
    /// layouts that the last case checked.
    pub(crate) fn take_requested(&self) -> Vec<(String, Layout)> {
        let requested = std::mem::take(&mut *self.requested.lock().unwrap_or_else(PoisonError::into_inner));
        let attribute_syntaxes = AttributeSyntaxes::from_families(&self.families());
        let labeled = |requested: RequestedLayout| {
            let sizes: Vec<_> = requested.shape.iter().map(u64::to_string).collect();
            (format!("{} of {}", attribute_syntaxes.print_spec(&requested.spec), sizes.join("x")), requested.layout)
        };
        requested.into_iter().map(labeled).collect()
    }

    /// Returns the sample layouts of all families for one use (lanes, warps, element width), neutral families first.
    #[must_use]
    pub fn sample_layouts(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        use tilewright_layout::Families;
        self.families().samples(use_case)
    }

    /// Returns the numbers of warps that cases are built for: 1, 2, 4, 8 and 16, limited by the lanes that a block may
    /// have.
    pub fn warp_counts(&self, lanes: u32) -> impl Iterator<Item = u32> + use<> {
        let most = self.target.description().limits.lanes_per_block / lanes.max(1);
        [1, 2, 4, 8, 16].into_iter().filter(move |&warps| warps <= most)
    }
}

/// Returns the fractional part of `step` times the golden ratio, scaled to 0 to `below - 1`: the results of any few
/// consecutive steps are spread evenly.
fn golden_ratio_step(step: usize, below: usize) -> usize {
    let fraction = (step as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((fraction * below as u64) >> 32) as usize
}
