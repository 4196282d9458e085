//! Rows of a dialect file (one for each operation), as deserialized.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::{
    AttributeDefinition, AttributeKind, CountRule, FlagSetSyntax, FormatTemplatePiece, OpDefinition, OpTraits,
    OperandTypeConstraint, TypeInferenceRule, ValueGroup, VerifyCondition,
};
use crate::attribute::Attribute;
use crate::rules::VerifyRules;
use crate::types::{FloatType, TileType};

/// A dialect file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The dialect's name, the prefix of all operations.
    pub dialect: String,
    /// The element types that the dialect's scalars and tensors may have; any if the key is absent.
    #[serde(default)]
    pub elements: String,
    /// Whether layouts of the operations' tensors must have the lanes, warps and blocks that the module states.
    #[serde(default)]
    pub layouts_fit_module: bool,
    /// Keywords with their numbers for attributes of rows, by the name with which rows refer to them.
    #[serde(default)]
    pub words: BTreeMap<String, BTreeMap<String, u32>>,
    /// Flag sets for attributes of rows, by the name with which rows refer to them.
    #[serde(default)]
    pub flags: BTreeMap<String, FlagSetSyntax>,
    /// Templates of rows: a row takes the keys that it omits from the template that its `form` names.
    #[serde(default)]
    pub forms: BTreeMap<String, Row>,
    /// Operations by name, without the dialect; none in a dialect of layouts alone.
    #[serde(default)]
    pub operations: BTreeMap<String, Row>,
    /// Earlier names of operations and attributes of the dialect, each with its current name. Texts may have either.
    #[serde(default)]
    pub renamed: BTreeMap<String, String>,
    /// The default parameters of layout families, as attribute text, by the family's name.
    #[serde(default)]
    pub layouts: BTreeMap<String, String>,
}

/// The row of an operation in a dialect file; keys that it omits come from the template row (`forms`) that `form`
/// names.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    form: Option<String>,
    operands: Option<String>,
    results: Option<String>,
    attributes: Option<String>,
    format: Option<String>,
    types: Option<String>,
    regions: Option<String>,
    traits: Option<String>,
    verify: Option<String>,
}

impl Row {
    /// Returns the row, with the keys that it omits taken from its template row (`forms`).
    fn with_form(&self, file: &File) -> Result<Self, String> {
        let Some(name) = &self.form else { return Ok(self.clone()) };
        let form = file.forms.get(name).ok_or_else(|| format!("there is no form `{name}`"))?;
        if form.form.is_some() {
            return Err(format!("the form `{name}` begins with another"));
        }
        let of = |own: &Option<String>, forms: &Option<String>| own.clone().or_else(|| forms.clone());
        Ok(Self {
            form: None,
            operands: of(&self.operands, &form.operands),
            results: of(&self.results, &form.results),
            attributes: of(&self.attributes, &form.attributes),
            format: of(&self.format, &form.format),
            types: of(&self.types, &form.types),
            regions: of(&self.regions, &form.regions),
            traits: of(&self.traits, &form.traits),
            verify: of(&self.verify, &form.verify),
        })
    }

    /// Returns the definition of the operation that the row describes.
    ///
    /// # Errors
    /// A message about the first error in the row.
    pub(super) fn definition(&self, name: &str, file: &File, rules: &VerifyRules) -> Result<OpDefinition, String> {
        let row = self.with_form(file)?;
        let text = |name_or_empty: &Option<String>| name_or_empty.clone().unwrap_or_default();
        let attributes = text(&row.attributes);
        let attributes = attributes.split_whitespace().map(|word| attribute(word, file));
        let mut definition = OpDefinition {
            name: format!("{}.{name}", file.dialect).into(),
            operands: groups(&text(&row.operands))?,
            results: groups(&text(&row.results))?,
            attributes: attributes.collect::<Result<_, _>>()?,
            elements: elements(&file.elements)?,
            format: None,
            types: TypeInferenceRule::parse_rules(&text(&row.types)).map_err(|error| format!("`types`: {error}"))?,
            regions: regions(&text(&row.regions))?,
            traits: traits(&text(&row.traits))?,
            verify: VerifyCondition::list(&text(&row.verify), rules)?,
            layouts_fit_module: file.layouts_fit_module,
        };
        if let Some(unknown) = unknown_group(&definition) {
            return Err(format!("`types` or `verify` speak of `{unknown}`, which is no operand and no result"));
        }
        let format = row.format.map(|format| FormatTemplatePiece::parse_template(&format, &definition)).transpose();
        definition.format = format.map_err(|error| format!("`format`: {error}"))?;
        Ok(definition)
    }
}

/// Returns the name of a group that the type rules mention but the row does not define; `None` if it defines all.
fn unknown_group(definition: &OpDefinition) -> Option<&str> {
    let rules = definition.types.iter().chain(definition.verify.iter().filter_map(VerifyCondition::as_types));
    let mut spoken = rules.flat_map(|rule| [Some(&*rule.target), rule.expression.groups()]).flatten();
    spoken.find(|name| definition.operand_group_index(name).or(definition.result_group_index(name)).is_none())
}

/// Parses element types, `f16 f32 i1`.
fn elements(text: &str) -> Result<Arc<[TileType]>, String> {
    let element = |word: &str| {
        let float = FloatType::from_name(word).map(TileType::Float);
        let integer = || word.strip_prefix('i')?.parse().ok().map(TileType::integer);
        float.or_else(integer).ok_or_else(|| format!("`{word}` in `elements` is not a type of elements"))
    };
    text.split_whitespace().map(element).collect()
}

/// Parses operand or result groups, `ptr:pointer mask?:i1 rest*`: name, number and type constraint, by default `any`.
fn groups(text: &str) -> Result<Vec<ValueGroup>, String> {
    text.split_whitespace()
        .map(|word| {
            let (name, class) = word.split_once(':').unwrap_or((word, "any"));
            let class = OperandTypeConstraint::from_keyword(class)
                .ok_or_else(|| format!("`{class}` in `{word}` is not a class of types"))?;
            let (name, count) = counted(name);
            Ok(ValueGroup { name: name.to_owned(), count, class })
        })
        .collect()
}

fn counted(name: &str) -> (&str, CountRule) {
    if let Some(name) = name.strip_suffix('?') {
        (name, CountRule::Optional)
    } else if let Some(name) = name.strip_suffix('*') {
        (name, CountRule::Many)
    } else {
        (name, CountRule::One)
    }
}

/// Parses an attribute, `axis:i32 rounding?:rounding isVolatile:bool=false`.
fn attribute(word: &str, file: &File) -> Result<AttributeDefinition, String> {
    let (word, default) = word.split_once('=').map_or((word, None), |(word, default)| (word, Some(default)));
    let (name, kind) = word.split_once(':').unwrap_or((word, "any"));
    let (name, count) = counted(name);
    let kind = attribute_kind(kind, file).ok_or_else(|| format!("`{kind}` in `{word}` is not a kind of attribute"))?;
    let default = default.map(|default| default_value(default, &kind)).transpose()?;
    let required = count == CountRule::One && default.is_none() && kind != AttributeKind::Unit;
    Ok(AttributeDefinition { name: name.to_owned(), required, kind, default })
}

fn attribute_kind(kind: &str, file: &File) -> Option<AttributeKind> {
    Some(match kind {
        "any" => AttributeKind::Any,
        "unit" => AttributeKind::Unit,
        "bool" => AttributeKind::Bool,
        "i32" => AttributeKind::Integer(32),
        "i16" => AttributeKind::Integer(16),
        "i64" => AttributeKind::Integer(64),
        "i32s" => AttributeKind::Integers(32),
        "i64s" => AttributeKind::Integers(64),
        "text" => AttributeKind::Text,
        "symbol" => AttributeKind::Symbol,
        "words" => AttributeKind::Words(Arc::default()),
        name => match (name.strip_suffix('|'), file.flags.get(name)) {
            (Some(set), _) => AttributeKind::Words(Arc::new(file.words.get(set)?.clone())),
            (None, Some(flags)) => AttributeKind::Flags(Arc::new(flags.clone())),
            (None, None) => AttributeKind::Keyword(Arc::new(file.words.get(name)?.clone())),
        },
    })
}

fn default_value(text: &str, kind: &AttributeKind) -> Result<Attribute, String> {
    let value = match kind {
        AttributeKind::Bool => text.parse().ok().map(Attribute::Bool),
        AttributeKind::Integer(bits) => {
            let ty = TileType::integer(*bits);
            text.parse().ok().map(|value| Attribute::integer(value, ty))
        }
        AttributeKind::Keyword(words) => words.contains_key(text).then(|| Attribute::Keyword(text.into())),
        AttributeKind::Flags(flags) => Some(flags.attribute(&format!("<{text}>"))),
        _ => None,
    };
    value.ok_or_else(|| format!("`{text}` is not a value of its attribute"))
}

fn regions(text: &str) -> Result<CountRule, String> {
    match text {
        "" | "0" => Ok(CountRule::Zero),
        "1" => Ok(CountRule::One),
        "2" => Ok(CountRule::Two),
        "*" => Ok(CountRule::Many),
        other => Err(format!("`{other}` is not a number of regions: expected `0`, `1`, `2` or `*`")),
    }
}

fn traits(text: &str) -> Result<OpTraits, String> {
    text.split_whitespace().try_fold(OpTraits::default(), |mut traits, word| {
        match word {
            "pure" => traits.pure = true,
            "elementwise" => traits.elementwise = true,
            "commutative" => traits.commutative = true,
            "any_layout" => traits.any_layout = true,
            "terminator" => traits.terminator = true,
            other => return Err(format!("`{other}` is not a trait")),
        }
        Ok(traits)
    })
}
