//! Terms as operations.

use super::plain;
use super::term::{Made, Said, Shape, Term};
use crate::op::{AttributeKind, Definition, Dialects};
use crate::transform::{Copier, Rewritten};
use crate::{Attribute, Attributes, BuildError, Float, Op, Operation, Signedness, TileType, Value, Values};

/// Writes what stands for a foreign operation.
pub(super) struct Writer<'i> {
    pub dialects: &'i Dialects,
    /// What the module says of warps and lanes.
    pub module: &'i Attributes,
    /// The foreign operation.
    pub op: Op,
}

/// A foreign operation whose results a term gives.
#[derive(Clone, Copy)]
pub(super) struct Outermost<'o> {
    operation: &'o Operation,
    types: &'o [TileType],
}

impl Outermost<'_> {
    /// Whether it gives one value, tokens of it aside.
    fn is_one(&self) -> bool {
        !self.types.is_empty() && self.types.iter().skip(1).all(is_token)
    }
}

fn is_token(ty: &TileType) -> bool {
    matches!(ty, TileType::Token)
}

impl Writer<'_> {
    /// Writes terms, and gives the values of the last.
    pub fn terms(&self, copier: &mut Copier<'_, '_, '_>, terms: &[Term]) -> Rewritten<Values> {
        self.terms_as(copier, terms, self.op)
    }

    /// The same with the results that another operation is to have.
    pub fn terms_as(&self, copier: &mut Copier<'_, '_, '_>, terms: &[Term], of: Op) -> Rewritten<Values> {
        let Some((last, before)) = terms.split_last() else { return Ok(Values::new()) };
        for term in before {
            self.term(copier, term, None)?;
        }
        let types = copier.types(&copier.from.op(of).results);
        match last {
            Term::Made(made) if made.name.contains('.') => {
                let outermost = Outermost { operation: copier.from.op(self.op), types: &types };
                self.operation(copier, made, Some(outermost))
            }
            term => self.term(copier, term, None),
        }
    }

    /// Writes terms that are only done where a condition holds.
    pub fn when(&self, copier: &mut Copier<'_, '_, '_>, when: &Term, terms: &[Term]) -> Rewritten<Values> {
        let condition = self.term(copier, when, None)?;
        let is_open = |condition: &Value| !copier.to.body().is_always(*condition);
        let Some(condition) = condition.first().copied().filter(is_open) else {
            return self.terms(copier, terms);
        };
        copier.when(condition, |copier| {
            self.terms(copier, terms)?;
            Ok(Values::new())
        })
    }

    /// The operands that a term names.
    pub fn operands(&self, copier: &Copier<'_, '_, '_>, term: &Term) -> Values {
        let Term::Operands(name) = term else { return Values::new() };
        let operation = copier.from.op(self.op);
        let found = match name.parse::<usize>() {
            Ok(place) => operation.operands.get(place..=place).unwrap_or_default(),
            Err(_) => copier.from.operands(self.op, name),
        };
        copier.all(found)
    }

    /// The values of a term; a number has the type `beside`.
    pub(super) fn term(
        &self,
        copier: &mut Copier<'_, '_, '_>,
        term: &Term,
        beside: Option<&TileType>,
    ) -> Rewritten<Values> {
        match term {
            Term::Operands(_) => Ok(self.operands(copier, term)),
            Term::Number(text) => {
                let ty = beside.cloned().unwrap_or(TileType::integer(32));
                let number = number(text, &ty).ok_or_else(|| BuildError::UnknownOperation(text.clone()))?;
                Ok([copier.to.constant(number)?].into_iter().collect())
            }
            Term::Made(made) if made.name.contains('.') => self.operation(copier, made, None),
            Term::Made(made) => self.list(copier, made),
        }
    }

    fn operation(
        &self,
        copier: &mut Copier<'_, '_, '_>,
        made: &Made,
        outermost: Option<Outermost<'_>>,
    ) -> Rewritten<Values> {
        let groups = self.groups(copier, made)?;
        self.operation_of(copier, made, &groups, outermost)
    }

    /// The operation of a term, on these operands.
    pub(super) fn operation_of(
        &self,
        copier: &mut Copier<'_, '_, '_>,
        made: &Made,
        groups: &[Values],
        outermost: Option<Outermost<'_>>,
    ) -> Rewritten<Values> {
        let definition = self.dialects.get(&made.name).cloned();
        let definition = definition.ok_or_else(|| BuildError::UnknownOperation(made.name.clone()))?;
        let result = match outermost {
            Some(outermost) if outermost.is_one() => {
                outermost.types.first().filter(|ty| !definition.results.is_empty() || !is_token(ty)).cloned()
            }
            _ => self.result(copier, made, groups),
        };
        let from = copier.from;
        let mut op = copier.to.op(&made.name);
        for (group, values) in definition.operands.iter().zip(groups) {
            op = op.operands(&group.name, values);
        }
        for row in &definition.attributes {
            let taken = outermost.and_then(|outermost| outermost.operation.attributes.get(&row.name));
            if let Some(value) = taken {
                op = op.attribute(&row.name, as_kind(value, &row.kind));
            }
        }
        let foreign = from.op(self.op);
        for (name, said) in &made.attributes {
            if let Some(value) = explicit_attribute(&definition, name, said, foreign) {
                op = op.attribute(name, value);
            }
        }
        if let Some(ty) = result {
            op = op.result(ty);
        }
        Ok(op.values()?)
    }

    /// The operands of each group; numbers get the type of the first operand that has one.
    pub(super) fn groups(&self, copier: &mut Copier<'_, '_, '_>, made: &Made) -> Rewritten<Vec<Values>> {
        let mut groups = vec![Values::new(); made.parts.len()];
        let is_number = |term: &Term| matches!(term, Term::Number(_));
        for (group, term) in groups.iter_mut().zip(&made.parts).filter(|(_, term)| !is_number(term)) {
            *group = self.term(copier, term, None)?;
        }
        let beside = groups.iter().flatten().next().map(|value| copier.to.ty(*value).clone());
        for (group, term) in groups.iter_mut().zip(&made.parts).filter(|(_, term)| is_number(term)) {
            *group = self.term(copier, term, beside.as_ref())?;
        }
        Ok(groups)
    }

    /// What the term says of the type of its result.
    fn result(&self, copier: &Copier<'_, '_, '_>, made: &Made, groups: &[Values]) -> Option<TileType> {
        let first = groups.iter().flatten().next().map(|value| copier.to.ty(*value).clone());
        match &made.ty {
            Shape::Follows => None,
            Shape::Like(group) => Some(self.type_of(copier, group)?.with_element(first?.element().clone())),
            Shape::Plain(group) => {
                let ty = self.type_of(copier, group)?;
                Some(plain::of_shape(ty.shape()?, ty.element(), self.module))
            }
            Shape::Element(name) => Some(first?.with_element(element(name)?)),
            Shape::Of(group) => self.type_of(copier, group),
        }
    }

    /// The type of the first operand or result of a group of the foreign operation.
    fn type_of(&self, copier: &Copier<'_, '_, '_>, group: &str) -> Option<TileType> {
        let operation = copier.from.op(self.op);
        let result = operation.definition.result_group(group);
        let result = result.and_then(|group| operation.result_group(group).first().copied());
        let value = copier.from.operand(self.op, group).or(result)?;
        Some(copier.from.ty(value).clone())
    }
}

/// The element of a name.
fn element(name: &str) -> Option<TileType> {
    let bits = name.strip_prefix('i').and_then(|bits| bits.parse().ok());
    let integer = bits.map(|bits| TileType::Integer(bits, Signedness::Signless));
    integer.or_else(|| Float::named(name).map(TileType::Float))
}

/// A number of a type; a tensor has it everywhere.
fn number(text: &str, ty: &TileType) -> Option<Attribute> {
    match ty.element() {
        TileType::Float(float) => Some(Attribute::of_bits(float.encode(text.parse().ok()?)?, ty.clone())),
        TileType::Integer(..) => Some(Attribute::integer(text.parse().ok()?, ty.clone())),
        _ => None,
    }
}

/// An attribute as the kind has it: a number of a word as the word.
fn as_kind(value: &Attribute, kind: &AttributeKind) -> Attribute {
    let AttributeKind::Word(words) = kind else { return value.clone() };
    let number = value.as_integer();
    let word = words.iter().find(|(_, known)| number == Some(i64::from(**known)));
    word.map_or_else(|| value.clone(), |(word, _)| Attribute::Word(word.as_str().into()))
}

/// What a table says of an attribute; nothing where the foreign operation has none.
fn explicit_attribute(definition: &Definition, name: &str, said: &Said, foreign: &Operation) -> Option<Attribute> {
    let value = |name: &str| foreign.attributes.get(name);
    match said {
        Said::Word(text) => Some(attribute(definition, name, text)),
        Said::Foreign(of, words) if words.is_empty() => {
            let value = value(of)?;
            Some(definition.attribute(name).map_or_else(|| value.clone(), |row| as_kind(value, &row.kind)))
        }
        Said::Foreign(of, words) => {
            let place = usize::try_from(value(of)?.as_integer()?).ok()?;
            words.get(place).map(|word| attribute(definition, name, word))
        }
    }
}

/// An attribute as a table writes it.
fn attribute(definition: &Definition, name: &str, text: &str) -> Attribute {
    match definition.attribute(name).map(|row| &row.kind) {
        Some(AttributeKind::Word(_)) => Attribute::Word(text.into()),
        Some(AttributeKind::Integer(bits)) => Attribute::integer(text.parse().unwrap_or(0), TileType::integer(*bits)),
        Some(AttributeKind::Bool) => Attribute::Bool(text == "true"),
        Some(AttributeKind::Unit) => Attribute::Unit,
        _ => Attribute::Text(text.into()),
    }
}
