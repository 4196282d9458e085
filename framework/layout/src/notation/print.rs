//! Writes families as attribute text.

use super::case::camel_case;
use super::parse::UNNAMED;
use super::{AttributeSyntax, AttributeSyntaxes, ParameterPlace, ParameterSyntax};
use crate::text::{Quoted, is_identifier};
use crate::{FamilyAttribute, FamilySpec};

/// The dialect of families that have no spelling.
const DIALECT: &str = "tw";

impl AttributeSyntaxes {
    /// The spec as attribute text, as the family's owner spells it.
    #[must_use]
    pub fn text(&self, spec: &FamilySpec) -> String {
        text(&self.canonical(spec), self)
    }
}

/// The text of a spec in its canonical form.
fn text(spec: &FamilySpec, spellings: &AttributeSyntaxes) -> String {
    let writer = Writer { spellings };
    match spellings.of(&spec.name) {
        Some(spelling) => writer.spelled(spec, spelling),
        None => writer.by_rule(spec),
    }
}

struct Writer<'a> {
    spellings: &'a AttributeSyntaxes,
}

impl Writer<'_> {
    /// All parameters in `camelCase`, in alphabetical order.
    fn by_rule(&self, spec: &FamilySpec) -> String {
        let mut entries: Vec<_> = spec.attributes.iter().map(|(name, value)| self.entry(name, value)).collect();
        entries.extend(spec.parent.iter().map(|parent| format!("parent = {}", text(parent, self.spellings))));
        format!("#{DIALECT}.{}<{{{}}}>", in_quotes_unless_word(&spec.name), entries.join(", "))
    }

    fn spelled(&self, spec: &FamilySpec, spelling: &AttributeSyntax) -> String {
        let mut rest: Vec<&String> = spec.attributes.keys().collect();
        rest.retain(|name| !spelling.parameters.iter().any(|parameter| parameter.name == **name));
        let (mut inside, mut behind) = (Vec::new(), Vec::new());
        let mut before = String::new();
        for parameter in &spelling.parameters {
            match parameter.place {
                ParameterPlace::Before => match self.before(spec, parameter) {
                    Some(list) => before = list,
                    None => self.parameter(spec, parameter, spelling, &mut inside),
                },
                ParameterPlace::Inside => self.parameter(spec, parameter, spelling, &mut inside),
                ParameterPlace::Behind => self.parameter(spec, parameter, spelling, &mut behind),
            }
        }
        inside.extend(rest.into_iter().map(|name| self.entry(name, &spec.attributes[name])));
        if let Some(parent) = spec.parent.as_ref().filter(|_| !names_parent(spelling)) {
            inside.push(format!("parent = {}", text(parent, self.spellings)));
        }
        let inside = inside.join(", ");
        let mut body = if spelling.braces { format!("{before}{{{inside}}}") } else { format!("{before}{inside}") };
        if !behind.is_empty() {
            body = [body, behind.join(", ")].join(", ");
        }
        format!("#{}.{}<{body}>", spelling.dialect, spelling.attribute)
    }

    /// The list of a parameter that stands without its word; pairs of numbers as `64:+8`.
    fn before(&self, spec: &FamilySpec, parameter: &ParameterSyntax) -> Option<String> {
        let FamilyAttribute::List(items) = spec.attributes.get(&parameter.name)? else { return None };
        let item = |item: &FamilyAttribute| match item {
            FamilyAttribute::List(pair) => match pair[..] {
                [FamilyAttribute::Int(first), FamilyAttribute::Int(second)] => format!("{first}:+{second}"),
                _ => self.value(item),
            },
            _ => self.value(item),
        };
        Some(format!("[{}] ", items.iter().map(item).collect::<Vec<_>>().join(", ")))
    }

    /// Adds the entries of a parameter, as far as it is given.
    fn parameter(
        &self,
        spec: &FamilySpec,
        parameter: &ParameterSyntax,
        spelling: &AttributeSyntax,
        entries: &mut Vec<String>,
    ) {
        if let Some(group) = parameter.words.first().and_then(|word| word.split_once('.')).map(|(group, _)| group) {
            if self.begins_group(parameter, spelling, group) {
                entries.push(format!("{group} = {{{}}}", self.group(spec, spelling, group).join(", ")));
            }
        } else if parameter.name == "parent" {
            let word = parameter.words.first().map_or("parent", String::as_str);
            entries.extend(spec.parent.iter().map(|parent| format!("{word} = {}", text(parent, self.spellings))));
        } else if let Some(value) = spec.attributes.get(&parameter.name) {
            match (value, &parameter.words[..]) {
                (_, [word]) => entries.push(format!("{word} = {}", self.value(value))),
                (FamilyAttribute::List(items), words) if items.len() == words.len() => {
                    entries
                        .extend(words.iter().zip(items).map(|(word, item)| format!("{word} = {}", self.value(item))));
                }
                _ => entries.push(self.entry(&parameter.name, value)),
            }
        }
    }

    /// Whether this is the first parameter of its group, where the group is written.
    fn begins_group(&self, parameter: &ParameterSyntax, spelling: &AttributeSyntax, group: &str) -> bool {
        let in_group = |other: &&ParameterSyntax| member(other, group).is_some();
        spelling.parameters.iter().find(in_group).is_some_and(|first| first == parameter)
    }

    fn group(&self, spec: &FamilySpec, spelling: &AttributeSyntax, group: &str) -> Vec<String> {
        let members = spelling.parameters.iter().filter_map(|other| Some((member(other, group)?, other)));
        let given = members.filter_map(|(word, other)| Some((word, spec.attributes.get(&other.name)?)));
        given.map(|(word, value)| format!("{word} = {}", self.value(value))).collect()
    }

    fn entry(&self, name: &str, value: &FamilyAttribute) -> String {
        // The unnamed list has no word, and a layout called `parent` is what a spec derives from.
        let by_rule = camel_case(name).filter(|_| name != UNNAMED);
        format!("{} = {}", by_rule.unwrap_or_else(|| Quoted(name).to_string()), self.value(value))
    }

    fn value(&self, value: &FamilyAttribute) -> String {
        match value {
            FamilyAttribute::Bool(value) => value.to_string(),
            FamilyAttribute::Int(value) => value.to_string(),
            FamilyAttribute::Text(value) => Quoted(value).to_string(),
            FamilyAttribute::List(items) => {
                format!("[{}]", items.iter().map(|item| self.value(item)).collect::<Vec<_>>().join(", "))
            }
            FamilyAttribute::Spec(spec) => text(spec, self.spellings),
        }
    }
}

/// The word of a parameter within a group.
fn member<'a>(parameter: &'a ParameterSyntax, group: &str) -> Option<&'a str> {
    parameter.words.first()?.split_once('.').filter(|(name, _)| *name == group).map(|(_, word)| word)
}

fn names_parent(spelling: &AttributeSyntax) -> bool {
    spelling.parameters.iter().any(|parameter| parameter.name == "parent")
}

fn in_quotes_unless_word(text: &str) -> String {
    if is_identifier(text) { text.to_owned() } else { Quoted(text).to_string() }
}
