//! The context of cases: a target, the known answers, and how much is to be shown of it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tilewright_layout::families::Neutral;
use tilewright_layout::{AttributeSyntaxes, FamilyError, FamilySet, FamilySpec, Layout, Sample, SampleUse};
use tilewright_plugin::Target;

use crate::{Answers, Devices};

/// The context of a run: one target, and the known answers that cases compare with.
#[derive(Clone)]
pub struct Context {
    target: Arc<dyn Target>,
    answers: Arc<Answers>,
    thoroughness: Thoroughness,
    /// Where cases are to run on a device, too.
    devices: Option<Arc<Devices>>,
    /// Folders of whole programs.
    cases: Arc<[PathBuf]>,
    seed: u32,
    /// The first layouts that were asked for since they were last taken.
    requested: Arc<Mutex<Vec<Asked>>>,
}

/// A layout that was asked for.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    spec: FamilySpec,
    shape: Vec<u64>,
    layout: Layout,
}

/// So many layouts that a case asks for are kept to be shown.
const MOST_ASKED: usize = 4;

/// How much of what could be shown is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thoroughness {
    /// Every subject (a pair of layouts, an axis of one) on a few tensors, so chosen that all shapes and numbers
    /// of warps take their turns: minutes for a target.
    #[default]
    Usual,
    /// Every subject on every tensor: hours.
    Thorough,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.target.description().name).finish()
    }
}

impl Context {
    /// The context of a target, with the known answers that the suite carries.
    #[must_use]
    pub fn new(target: Arc<dyn Target>) -> Self {
        Self::with_answers(target, Arc::new(Answers::carried()))
    }

    /// The context of a target and known answers.
    #[must_use]
    pub fn with_answers(target: Arc<dyn Target>, answers: Arc<Answers>) -> Self {
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

    /// The same, with as much to show.
    #[must_use]
    pub fn with_thoroughness(self, thoroughness: Thoroughness) -> Self {
        Self { thoroughness, ..self }
    }

    /// The same with cases that run on the first device of the target.
    #[must_use]
    pub fn with_devices(self) -> Self {
        self.with_device_named("")
    }

    /// The same with cases that run on the first device of the target that has this in its name.
    #[must_use]
    pub fn with_device_named(self, requested: &str) -> Self {
        Self { devices: Some(Arc::new(Devices::named(requested))), ..self }
    }

    /// The same with folders of whole programs in the place of those that the suite carries.
    #[must_use]
    pub fn with_cases(self, folders: &[PathBuf]) -> Self {
        Self { cases: folders.into(), ..self }
    }

    /// The same with random cases that begin at this seed.
    #[must_use]
    pub fn with_seed(self, seed: u32) -> Self {
        Self { seed, ..self }
    }

    /// Where random cases begin: their seeds are this one and those after it.
    #[must_use]
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Folders of whole programs; none where those are wanted that the suite carries.
    #[must_use]
    pub fn cases(&self) -> &[PathBuf] {
        &self.cases
    }

    /// Where cases are to run on a device, what gives it to them.
    #[must_use]
    pub fn devices(&self) -> Option<&Devices> {
        self.devices.as_deref()
    }

    /// Of all ways to show subject number `subject` those to take: `usual` of the good ones, which differ from subject
    /// to subject so that over many each way has its turn about equally often; all good ones where everything is to
    /// be shown. Where none is good one is taken all the same, so that it is seen why.
    #[must_use]
    pub fn some_of<T>(&self, subject: usize, usual: usize, ways: Vec<T>, good: impl Fn(&T) -> bool) -> Vec<T> {
        let mut chosen = BTreeSet::new();
        if self.thoroughness == Thoroughness::Thorough {
            chosen.extend((0..ways.len()).filter(|&index| good(&ways[index])));
        } else {
            for turn in subject * usual..(subject + 1) * usual {
                let first = golden(turn, ways.len());
                let mut order = (first..ways.len()).chain(0..first);
                chosen.extend(order.find(|index| !chosen.contains(index) && good(&ways[*index])));
            }
        }
        if chosen.is_empty() {
            chosen.insert(golden(subject, ways.len()));
        }
        ways.into_iter().enumerate().filter(|(index, _)| chosen.contains(index)).map(|(_, way)| way).collect()
    }

    /// The known answers at hand, also those about families of other targets.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// All families that a program for the target can name: the neutral ones and the vendor's.
    #[must_use]
    pub fn families(&self) -> FamilySet<'_> {
        FamilySet::new(vec![&Neutral, self.target.families()])
    }

    /// The layout that `spec` names for a tensor of `shape`.
    ///
    /// # Errors
    /// [`FamilyError`].
    pub fn layout(&self, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, FamilyError> {
        let layout = self.families().layout(spec, shape)?;
        // A poisoned lock guards a list of whole layouts.
        let mut requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        if requested.len() < MOST_ASKED
            && !requested.iter().any(|requested| requested.spec == *spec && requested.shape == shape)
        {
            requested.push(Asked { spec: spec.clone(), shape: shape.to_vec(), layout: layout.clone() });
        }
        Ok(layout)
    }

    /// Forgets which layouts were asked for.
    pub(crate) fn forget_asked(&self) {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes the layouts that were asked for since this was last done, the first few of them, each with how it was asked
    /// for: what a case that has just run was about.
    pub(crate) fn take_asked(&self) -> Vec<(String, Layout)> {
        let requested = std::mem::take(&mut *self.requested.lock().unwrap_or_else(PoisonError::into_inner));
        let spellings = AttributeSyntaxes::of_families(&self.families());
        let described = |requested: Asked| {
            let sizes: Vec<_> = requested.shape.iter().map(u64::to_string).collect();
            (format!("{} of {}", spellings.text(&requested.spec), sizes.join("x")), requested.layout)
        };
        requested.into_iter().map(described).collect()
    }

    /// The samples of all families for one use, those of the neutral families first.
    #[must_use]
    pub fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        use tilewright_layout::Families;
        self.families().samples(use_case)
    }

    /// The warps of a block that cases are built for: 1, 2, 4, 8 and 16, as far as a block of so many
    /// lanes is allowed.
    pub fn warp_counts(&self, lanes: u32) -> impl Iterator<Item = u32> + use<> {
        let most = self.target.description().limits.lanes_per_block / lanes.max(1);
        [1, 2, 4, 8, 16].into_iter().filter(move |&warps| warps <= most)
    }
}

/// Multiples of the golden ratio, of which any few that follow each other are spread evenly.
fn golden(step: usize, below: usize) -> usize {
    let fraction = (step as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((fraction * below as u64) >> 32) as usize
}
