//! Conversions between distributed layouts: which there are to show for a target, and the group
//! that shows each by a given check.
//!
//! Pairs come from the samples of the target's families: a vendor that names its layouts gets them
//! converted from and to what loads and reductions use. Random linear layouts come on top, and, where the
//! target has them, layouts of the blocks of a cluster.

mod checks;
mod clusters;
mod pairs;
mod random;

use std::fmt;

use tilewright_layout::LinearLayout;

pub use checks::{compiled, emulated, test_cases};

use super::executed::device_case;
use super::{CaseTensor, Endpoint};
use crate::{Case, Context, Group, Verdict};

/// A conversion of a tensor between two distributed layouts. Written as in case names:
/// `blocked-rows-to-blocked-cols/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionCase {
    /// What the tensor has.
    pub source: Endpoint,
    /// What it is to have.
    pub target: Endpoint,
    /// The tensor, in a kernel of some setting.
    pub tensor: CaseTensor,
    /// The words before the tensor in its name.
    title: String,
}

impl fmt::Display for ConversionCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.title, self.tensor)
    }
}

impl ConversionCase {
    fn between(source: Endpoint, target: Endpoint, tensor: CaseTensor) -> Self {
        let title = format!("{}-to-{}", source.name, target.name);
        Self { source, target, tensor, title }
    }

    /// The two layouts, source first.
    ///
    /// # Errors
    /// The verdict on a sample that has no such layout.
    pub fn layouts(&self, context: &Context) -> Result<(LinearLayout, LinearLayout), Verdict> {
        Ok((self.source.distributed(context, &self.tensor)?, self.target.distributed(context, &self.tensor)?))
    }
}

/// All conversions that are shown for a target.
#[must_use]
pub fn all(context: &Context) -> Vec<ConversionCase> {
    let mut conversions = pairs::pairs(context);
    conversions.extend(random::random(context));
    conversions.extend(clusters::clusters(context));
    conversions
}

/// A group that shows conversions of a target by one check.
pub struct Conversions {
    name: String,
    chooses: Chooses,
    check: Check,
    on_device: Option<Chooses>,
}

/// Which conversions are shown.
type Chooses = fn(&ConversionCase) -> bool;
/// What shows a conversion.
type Check = fn(&Context, &ConversionCase) -> Verdict;

impl Conversions {
    /// The group of the conversions that are chosen, each shown by `check`.
    #[must_use]
    pub fn new(name: &str, chooses: Chooses, check: Check) -> Self {
        Self { name: name.to_owned(), chooses, check, on_device: None }
    }

    /// The same, where devices are asked for with those that are chosen on a device, too.
    #[must_use]
    pub fn on_device(self, chooses: Chooses) -> Self {
        Self { on_device: Some(chooses), ..self }
    }
}

impl Group for Conversions {
    fn name(&self) -> &str {
        &self.name
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = Vec::new();
        for conversion in all(context) {
            if context.devices().is_some() && self.on_device.is_some_and(|chooses| chooses(&conversion)) {
                let (name, executed) = (format!("{}/device/{conversion}", self.name), conversion.clone());
                cases.push(device_case(name, move |context| test_cases(context, &executed)));
            }
            if (self.chooses)(&conversion) {
                let (name, check) = (format!("{}/{conversion}", self.name), self.check);
                cases.push(Case::new(name, move |context| check(context, &conversion)));
            }
        }
        cases
    }
}
