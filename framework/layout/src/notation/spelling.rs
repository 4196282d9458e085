//! How attribute text spells the layouts of a family: data that the family's owner gives.

use serde::{Deserialize, Serialize};

use crate::FamilyAttribute;

/// How attribute text spells the layouts of one family. A family without one is spelled by rule:
/// `#tw.name<{...}>`, its parameters in `camelCase`, in alphabetical order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AttributeSyntax {
    /// Name of the family, in JSON: `dot_operand`.
    pub family: String,
    /// Name of its attribute's dialect: `ttg`.
    pub dialect: String,
    /// Name of its attribute: `dot_op`.
    pub attribute: String,
    /// Whether the parameters stand in braces.
    pub braces: bool,
    /// The parameters in the order of the text; `parent` is the layout that it derives from.
    pub parameters: Vec<ParameterSyntax>,
}

/// How attribute text spells one parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParameterSyntax {
    /// Name of the parameter, in JSON: `warps_per_cta`.
    pub name: String,
    /// Its words in the text: `warpsPerCTA`; where there are several, each has one entry of the
    /// parameter's list, as `versionMajor` and `versionMinor`. A word `group.word` stands in braces
    /// of its own: `group = {word = ...}`.
    pub words: Vec<String>,
    /// Where it stands.
    #[serde(default)]
    pub place: ParameterPlace,
    /// When the text leaves it out.
    #[serde(default)]
    pub omitted: Omitted,
    /// Another parameter that says it too, so that the text leaves it out beside that one.
    #[serde(default)]
    pub implied_by: Option<String>,
}

/// Where a parameter stands in attribute text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterPlace {
    /// In the braces, or among the others where there are none.
    #[default]
    Inside,
    /// Before the braces, without its word: `<[64:+8] {...}>`.
    Before,
    /// Behind the braces: `<{...}, alignment = 16>`.
    Behind,
}

/// When attribute text leaves a parameter out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Omitted {
    /// Where it is not given.
    #[default]
    Never,
    /// Also where it has this value, which it has by default.
    At(FamilyAttribute),
    /// Also where it is a list of ones.
    AtOnes,
    /// Always: the rest of the text says it in another way.
    Always,
}

impl Omitted {
    /// Whether a value is left out.
    #[must_use]
    pub fn omits(&self, value: &FamilyAttribute) -> bool {
        match self {
            Self::Never => false,
            Self::At(default) => default == value,
            Self::AtOnes => {
                matches!(value, FamilyAttribute::List(items) if items.iter().all(|item| *item == FamilyAttribute::Int(1)))
            }
            Self::Always => true,
        }
    }
}

impl AttributeSyntax {
    /// The spelling of a family without parameters, in braces.
    #[must_use]
    pub fn new(family: &str, dialect: &str, attribute: &str) -> Self {
        let [family, dialect, attribute] = [family, dialect, attribute].map(str::to_owned);
        Self { family, dialect, attribute, braces: true, parameters: Vec::new() }
    }

    /// Without braces around the parameters.
    #[must_use]
    pub fn bare(mut self) -> Self {
        self.braces = false;
        self
    }

    /// With one more parameter, at the end.
    #[must_use]
    pub fn with(mut self, parameter: ParameterSyntax) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// With more parameters of one word each, as pairs of name and word.
    #[must_use]
    pub fn with_words(self, pairs: &[(&str, &str)]) -> Self {
        pairs.iter().fold(self, |spelling, (name, word)| spelling.with(ParameterSyntax::new(name, &[word])))
    }
}

impl ParameterSyntax {
    /// A parameter that the text lists with the others.
    #[must_use]
    pub fn new(name: &str, words: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            words: words.iter().map(|&word| word.to_owned()).collect(),
            place: ParameterPlace::default(),
            omitted: Omitted::default(),
            implied_by: None,
        }
    }

    /// Left out where it has this value.
    #[must_use]
    pub fn omitted_at(mut self, value: impl Into<FamilyAttribute>) -> Self {
        self.omitted = Omitted::At(value.into());
        self
    }

    /// Left out so.
    #[must_use]
    pub fn omitted(mut self, omitted: Omitted) -> Self {
        self.omitted = omitted;
        self
    }

    /// Left out also beside another parameter.
    #[must_use]
    pub fn implied_by(mut self, parameter: &str) -> Self {
        self.implied_by = Some(parameter.to_owned());
        self
    }

    /// Standing elsewhere.
    #[must_use]
    pub fn at(mut self, place: ParameterPlace) -> Self {
        self.place = place;
        self
    }

    /// The blocks of a cluster, which most families take: bases, none of them by default.
    #[must_use]
    pub fn cluster() -> Self {
        Self::new("cga_layout", &["CGALayout"]).omitted_at(FamilyAttribute::List(Vec::new()))
    }
}
