//! The attribute syntax of a family (a named constructor of layouts): data from the family's provider.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::FamilyParameterValue;

/// The text form of one family's layouts as an MLIR attribute. A family without one is printed by the general rule:
/// `#tw.name<{...}>`, its parameters in `camelCase`, in alphabetical order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AttributeSyntax {
    /// Name of the family in JSON: `dot_operand`.
    pub family: String,
    /// Name of the attribute's dialect in text: `ttg`.
    pub dialect: String,
    /// Name of the attribute in text: `dot_op`.
    pub attribute: String,
    /// Whether the text has the parameters in braces.
    pub braces: bool,
    /// The parameters in the order of the text; the name `parent` stands for the parent layout.
    pub parameters: Vec<ParameterSyntax>,
    /// The calls that make a layout of the family in a language with classes of layouts, such as Gluon.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<LayoutConstructorSyntax>,
}

/// A call that makes a layout: `BlockedLayout(size_per_thread, ...)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayoutConstructorSyntax {
    /// Name of the class, or of the class and its method.
    pub name: String,
    /// Names of the parameters in the order of positional arguments; the name `parent` stands for the parent layout.
    pub parameters: Vec<String>,
    /// Values of parameters that the call does not give.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, FamilyParameterValue>,
}

/// The attribute syntax of one parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParameterSyntax {
    /// Name of the parameter in JSON: `warps_per_cta`.
    pub name: String,
    /// Keywords of the parameter in the text, such as `warpsPerCTA`. If there are several keywords, each has one entry
    /// of the parameter's list, as `versionMajor` and `versionMinor`. A keyword `group.keyword` is in braces of its
    /// own: `group = {keyword = ...}`.
    #[serde(rename = "words")]
    pub keywords: Vec<String>,
    /// The position of the parameter in the text.
    #[serde(default)]
    #[serde(rename = "place")]
    pub position: AttributeParameterPosition,
    /// The values of the parameter that the text omits.
    #[serde(default)]
    #[serde(rename = "omitted")]
    pub with_omitted: OmittedParameterValues,
    /// Name of another parameter that determines this one: the text omits this one if that one is given and is not an
    /// empty list.
    #[serde(default)]
    pub implied_by: Option<String>,
}

/// The position of a parameter in attribute text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttributeParameterPosition {
    /// In the braces, or among the others if the attribute has no braces.
    #[default]
    Inside,
    /// Before the braces, without its keyword: `<[64:+8] {...}>`.
    Before,
    /// After the braces: `<{...}, alignment = 16>`.
    Behind,
}

/// Values of a parameter that attribute text omits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OmittedParameterValues {
    /// No value: the text omits the parameter only if the spec does not give it.
    #[default]
    Never,
    /// This value, which is the parameter's default.
    At(FamilyParameterValue),
    /// A list of ones, which is the parameter's default.
    AtOnes,
    /// Every value: the rest of the text determines the parameter.
    Always,
}

impl OmittedParameterValues {
    /// Whether the text omits a value.
    #[must_use]
    pub fn is_omitted(&self, value: &FamilyParameterValue) -> bool {
        match self {
            Self::Never => false,
            Self::At(default) => default == value,
            Self::AtOnes => {
                matches!(value, FamilyParameterValue::List(items) if items.iter().all(|item| *item == FamilyParameterValue::Int(1)))
            }
            Self::Always => true,
        }
    }
}

impl AttributeSyntax {
    /// Creates the syntax of a family, with braces and without parameters, which [`Self::with_parameter`] adds.
    #[must_use]
    pub fn new(family: &str, dialect: &str, attribute: &str) -> Self {
        let [family, dialect, attribute] = [family, dialect, attribute].map(str::to_owned);
        Self { family, dialect, attribute, braces: true, parameters: Vec::new(), calls: Vec::new() }
    }

    /// The same syntax with one more call, given by its name and the names of its parameters.
    #[must_use]
    pub fn with_call(self, name: &str, parameters: &[&str]) -> Self {
        self.with_call_defaults(name, parameters, [])
    }

    /// The same syntax with one more call; `defaults` has the values of parameters that the call does not give.
    #[must_use]
    pub fn with_call_defaults<const N: usize>(
        mut self,
        name: &str,
        parameters: &[&str],
        defaults: [(&str, FamilyParameterValue); N],
    ) -> Self {
        self.calls.push(LayoutConstructorSyntax {
            name: name.to_owned(),
            parameters: parameters.iter().map(|&parameter| parameter.to_owned()).collect(),
            defaults: defaults.map(|(parameter, value)| (parameter.to_owned(), value)).into_iter().collect(),
        });
        self
    }

    /// The same syntax without braces around the parameters.
    #[must_use]
    pub fn without_braces(mut self) -> Self {
        self.braces = false;
        self
    }

    /// The same syntax with one more parameter, at the end.
    #[must_use]
    pub fn with_parameter(mut self, parameter: ParameterSyntax) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// The same syntax with more parameters of one keyword each, as pairs of name and keyword.
    #[must_use]
    pub fn with_keywords(self, pairs: &[(&str, &str)]) -> Self {
        pairs.iter().fold(self, |syntax, (name, keyword)| syntax.with_parameter(ParameterSyntax::new(name, &[keyword])))
    }
}

impl ParameterSyntax {
    /// A parameter with these keywords that the text lists among the others and never omits.
    #[must_use]
    pub fn new(name: &str, keywords: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            keywords: keywords.iter().map(|&keyword| keyword.to_owned()).collect(),
            position: AttributeParameterPosition::default(),
            with_omitted: OmittedParameterValues::default(),
            implied_by: None,
        }
    }

    /// The same parameter, but the text omits this value.
    #[must_use]
    pub fn with_omitted_value(mut self, value: impl Into<FamilyParameterValue>) -> Self {
        self.with_omitted = OmittedParameterValues::At(value.into());
        self
    }

    /// The same parameter, but the text omits these values.
    #[must_use]
    pub fn with_omitted_values(mut self, omitted: OmittedParameterValues) -> Self {
        self.with_omitted = omitted;
        self
    }

    /// The same parameter, but the text also omits it if the parameter named `parameter` is given and is not an empty
    /// list.
    #[must_use]
    pub fn with_implied_by(mut self, parameter: &str) -> Self {
        self.implied_by = Some(parameter.to_owned());
        self
    }

    /// The same parameter at this position of the text.
    #[must_use]
    pub fn with_position(mut self, position: AttributeParameterPosition) -> Self {
        self.position = position;
        self
    }

    /// The parameter `cga_layout` of most families: the bases of a cluster's blocks, by default none.
    #[must_use]
    pub fn cga_layout() -> Self {
        Self::new("cga_layout", &["CGALayout"]).with_omitted_value(FamilyParameterValue::List(Vec::new()))
    }
}
