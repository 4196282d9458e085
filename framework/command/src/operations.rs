//! `tilewright operations`: the operations of tile programs, from the table by which programs are read and verified.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::Write;

use clap::Args;

use tilewright::tile::{AttributeDefinition, AttributeKind, CountRule, Dialects, OpDefinition, ValueGroup};

use crate::failure::CommandError;
use crate::text_table::new_table;

/// Options of `tilewright operations`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A dialect, such as `tt`, or an operation, such as `tt.load`. Default: list the dialects
    name: Option<String>,
}

/// Runs `tilewright operations`.
pub fn run(options: &Options) -> Result<(), CommandError> {
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let imported = imports.operation_names().collect();
    let text = match options.name.as_deref() {
        None => list_dialects(&dialects),
        Some(name) if dialects.has_dialect(name) => list_operations(&dialects, name, &imported),
        Some(name) => match dialects.find_definition(name) {
            Some(definition) => describe(definition, &imported),
            None => return Err(unknown(&dialects, name)),
        },
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// For each operation in the import tables, the reason why programs with it are rejected; `None` if it is replaced.
type Imported<'a> = BTreeMap<&'a str, Option<&'a str>>;

fn unknown(dialects: &Dialects, name: &str) -> CommandError {
    let nearest = dialects.similar_operation_name(name).or_else(|| dialects.similar_dialect_name(name));
    let meant = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
    CommandError::Input(format!("there is no dialect or operation `{name}`{meant}"))
}

fn list_dialects(dialects: &Dialects) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    dialects.iter().for_each(|definition| *counts.entry(definition.dialect()).or_default() += 1);
    let mut table = new_table(["dialect", "operations"], 1..2);
    for (dialect, count) in counts {
        table.add_row([dialect.to_owned(), count.to_string()]);
    }
    table.trim_fmt() + "\n"
}

fn list_operations(dialects: &Dialects, dialect: &str, imported: &Imported<'_>) -> String {
    let mut table = new_table(["operation", "operands", "results", "compiled"], 0..0);
    for definition in dialects.iter().filter(|definition| definition.dialect() == dialect) {
        let names = |groups: &[ValueGroup]| {
            let named = |group: &ValueGroup| format!("{}{}", group.name, suffix(group.count));
            groups.iter().map(named).collect::<Vec<_>>().join(" ")
        };
        let compiled = compilation(definition, imported);
        table.add_row([definition.name.to_string(), names(&definition.operands), names(&definition.results), compiled]);
    }
    table.trim_fmt() + "\n"
}

/// Returns the mark of dialect files behind a group with this number of values.
fn suffix(count: CountRule) -> &'static str {
    match count {
        CountRule::Optional => "?",
        CountRule::Many => "*",
        CountRule::Zero | CountRule::One | CountRule::Two => "",
    }
}

fn compilation(definition: &OpDefinition, imported: &Imported<'_>) -> String {
    match imported.get(&*definition.name) {
        None => "yes".to_owned(),
        Some(None) => "as neutral operations".to_owned(),
        Some(Some(reason)) => format!("no: {reason}"),
    }
}

/// Returns the description of an operation, a line for each part.
fn describe(definition: &OpDefinition, imported: &Imported<'_>) -> String {
    let mut text = format!("{}\n", definition.name);
    let mut part = |title: &str, lines: Vec<String>| {
        for (index, line) in lines.into_iter().enumerate() {
            let title = if index == 0 { title } else { "" };
            let _ = writeln!(text, "  {title:12}{line}");
        }
    };
    part("operands", definition.operands.iter().map(describe_group).collect());
    part("results", definition.results.iter().map(describe_group).collect());
    part("attributes", definition.attributes.iter().map(describe_attribute).collect());
    let regions = match definition.regions {
        CountRule::Zero => vec![],
        CountRule::One => vec!["1".to_owned()],
        CountRule::Two => vec!["2".to_owned()],
        CountRule::Optional => vec!["at most 1".to_owned()],
        CountRule::Many => vec!["any number".to_owned()],
    };
    part("regions", regions);
    let traits = definition.traits;
    let traits = [
        ("pure", traits.pure),
        ("elementwise", traits.elementwise),
        ("commutative", traits.commutative),
        ("any_layout", traits.any_layout),
        ("terminator", traits.terminator),
    ];
    part("traits", traits.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()).collect());
    part("types", definition.types.iter().map(ToString::to_string).collect());
    part("rules", definition.verify.iter().map(ToString::to_string).collect());
    part("compiled", vec![compilation(definition, imported)]);
    text
}

fn describe_group(group: &ValueGroup) -> String {
    let ValueGroup { name, count, class } = group;
    match count {
        CountRule::Optional => format!("{name}: {class}, or none"),
        CountRule::Many => format!("{name}: any number; each is {class}"),
        CountRule::Zero | CountRule::One | CountRule::Two => format!("{name}: {class}"),
    }
}

fn describe_attribute(row: &AttributeDefinition) -> String {
    let AttributeDefinition { name, required, kind, default } = row;
    let end = match default {
        Some(default) => format!(", default {default}"),
        None if *required => String::new(),
        None => ", or none".to_owned(),
    };
    format!("{name}: {}{end}", describe_kind(kind))
}

fn describe_kind(kind: &AttributeKind) -> String {
    let joined = |words: &mut dyn Iterator<Item = &dyn Display>| {
        words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    match kind {
        AttributeKind::Any => "any attribute".to_owned(),
        AttributeKind::Unit => "present or not".to_owned(),
        AttributeKind::Bool => "a bool".to_owned(),
        AttributeKind::Integer(bits) => format!("an integer of {bits} bits"),
        AttributeKind::Integers(bits) => format!("integers of {bits} bits"),
        AttributeKind::Text => "a string".to_owned(),
        AttributeKind::Symbol => "the name of a function".to_owned(),
        AttributeKind::Words(words) => format!("a set of {}", joined(&mut words.keys().map(|word| word as _))),
        AttributeKind::Keyword(words) => format!("one of {}", joined(&mut words.keys().map(|word| word as _))),
        AttributeKind::Flags(flags) => format!("a set of {}", joined(&mut flags.words.iter().map(|word| word as _))),
    }
}
