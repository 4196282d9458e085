//! Parses an operation by the format template of its definition.

use std::collections::BTreeMap;

use super::Parser;
use super::draft::Draft;
use crate::op::{AttributeKind, CountRule, FlagSetSyntax, FormatTemplatePiece, ValueGroup};
use crate::{Attribute, TileType};
use tilewright_layout::text::Parsed;

impl Parser<'_> {
    /// Parses the text of an operation after its name, by the pieces of its format.
    pub(super) fn formatted(&mut self, mut draft: Draft, format: &[FormatTemplatePiece]) -> Parsed<Draft> {
        for piece in format {
            self.piece(&mut draft, piece)?;
        }
        Ok(draft)
    }

    fn piece(&mut self, draft: &mut Draft, piece: &FormatTemplatePiece) -> Parsed<()> {
        match piece {
            FormatTemplatePiece::Literal(token) => self.cursor.expect(token),
            FormatTemplatePiece::Operands(group) => self.operands(draft, *group),
            FormatTemplatePiece::Attribute(number) => self.attribute_position(draft, *number),
            FormatTemplatePiece::OperandTypes { group, .. } => {
                let count = draft.operands[*group].len();
                let class = draft.definition.operands[*group].class;
                let types = (0..count).map(|index| {
                    if index > 0 {
                        self.cursor.expect(",")?;
                    }
                    self.type_of_class(class)
                });
                draft.types.operands[*group] = Some(types.collect::<Parsed<_>>()?);
                Ok(())
            }
            FormatTemplatePiece::ResultTypes { group, .. } => self.result_position(draft, *group),
            FormatTemplatePiece::AllOperandTypes => {
                let types = if draft.operands.iter().all(Vec::is_empty) { Vec::new() } else { self.type_list()? };
                self.distribute_operands(draft, types)
            }
            FormatTemplatePiece::FunctionType => {
                let signature = self.signature()?;
                self.distribute_operands(draft, signature.arguments)?;
                self.distribute_results(draft, signature.results)
            }
            FormatTemplatePiece::Attributes => {
                let given = self.attributes_if_any()?;
                self.add_attributes(draft, given)
            }
            FormatTemplatePiece::Optional(pieces) => match pieces.first() {
                Some(first) if self.begins(draft, first) => {
                    pieces.iter().try_for_each(|piece| self.piece(draft, piece))
                }
                _ => Ok(()),
            },
            FormatTemplatePiece::Special(special) => self.special(draft, *special),
        }
    }

    /// Whether the text continues with the first piece of an optional part, so that the part is present.
    fn begins(&mut self, draft: &Draft, piece: &FormatTemplatePiece) -> bool {
        match piece {
            FormatTemplatePiece::Literal(token) => self.cursor.is_next(token),
            FormatTemplatePiece::Operands(_) => self.cursor.peek() == Some('%'),
            FormatTemplatePiece::OperandTypes { group, .. } => !draft.operands[*group].is_empty(),
            FormatTemplatePiece::Attribute(number) => match &draft.definition.attributes[*number].kind {
                AttributeKind::Keyword(words) => {
                    self.cursor.peek() == Some('"') || words.keys().any(|word| self.cursor.is_next(word))
                }
                AttributeKind::Text => self.cursor.peek() == Some('"'),
                _ => false,
            },
            _ => false,
        }
    }

    fn operands(&mut self, draft: &mut Draft, group: usize) -> Parsed<()> {
        draft.operands[group] = match draft.definition.operands[group].count {
            CountRule::Many => self.used_list()?,
            _ => vec![self.used()?],
        };
        Ok(())
    }

    fn result_position(&mut self, draft: &mut Draft, group: usize) -> Parsed<()> {
        let row = &draft.definition.results[group];
        let mut types = vec![self.type_of_class(row.class)?];
        while row.count == CountRule::Many && self.cursor.skip_if_next(",") {
            types.push(self.ty()?);
        }
        draft.types.results[group] = Some(types);
        Ok(())
    }

    /// Parses the value of the attribute with the index `number` in the definition, at its placeholder in the format.
    fn attribute_position(&mut self, draft: &mut Draft, number: usize) -> Parsed<()> {
        let row = &draft.definition.attributes[number];
        let (name, kind) = (row.name.clone(), row.kind.clone());
        let value = match &kind {
            AttributeKind::Unit => Attribute::Unit,
            AttributeKind::Text => Attribute::Text(self.cursor.read_quoted("a text")?.into()),
            AttributeKind::Symbol => Attribute::Symbol(self.symbol()?),
            AttributeKind::Integer(bits) => {
                let literal = self.literal()?;
                let value = self.typed(literal, TileType::integer(*bits))?;
                // The type is redundant, but allowed.
                if self.cursor.is_next(": i") && self.cursor.skip_if_next(":") {
                    self.ty()?;
                }
                value
            }
            AttributeKind::Integers(bits) => {
                let mut values = Vec::new();
                while !self.cursor.is_next("]") {
                    let literal = self.literal()?;
                    match self.typed(literal, TileType::integer(*bits))? {
                        Attribute::Number(number) => values.push(number.bits),
                        _ => return Err(self.cursor.expected_token_error("an integer")),
                    }
                    if !self.cursor.skip_if_next(",") {
                        break;
                    }
                }
                Attribute::Array(TileType::integer(*bits), values)
            }
            AttributeKind::Keyword(words) => {
                self.cursor.skip_blanks();
                let at = self.cursor.at;
                let word = self.keyword(&name)?;
                if !words.contains_key(&word) {
                    return Err(self.unknown_keyword(at, &name, &word, words.keys()));
                }
                Attribute::Keyword(word.into())
            }
            AttributeKind::Words(known) => {
                let mut words = vec![self.keyword(&name)?];
                while self.cursor.skip_if_next("|") {
                    words.push(self.keyword(&name)?);
                }
                if let Some(word) = words.iter().find(|word| !known.is_empty() && !known.contains_key(*word)) {
                    return Err(self.unknown_keyword(draft.at, &name, word, known.keys()));
                }
                Attribute::Keyword(words.join("|").into())
            }
            AttributeKind::Flags(flags) => {
                let at = self.cursor.at;
                let words = self.cursor.read_balanced("<")?;
                self.check_flags(at, flags, words)?;
                flags.attribute(words)
            }
            AttributeKind::Bool => {
                let value = ["true", "false"].into_iter().find(|word| self.cursor.skip_if_next(word));
                Attribute::Bool(value.ok_or_else(|| self.cursor.expected_token_error("`true` or `false`"))? == "true")
            }
            AttributeKind::Any => self.attribute()?,
        };
        draft.attributes.set(&name, value);
        Ok(())
    }

    fn check_flags(&self, at: usize, flags: &FlagSetSyntax, words: &str) -> Parsed<()> {
        match flags.unknown(words) {
            Some(word) => Err(self.unknown_keyword(at, &flags.name, word, flags.words.iter())),
            None => Ok(()),
        }
    }

    /// Parses a keyword of the attribute `name`; MLIR also takes it in quotes.
    fn keyword(&mut self, name: &str) -> Parsed<String> {
        let expected = format!("`{name}`");
        match self.cursor.peek() {
            Some('"') => self.cursor.read_quoted(&expected),
            _ => Ok(self.cursor.expect_word(&expected)?.to_owned()),
        }
    }

    fn unknown_keyword<'w>(
        &self,
        at: usize,
        name: &str,
        word: &str,
        known: impl Iterator<Item = &'w String>,
    ) -> tilewright_layout::text::TextError {
        let known: Vec<_> = known.map(|known| format!("`{known}`")).collect();
        self.cursor.error_at(at, format!("`{word}` is no `{name}`: expected one of {}", known.join(", ")))
    }

    /// Adds a dictionary of attributes to an operation, and checks the kinds of those that the definition lists.
    pub(super) fn add_attributes(&mut self, draft: &mut Draft, given: crate::Attributes) -> Parsed<()> {
        for (name, value) in given.iter() {
            let value = match draft.definition.find_attribute(name) {
                Some(row) => self.of_kind(draft.at, name, &row.kind, value)?,
                None => value.clone(),
            };
            if draft.attributes.set(name, value).is_some() {
                return Err(self.cursor.error_at(draft.at, format!("`{name}` is given twice")));
            }
        }
        Ok(())
    }

    fn of_kind(&self, at: usize, name: &str, kind: &AttributeKind, value: &Attribute) -> Parsed<Attribute> {
        let wrong = |expected: &str| self.cursor.error_at(at, format!("`{name} = {value}`: expected {expected}"));
        let kept = |holds: bool, expected: &str| if holds { Ok(value.clone()) } else { Err(wrong(expected)) };
        match kind {
            AttributeKind::Any => Ok(value.clone()),
            AttributeKind::Words(known) => Ok(words_of(value, known).unwrap_or_else(|| value.clone())),
            AttributeKind::Unit => kept(matches!(value, Attribute::Unit | Attribute::Bool(_)), "its name alone"),
            AttributeKind::Bool => kept(matches!(value, Attribute::Bool(_)), "`true` or `false`"),
            AttributeKind::Text => kept(matches!(value, Attribute::Text(_)), "a text in quotes"),
            AttributeKind::Symbol => kept(matches!(value, Attribute::Symbol(_)), "`@` and a name"),
            AttributeKind::Integer(bits) => match value.as_integer() {
                Some(number) if value.value_type() == Some(TileType::integer(*bits)) => {
                    Ok(Attribute::integer(number, TileType::integer(*bits)))
                }
                _ => Err(wrong(&format!("an integer of type `i{bits}`"))),
            },
            AttributeKind::Integers(bits) => {
                let expected = TileType::integer(*bits);
                kept(matches!(value, Attribute::Array(ty, _) if *ty == expected), &format!("`array<i{bits}: ...>`"))
            }
            AttributeKind::Flags(flags) => match value.to_string().strip_prefix(&flags.name) {
                Some(words) => {
                    self.check_flags(at, flags, words)?;
                    Ok(flags.attribute(words))
                }
                None => Err(wrong(&format!("`{}<...>`", flags.name))),
            },
            // The generic form has the number of the keyword.
            AttributeKind::Keyword(words) => {
                let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
                let word =
                    words.iter().find(|(word, code)| value.as_text() == Some(word.as_str()) || number == Some(**code));
                match word {
                    Some((word, _)) => Ok(Attribute::Keyword(word.as_str().into())),
                    None => Err(self.unknown_keyword(at, name, &value.to_string(), words.keys())),
                }
            }
        }
    }

    /// Sets the types of all operands; `types` has one type for each operand, in order.
    pub(super) fn distribute_operands(&mut self, draft: &mut Draft, types: Vec<TileType>) -> Parsed<()> {
        let count: usize = draft.operands.iter().map(Vec::len).sum();
        if types.len() != count {
            let message = format!("{} types for the {count} operands of `{}`", types.len(), draft.definition.name);
            return Err(self.cursor.error_at(draft.at, message));
        }
        let mut types = types.into_iter();
        for (used, types_of_group) in draft.operands.iter().zip(&mut draft.types.operands) {
            *types_of_group = Some(types.by_ref().take(used.len()).collect());
        }
        Ok(())
    }

    /// Divides the types of all results among the result groups. A group of variable size gets the types that the other
    /// groups leave.
    pub(super) fn distribute_results(&mut self, draft: &mut Draft, types: Vec<TileType>) -> Parsed<()> {
        let Some(sizes) = ValueGroup::divide(&draft.definition.results, types.len()) else {
            let message = format!("`{}` does not have {} results", draft.definition.name, types.len());
            return Err(self.cursor.error_at(draft.at, message));
        };
        let mut types = types.into_iter();
        for (size, types_of_group) in sizes.into_iter().zip(&mut draft.types.results) {
            *types_of_group = Some(types.by_ref().take(size).collect());
        }
        Ok(())
    }
}

/// Returns the keywords of a set, joined by `|`. The generic form gives them as the sum of their numbers, or as
/// `#dialect<name keyword>`. `None` for other values.
fn words_of(value: &Attribute, known: &BTreeMap<String, u32>) -> Option<Attribute> {
    if let Attribute::Foreign(text) = value {
        let (_, words) = text.strip_suffix('>')?.rsplit_once(' ')?;
        return Some(Attribute::Keyword(words.into()));
    }
    let sum = value.as_integer().and_then(|number| u32::try_from(number).ok())?;
    if let Some((word, _)) = known.iter().find(|(_, code)| **code == sum) {
        return Some(Attribute::Keyword(word.as_str().into()));
    }
    let mut parts: Vec<_> = known.iter().filter(|(_, code)| **code & sum == **code && **code != 0).collect();
    parts.sort_by_key(|(_, code)| **code);
    let words: Vec<_> = parts.iter().map(|(word, _)| word.as_str()).collect();
    (parts.iter().fold(0, |all, (_, code)| all | **code) == sum).then(|| Attribute::Keyword(words.join("|").into()))
}
