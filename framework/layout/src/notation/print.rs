//! Prints families as attribute text.

use super::case::camel_case;
use super::parse::UNNAMED;
use super::{AttributeParameterPosition, AttributeSyntax, AttributeSyntaxes, ParameterSyntax};
use crate::text::{Quoted, is_identifier};
use crate::{FamilyParameterValue, FamilySpec};

/// The dialect of families without an attribute syntax.
const DIALECT: &str = "tw";

impl AttributeSyntaxes {
    /// The spec as attribute text in the family's attribute syntax.
    #[must_use]
    pub fn print_spec(&self, spec: &FamilySpec) -> String {
        text(&self.to_canonical_spec(spec), self)
    }
}

/// Returns the text of a spec that is in canonical form.
fn text(spec: &FamilySpec, attribute_syntaxes: &AttributeSyntaxes) -> String {
    let writer = Writer { attribute_syntaxes };
    match attribute_syntaxes.get(&spec.name) {
        Some(syntax) => writer.spelled(spec, syntax),
        None => writer.by_rule(spec),
    }
}

struct Writer<'a> {
    attribute_syntaxes: &'a AttributeSyntaxes,
}

impl Writer<'_> {
    /// Prints the spec by the rule for families without an attribute syntax: all parameters in `camelCase`, in
    /// alphabetical order.
    fn by_rule(&self, spec: &FamilySpec) -> String {
        let mut entries: Vec<_> = spec.attributes.iter().map(|(name, value)| self.entry(name, value)).collect();
        entries.extend(spec.parent.iter().map(|parent| format!("parent = {}", text(parent, self.attribute_syntaxes))));
        format!("#{DIALECT}.{}<{{{}}}>", quoted_unless_identifier(&spec.name), entries.join(", "))
    }

    fn spelled(&self, spec: &FamilySpec, syntax: &AttributeSyntax) -> String {
        let mut rest: Vec<&String> = spec.attributes.keys().collect();
        rest.retain(|name| !syntax.parameters.iter().any(|parameter| parameter.name == **name));
        let (mut inside, mut behind) = (Vec::new(), Vec::new());
        let mut before = String::new();
        for parameter in &syntax.parameters {
            match parameter.position {
                AttributeParameterPosition::Before => match self.before(spec, parameter) {
                    Some(list) => before = list,
                    None => self.parameter(spec, parameter, syntax, &mut inside),
                },
                AttributeParameterPosition::Inside => self.parameter(spec, parameter, syntax, &mut inside),
                AttributeParameterPosition::Behind => self.parameter(spec, parameter, syntax, &mut behind),
            }
        }
        inside.extend(rest.into_iter().map(|name| self.entry(name, &spec.attributes[name])));
        if let Some(parent) = spec.parent.as_ref().filter(|_| !names_parent(syntax)) {
            inside.push(format!("parent = {}", text(parent, self.attribute_syntaxes)));
        }
        let inside = inside.join(", ");
        let mut body = if syntax.braces { format!("{before}{{{inside}}}") } else { format!("{before}{inside}") };
        if !behind.is_empty() {
            body = [body, behind.join(", ")].join(", ");
        }
        format!("#{}.{}<{body}>", syntax.dialect, syntax.attribute)
    }

    /// Prints the list that the text has before the braces, without a keyword; pairs of numbers as `64:+8`. `None` if
    /// the spec does not give the parameter, or not as a list.
    fn before(&self, spec: &FamilySpec, parameter: &ParameterSyntax) -> Option<String> {
        let FamilyParameterValue::List(items) = spec.attributes.get(&parameter.name)? else { return None };
        let item = |item: &FamilyParameterValue| match item {
            FamilyParameterValue::List(pair) => match pair[..] {
                [FamilyParameterValue::Int(first), FamilyParameterValue::Int(second)] => format!("{first}:+{second}"),
                _ => self.value(item),
            },
            _ => self.value(item),
        };
        Some(format!("[{}] ", items.iter().map(item).collect::<Vec<_>>().join(", ")))
    }

    /// Appends to `entries` the text of a parameter that the spec gives: `keyword = value` for each of its keywords.
    /// The first parameter of a group appends the whole group, other parameters of the group append nothing.
    fn parameter(
        &self,
        spec: &FamilySpec,
        parameter: &ParameterSyntax,
        syntax: &AttributeSyntax,
        entries: &mut Vec<String>,
    ) {
        if let Some(group) =
            parameter.keywords.first().and_then(|keyword| keyword.split_once('.')).map(|(group, _)| group)
        {
            if self.begins_group(parameter, syntax, group) {
                entries.push(format!("{group} = {{{}}}", self.group(spec, syntax, group).join(", ")));
            }
        } else if parameter.name == "parent" {
            let keyword = parameter.keywords.first().map_or("parent", String::as_str);
            entries.extend(
                spec.parent.iter().map(|parent| format!("{keyword} = {}", text(parent, self.attribute_syntaxes))),
            );
        } else if let Some(value) = spec.attributes.get(&parameter.name) {
            match (value, &parameter.keywords[..]) {
                (_, [keyword]) => entries.push(format!("{keyword} = {}", self.value(value))),
                (FamilyParameterValue::List(items), keywords) if items.len() == keywords.len() => {
                    entries.extend(
                        keywords.iter().zip(items).map(|(keyword, item)| format!("{keyword} = {}", self.value(item))),
                    );
                }
                _ => entries.push(self.entry(&parameter.name, value)),
            }
        }
    }

    /// Whether `parameter` is the first of the group `group` in the order of the text.
    fn begins_group(&self, parameter: &ParameterSyntax, syntax: &AttributeSyntax, group: &str) -> bool {
        let in_group = |other: &&ParameterSyntax| member(other, group).is_some();
        syntax.parameters.iter().find(in_group).is_some_and(|first| first == parameter)
    }

    fn group(&self, spec: &FamilySpec, syntax: &AttributeSyntax, group: &str) -> Vec<String> {
        let members = syntax.parameters.iter().filter_map(|other| Some((member(other, group)?, other)));
        let given = members.filter_map(|(keyword, other)| Some((keyword, spec.attributes.get(&other.name)?)));
        given.map(|(keyword, value)| format!("{keyword} = {}", self.value(value))).collect()
    }

    fn entry(&self, name: &str, value: &FamilyParameterValue) -> String {
        // The name of an unnamed list is quoted, and so is a name that `camelCase` cannot express.
        let by_rule = camel_case(name).filter(|_| name != UNNAMED);
        format!("{} = {}", by_rule.unwrap_or_else(|| Quoted(name).to_string()), self.value(value))
    }

    fn value(&self, value: &FamilyParameterValue) -> String {
        match value {
            FamilyParameterValue::Bool(value) => value.to_string(),
            FamilyParameterValue::Int(value) => value.to_string(),
            FamilyParameterValue::Text(value) => Quoted(value).to_string(),
            FamilyParameterValue::List(items) => {
                format!("[{}]", items.iter().map(|item| self.value(item)).collect::<Vec<_>>().join(", "))
            }
            FamilyParameterValue::Spec(spec) => text(spec, self.attribute_syntaxes),
        }
    }
}

/// Returns the keyword of a parameter within the braces of a group (`group = {keyword = ...}`); `None` if the parameter
/// is not in the group.
fn member<'a>(parameter: &'a ParameterSyntax, group: &str) -> Option<&'a str> {
    parameter.keywords.first()?.split_once('.').filter(|(name, _)| *name == group).map(|(_, keyword)| keyword)
}

fn names_parent(syntax: &AttributeSyntax) -> bool {
    syntax.parameters.iter().any(|parameter| parameter.name == "parent")
}

fn quoted_unless_identifier(text: &str) -> String {
    if is_identifier(text) { text.to_owned() } else { Quoted(text).to_string() }
}
