//! Layout conversions between distributed layouts: the list for a target, and a group that runs a given check on each.
//!
//! Pairs of layouts come from the samples of the target's layout families, so that a vendor's layouts are converted
//! from and to the layouts that loads and reductions use. Random linear layouts and, on targets with clusters, layouts
//! over the blocks of a cluster are added.

mod checks;
mod clusters;
mod pairs;
mod random;

use std::fmt;

use tilewright_layout::LinearLayout;

pub use checks::{build_best_plan_test, check_emulated_plans, check_reproducible_compilation};

use super::executed::device_case;
use super::{CaseTensorSpec, NamedLayout};
use crate::{Case, CaseGroup, Context, Verdict};

/// A conversion of a tensor between two distributed layouts. Case names spell it
/// `blocked-rows-to-blocked-cols/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionCase {
    /// The layout that the tensor has before the conversion.
    pub source: NamedLayout,
    /// The layout that the tensor gets.
    pub target: NamedLayout,
    /// The converted tensor: element type, shape and number of warps.
    pub tensor: CaseTensorSpec,
    /// The part of the case name before the tensor, with the names of the two layouts.
    title: String,
}

impl fmt::Display for ConversionCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.title, self.tensor)
    }
}

impl ConversionCase {
    fn between(source: NamedLayout, target: NamedLayout, tensor: CaseTensorSpec) -> Self {
        let title = format!("{}-to-{}", source.name, target.name);
        Self { source, target, tensor, title }
    }

    /// Builds the two layouts for the tensor, source first.
    ///
    /// # Errors
    /// The verdict of the case if a layout cannot be built.
    pub fn layouts(&self, context: &Context) -> Result<(LinearLayout, LinearLayout), Verdict> {
        Ok((self.source.distributed(context, &self.tensor)?, self.target.distributed(context, &self.tensor)?))
    }
}

/// Returns all layout conversions that are checked for a target.
#[must_use]
pub fn all(context: &Context) -> Vec<ConversionCase> {
    let mut conversions = pairs::pairs(context);
    conversions.extend(random::random(context));
    conversions.extend(clusters::clusters(context));
    conversions
}

/// A group of the suite that runs one check on the layout conversions of a target.
pub struct Conversions {
    name: String,
    chooses: ConversionFilter,
    check: Check,
    on_device: Option<ConversionFilter>,
}

/// Function that selects conversions of a group, by layouts or tensor.
type ConversionFilter = fn(&ConversionCase) -> bool;
/// Function that checks a conversion and returns the verdict of its case.
type Check = fn(&Context, &ConversionCase) -> Verdict;

impl Conversions {
    /// Creates a group named `name` of the conversions that `chooses` selects, each checked by `check`.
    #[must_use]
    pub fn new(name: &str, chooses: ConversionFilter, check: Check) -> Self {
        Self { name: name.to_owned(), chooses, check, on_device: None }
    }

    /// Also runs the conversions that `chooses` selects on a device, if devices are requested.
    #[must_use]
    pub fn on_device(self, chooses: ConversionFilter) -> Self {
        Self { on_device: Some(chooses), ..self }
    }
}

impl CaseGroup for Conversions {
    fn name(&self) -> &str {
        &self.name
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = Vec::new();
        for conversion in all(context) {
            if context.tested_device().is_some() && self.on_device.is_some_and(|chooses| chooses(&conversion)) {
                let (name, executed) = (format!("{}/device/{conversion}", self.name), conversion.clone());
                cases.push(device_case(name, move |context| build_best_plan_test(context, &executed)));
            }
            if (self.chooses)(&conversion) {
                let (name, check) = (format!("{}/{conversion}", self.name), self.check);
                cases.push(Case::new(name, move |context| check(context, &conversion)));
            }
        }
        cases
    }
}
