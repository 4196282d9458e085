//! One form for every spec, whichever words named it.

use std::collections::BTreeMap;

use super::case::snake_case;
use super::parse::UNNAMED;
use super::{AttributeSyntax, ParameterPlace, ParameterSyntax};
use crate::{Families, FamilyAttribute, FamilySpec, families};

/// The spellings of some families, by which specs are written as text and brought to one form.
///
/// ```
/// use tilewright_layout::{AttributeSyntaxes, families::Neutral, parse_spec, spec_to_json};
/// let spellings = AttributeSyntaxes::of_families(&Neutral);
/// let text = "#ttg.dot_op<{opIdx = 0, parent = #ttg.linear<{register = [[1, 0]], lane = [], warp = [], block = []}>, kWidth = 2}>";
/// let spec = spellings.canonical(&parse_spec(text)?);
/// assert_eq!(spec_to_json(&spec)["operand_index"], 0);
/// assert_eq!(spellings.text(&spec), text);
/// # Ok::<(), tilewright_layout::text::TextError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttributeSyntaxes(Vec<AttributeSyntax>);

impl AttributeSyntaxes {
    /// The spellings that the families give; of two for one family, the first counts.
    #[must_use]
    pub fn of_families(families: &dyn Families) -> Self {
        Self(families.spellings())
    }

    /// The spelling of a family.
    #[must_use]
    pub fn of(&self, family: &str) -> Option<&AttributeSyntax> {
        self.0.iter().find(|spelling| spelling.family == family)
    }

    /// The same layout under the names of JSON, without what its text leaves out: two specs that
    /// say the same in other words have the same canonical form.
    #[must_use]
    pub fn canonical(&self, spec: &FamilySpec) -> FamilySpec {
        let own = |spelling: &&AttributeSyntax| spelling.family == spec.name || spelling.attribute == spec.name;
        let mut result = match self.of(&spec.name).or_else(|| self.0.iter().find(own)) {
            Some(spelling) => families::in_words(named(spec, spelling)),
            None => spec.clone(),
        };
        if let Some(spelling) = self.of(&result.name) {
            leave_out(&mut result, spelling);
        }
        result.parent = result.parent.map(|parent| Box::new(self.canonical(&parent)));
        result.attributes.values_mut().for_each(|value| self.canonical_within(value));
        result
    }

    fn canonical_within(&self, value: &mut FamilyAttribute) {
        match value {
            FamilyAttribute::Spec(spec) => **spec = self.canonical(spec),
            FamilyAttribute::List(items) => items.iter_mut().for_each(|item| self.canonical_within(item)),
            _ => {}
        }
    }
}

/// The spec with the family's name and its parameters' names instead of words.
fn named(spec: &FamilySpec, spelling: &AttributeSyntax) -> FamilySpec {
    let mut result = FamilySpec { name: spelling.family.clone(), ..spec.clone() };
    for parameter in &spelling.parameters {
        if result.attributes.contains_key(&parameter.name) {
            continue;
        }
        if let Some(value) = taken(&mut result.attributes, parameter) {
            result.attributes.insert(parameter.name.clone(), value);
        }
    }
    // A group whose members have all been taken says nothing more.
    result.attributes.retain(|name, value| {
        let is_group = |word: &String| word.split_once('.').is_some_and(|(group, _)| snake_case(group) == *name);
        let emptied = matches!(value, FamilyAttribute::Spec(group) if group.attributes.is_empty());
        !(emptied && spelling.parameters.iter().any(|parameter| parameter.words.first().is_some_and(is_group)))
    });
    result
}

/// Takes the value of a parameter from under its words.
fn taken(attributes: &mut BTreeMap<String, FamilyAttribute>, parameter: &ParameterSyntax) -> Option<FamilyAttribute> {
    // Text without a name is a list; any other value of the parameter is written under its word.
    let unnamed = (parameter.place == ParameterPlace::Before).then(|| attributes.remove(UNNAMED)).flatten();
    if unnamed.is_some() {
        return unnamed;
    }
    match &parameter.words[..] {
        [word] => match word.split_once('.') {
            Some((group, word)) => match attributes.get_mut(&snake_case(group))? {
                FamilyAttribute::Spec(group) => group.attributes.remove(&snake_case(word)),
                _ => None,
            },
            None => attributes.remove(&snake_case(word)),
        },
        [] => None,
        words => {
            // One entry for each word, none left out.
            let values: Option<Vec<_>> = words.iter().map(|word| attributes.get(&snake_case(word)).cloned()).collect();
            let values = values?;
            words.iter().for_each(|word| drop(attributes.remove(&snake_case(word))));
            Some(FamilyAttribute::List(values))
        }
    }
}

/// Takes out what the text leaves out.
fn leave_out(spec: &mut FamilySpec, spelling: &AttributeSyntax) {
    let left_out = |parameter: &&ParameterSyntax| {
        let omitted = spec.attributes.get(&parameter.name).is_some_and(|value| parameter.omitted.omits(value));
        let implied = parameter.implied_by.as_ref().and_then(|by| spec.attributes.get(by));
        omitted || implied.is_some_and(|value| *value != FamilyAttribute::List(Vec::new()))
    };
    let names: Vec<_> = spelling.parameters.iter().filter(left_out).map(|parameter| parameter.name.clone()).collect();
    names.iter().for_each(|name| drop(spec.attributes.remove(name)));
}
