//! Conversions between distributed layouts: which there are to show for a target, and the group
//! that shows each by a given check.
//!
//! Pairs come from the samples of the target's families: a vendor that names its layouts gets them
//! converted from and to what loads and reductions use. Random linear layouts come on top, and, where the
//! target has them, layouts of the blocks of a cluster.

mod clusters;
mod pairs;
mod proof;
mod random;

use std::fmt;

use tilewright::layout::{Dim, FamilyError, FamilySpec, Layout, LinearLayout};

pub use proof::{compiled, emulated};

use super::Setting;
use crate::{Case, Context, Group, Verdict};

/// One layout to convert from or to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// A word for case names.
    pub name: String,
    /// The layout.
    pub spec: FamilySpec,
}

/// A conversion of a tensor between two distributed layouts. Written as in case names:
/// `blocked-rows-to-blocked-cols/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// What the tensor has.
    pub source: Endpoint,
    /// What it is to have.
    pub target: Endpoint,
    /// The tensor's shape.
    pub shape: Vec<u64>,
    /// Elements, warps and lanes.
    pub setting: Setting,
    /// The words before the setting in its name.
    title: String,
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape: Vec<_> = self.shape.iter().map(u64::to_string).collect();
        let setting = self.setting.to_string();
        let (element, block) = setting.split_once('/').unwrap_or((&setting, ""));
        write!(f, "{}/{element}/{}/{block}", self.title, shape.join("x"))
    }
}

impl Conversion {
    fn between(source: Endpoint, target: Endpoint, shape: &[u64], setting: Setting) -> Self {
        let title = format!("{}-to-{}", source.name, target.name);
        Self { source, target, shape: shape.to_vec(), setting, title }
    }

    /// The two layouts, source first.
    ///
    /// # Errors
    /// [`FamilyError`]; a layout that is not distributed is the sample's author's.
    pub fn layouts(&self, context: &Context) -> Result<(LinearLayout, LinearLayout), FamilyError> {
        Ok((self.layout(context, &self.source)?, self.layout(context, &self.target)?))
    }

    fn layout(&self, context: &Context, endpoint: &Endpoint) -> Result<LinearLayout, FamilyError> {
        let wrong = |message: String| FamilyError::Layout { family: endpoint.spec.name.clone(), message };
        let Layout::Distributed(layout) = context.layout(&endpoint.spec, &self.shape)? else {
            return Err(wrong("builds no distributed layout".to_owned()));
        };
        let (lanes, warps) = (1u64 << layout.in_bits(Dim::LANE), 1u64 << layout.in_bits(Dim::WARP));
        if (lanes, warps) == (u64::from(self.setting.lanes), u64::from(self.setting.warps)) {
            return Ok(layout);
        }
        Err(wrong(format!("has {lanes} lanes and {warps} warps, asked for {}", self.setting)))
    }
}

/// All conversions that are shown for a target.
#[must_use]
pub fn all(context: &Context) -> Vec<Conversion> {
    let mut conversions = pairs::pairs(context);
    conversions.extend(random::random(context));
    conversions.extend(clusters::clusters(context));
    conversions
}

/// A group that shows conversions of a target by one check.
pub struct Conversions {
    name: String,
    chooses: fn(&Conversion) -> bool,
    check: fn(&Context, &Conversion) -> Verdict,
}

impl Conversions {
    /// The group of the conversions that are chosen, each shown by `check`.
    #[must_use]
    pub fn new(name: &str, chooses: fn(&Conversion) -> bool, check: fn(&Context, &Conversion) -> Verdict) -> Self {
        Self { name: name.to_owned(), chooses, check }
    }
}

impl Group for Conversions {
    fn name(&self) -> &str {
        &self.name
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let check = self.check;
        let chosen = all(context).into_iter().filter(self.chooses);
        let case = |conversion: Conversion| {
            Case::new(format!("{}/{conversion}", self.name), move |context| check(context, &conversion))
        };
        chosen.map(case).collect()
    }
}
