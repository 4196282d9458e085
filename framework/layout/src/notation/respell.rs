//! Converts specs to a canonical form, which does not depend on the keywords by which the specs named their parameters.

use std::collections::BTreeMap;

use super::case::to_snake_case;
use super::parse::UNNAMED;
use super::{AttributeParameterPosition, AttributeSyntax, ParameterSyntax};
use crate::{Families, FamilyParameterValue, FamilySpec, families};

/// The attribute syntaxes of some families, for printing specs and for their canonical form.
///
/// ```
/// use tilewright_layout::{AttributeSyntaxes, families::NeutralFamilies, parse_family_spec, spec_to_json};
/// let spellings = AttributeSyntaxes::from_families(&NeutralFamilies);
/// let text = "#ttg.dot_op<{opIdx = 0, parent = #ttg.linear<{register = [[1, 0]], lane = [], warp = [], block = []}>, kWidth = 2}>";
/// let spec = spellings.to_canonical_spec(&parse_family_spec(text)?);
/// assert_eq!(spec_to_json(&spec)["operand_index"], 0);
/// assert_eq!(spellings.print_spec(&spec), text);
/// # Ok::<(), tilewright_layout::text::TextError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttributeSyntaxes(Vec<AttributeSyntax>);

impl AttributeSyntaxes {
    /// Collects the attribute syntaxes of all families of a provider; the first one if a family has two.
    #[must_use]
    pub fn from_families(families: &dyn Families) -> Self {
        Self(families.attribute_syntaxes())
    }

    /// The attribute syntax of the family with this name; `None` if it has none.
    #[must_use]
    pub fn get(&self, family: &str) -> Option<&AttributeSyntax> {
        self.0.iter().find(|syntax| syntax.family == family)
    }

    /// The syntaxes of all families.
    pub(super) fn all(&self) -> impl Iterator<Item = &AttributeSyntax> {
        self.0.iter()
    }

    /// Converts a spec to its canonical form: parameters have their names in JSON, and those that the attribute text
    /// omits are removed. Equivalent specs have equal canonical forms.
    #[must_use]
    pub fn to_canonical_spec(&self, spec: &FamilySpec) -> FamilySpec {
        // A wrong call stays as it is; it is reported when the layout is built.
        let spec = &self.replace_constructor_calls(spec).unwrap_or_else(|_| spec.clone());
        let own = |syntax: &&AttributeSyntax| syntax.family == spec.name || syntax.attribute == spec.name;
        let mut result = match self.get(&spec.name).or_else(|| self.0.iter().find(own)) {
            Some(syntax) => families::to_attribute_form(named(spec, syntax)),
            None => spec.clone(),
        };
        if let Some(syntax) = self.get(&result.name) {
            leave_out(&mut result, syntax);
        }
        result.parent = result.parent.map(|parent| Box::new(self.to_canonical_spec(&parent)));
        result.attributes.values_mut().for_each(|value| self.canonical_within(value));
        result
    }

    fn canonical_within(&self, value: &mut FamilyParameterValue) {
        match value {
            FamilyParameterValue::Spec(spec) => **spec = self.to_canonical_spec(spec),
            FamilyParameterValue::List(items) => items.iter_mut().for_each(|item| self.canonical_within(item)),
            _ => {}
        }
    }
}

/// Returns the spec with the family's name and its parameters' names in JSON in place of the keywords of attribute
/// text.
fn named(spec: &FamilySpec, syntax: &AttributeSyntax) -> FamilySpec {
    let mut result = FamilySpec { name: syntax.family.clone(), ..spec.clone() };
    for parameter in &syntax.parameters {
        if result.attributes.contains_key(&parameter.name) {
            continue;
        }
        if let Some(value) = take_parameter(&mut result.attributes, parameter) {
            result.attributes.insert(parameter.name.clone(), value);
        }
    }
    // A group without remaining members is removed.
    result.attributes.retain(|name, value| {
        let is_group =
            |keyword: &String| keyword.split_once('.').is_some_and(|(group, _)| to_snake_case(group) == *name);
        let emptied = matches!(value, FamilyParameterValue::Spec(group) if group.attributes.is_empty());
        !(emptied && syntax.parameters.iter().any(|parameter| parameter.keywords.first().is_some_and(is_group)))
    });
    result
}

/// Removes a parameter, given by its keywords, from `attributes`, and returns its value; `None` if it is not given.
fn take_parameter(
    attributes: &mut BTreeMap<String, FamilyParameterValue>,
    parameter: &ParameterSyntax,
) -> Option<FamilyParameterValue> {
    // Text without a keyword is a list; any other value of the parameter follows its keyword.
    let unnamed =
        (parameter.position == AttributeParameterPosition::Before).then(|| attributes.remove(UNNAMED)).flatten();
    if unnamed.is_some() {
        return unnamed;
    }
    match &parameter.keywords[..] {
        [keyword] => match keyword.split_once('.') {
            Some((group, keyword)) => match attributes.get_mut(&to_snake_case(group))? {
                FamilyParameterValue::Spec(group) => group.attributes.remove(&to_snake_case(keyword)),
                _ => None,
            },
            None => attributes.remove(&to_snake_case(keyword)),
        },
        [] => None,
        keywords => {
            // A parameter of several keywords is given only if each of them has a value.
            let values: Option<Vec<_>> =
                keywords.iter().map(|keyword| attributes.get(&to_snake_case(keyword)).cloned()).collect();
            let values = values?;
            keywords.iter().for_each(|keyword| drop(attributes.remove(&to_snake_case(keyword))));
            Some(FamilyParameterValue::List(values))
        }
    }
}

/// Removes the parameters that the attribute text omits.
fn leave_out(spec: &mut FamilySpec, syntax: &AttributeSyntax) {
    let left_out = |parameter: &&ParameterSyntax| {
        let omitted =
            spec.attributes.get(&parameter.name).is_some_and(|value| parameter.with_omitted.is_omitted(value));
        let implied = parameter.implied_by.as_ref().and_then(|by| spec.attributes.get(by));
        omitted || implied.is_some_and(|value| *value != FamilyParameterValue::List(Vec::new()))
    };
    let names: Vec<_> = syntax.parameters.iter().filter(left_out).map(|parameter| parameter.name.clone()).collect();
    names.iter().for_each(|name| drop(spec.attributes.remove(name)));
}
