//! The cases that a target must pass to claim a level of conformance.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use crate::{CaseFilter, EvidenceLevel, FilterError};

/// The mandatory cases of each level. A level also requires the cases of the levels before it.
#[derive(Debug, Clone, Default)]
pub struct MandatoryCases {
    levels: BTreeMap<EvidenceLevel, CaseFilter>,
}

/// The reason why a list of mandatory cases cannot be used. The fault lies with the author of the list.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MandatoryListError {
    /// The text is not TOML with a table of cases for each level.
    #[error("the list of mandatory cases: {0}")]
    Text(String),
    /// A glob of case names is malformed.
    #[error("the list of mandatory cases: {0}")]
    Glob(#[from] FilterError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    cases: Vec<String>,
}

impl MandatoryCases {
    /// Reads a list from TOML: a table for each level, whose `cases` are globs over case names.
    ///
    /// # Errors
    /// [`MandatoryListError`] if the text is malformed.
    pub fn from_toml(text: &str) -> Result<Self, MandatoryListError> {
        let written: BTreeMap<EvidenceLevel, Chosen> =
            toml::from_str(text).map_err(|error| MandatoryListError::Text(error.to_string()))?;
        let levels = written.into_iter().map(|(level, chosen)| Ok((level, CaseFilter::new(&chosen.cases)?)));
        Ok(Self { levels: levels.collect::<Result<_, MandatoryListError>>()? })
    }

    /// Returns the cases that the suite requires of every target.
    ///
    /// # Errors
    /// [`MandatoryListError`] if the suite's own list is malformed, which tests exclude.
    pub fn standard() -> Result<Self, MandatoryListError> {
        Self::from_toml(include_str!("../mandatory.toml"))
    }

    /// Returns the levels up to `level`, each with the mandatory cases that are among `names`.
    pub fn cases_up_to_level<'a>(
        &'a self,
        level: EvidenceLevel,
        names: &'a [String],
    ) -> impl Iterator<Item = (EvidenceLevel, Vec<&'a str>)> + use<'a> {
        self.levels
            .iter()
            .filter(move |(of, _)| **of <= level)
            .map(|(&of, filter)| (of, names.iter().filter(|name| filter.matches(name)).map(String::as_str).collect()))
    }
}
