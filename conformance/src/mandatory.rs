//! What must have been shown to claim a level.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use crate::{Filter, FilterError, Level};

/// Of each level the cases that it takes; of levels before it theirs, too.
#[derive(Debug, Clone, Default)]
pub struct Mandatory {
    levels: BTreeMap<Level, Filter>,
}

/// A list of mandatory cases that cannot be read; its writer's fault.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MandatoryError {
    /// It is no such list.
    #[error("the list of mandatory cases: {0}")]
    Text(String),
    /// A glob cannot be read.
    #[error("the list of mandatory cases: {0}")]
    Glob(#[from] FilterError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    cases: Vec<String>,
}

impl Mandatory {
    /// A list as TOML: of each level a table with globs over names, `cases`.
    ///
    /// # Errors
    /// [`MandatoryError`].
    pub fn from_toml(text: &str) -> Result<Self, MandatoryError> {
        let written: BTreeMap<Level, Chosen> =
            toml::from_str(text).map_err(|error| MandatoryError::Text(error.to_string()))?;
        let levels = written.into_iter().map(|(level, chosen)| Ok((level, Filter::new(&chosen.cases)?)));
        Ok(Self { levels: levels.collect::<Result<_, MandatoryError>>()? })
    }

    /// What the suite demands of every target.
    ///
    /// # Errors
    /// [`MandatoryError`].
    pub fn standard() -> Result<Self, MandatoryError> {
        Self::from_toml(include_str!("../mandatory.toml"))
    }

    /// The levels up to this one, each with those of the named cases that it takes.
    pub fn up_to<'a>(
        &'a self,
        level: Level,
        names: &'a [String],
    ) -> impl Iterator<Item = (Level, Vec<&'a str>)> + use<'a> {
        self.levels
            .iter()
            .filter(move |(of, _)| **of <= level)
            .map(|(&of, filter)| (of, names.iter().filter(|name| filter.chooses(name)).map(String::as_str).collect()))
    }
}
