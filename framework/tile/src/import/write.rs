//! Emits the operations of import terms.

use super::image::Images;
use super::multicast;
use super::plain::{self, element};
use super::term::{AttributeSource, Call, Shape, Term};
use crate::op::{AttributeKind, Dialects, OpDefinition};
use crate::transform::{IrCloner, Rewritten};
use crate::{Attribute, Attributes, BuildError, FunctionBody, Op, Operation, TileType, Value, Values};

/// Emits the replacement of one foreign operation.
pub(super) struct ReplacementWriter<'i> {
    pub dialects: &'i Dialects,
    /// The module attributes, among them the numbers of warps and lanes.
    pub module: &'i Attributes,
    /// The descriptors of images among the arguments of the function.
    pub images: &'i Images,
    /// The foreign operation that the writer replaces.
    pub op: Op,
    /// The values that `$0`, `$1`, ... are; `None` for the operands of the foreign operation.
    pub operands: Option<&'i [Value]>,
}

/// The foreign operation that terms replace. The operation of the last term gets its attributes, and the result types
/// `types`.
#[derive(Clone, Copy)]
pub(super) struct Outermost<'o> {
    operation: &'o Operation,
    types: &'o [TileType],
}

impl Outermost<'_> {
    /// Whether the foreign operation has results, and all but the first are async tokens.
    fn has_one_value(&self) -> bool {
        !self.types.is_empty() && self.types.iter().skip(1).all(is_token)
    }
}

fn is_token(ty: &TileType) -> bool {
    matches!(ty, TileType::Token)
}

impl ReplacementWriter<'_> {
    /// Emits terms, and returns the values of the last; an empty list has none.
    pub fn emit_terms(&self, cloner: &mut IrCloner<'_, '_, '_>, terms: &[Term]) -> Rewritten<Values> {
        self.emit_terms_as(cloner, terms, self.op)
    }

    /// Emits terms, and returns the values of the last. The operation of the last term gets the result types of the
    /// foreign operation `of`.
    pub fn emit_terms_as(&self, cloner: &mut IrCloner<'_, '_, '_>, terms: &[Term], of: Op) -> Rewritten<Values> {
        let types = cloner.types_of(&cloner.from.op(of).results);
        self.emit_terms_of_types(cloner, terms, &types)
    }

    /// Emits terms, and returns the values of the last. The operation of the last term gets these result types.
    pub fn emit_terms_of_types(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        terms: &[Term],
        types: &[TileType],
    ) -> Rewritten<Values> {
        let Some((last, before)) = terms.split_last() else { return Ok(Values::new()) };
        for term in before {
            self.term(cloner, term, None)?;
        }
        match last {
            Term::Call(call) if call.name.contains('.') => {
                let outermost = Outermost { operation: cloner.from.op(self.op), types };
                self.operation(cloner, call, Some(outermost))
            }
            term => self.term(cloner, term, None),
        }
    }

    /// Emits terms in an `scf.if` with the condition `when`, or without it if the condition is known to be true.
    pub fn emit_if(&self, cloner: &mut IrCloner<'_, '_, '_>, when: &Term, terms: &[Term]) -> Rewritten<Values> {
        let condition = self.term(cloner, when, None)?;
        let is_open = |condition: &Value| !cloner.to.body().is_always(*condition);
        let Some(condition) = condition.first().copied().filter(is_open) else {
            return self.emit_terms(cloner, terms);
        };
        cloner.emit_if(condition, |cloner| {
            self.emit_terms(cloner, terms)?;
            Ok(Values::new())
        })
    }

    /// The operands of the foreign operation that a term `$...` names; empty for other terms.
    pub fn operands_of_term(&self, cloner: &IrCloner<'_, '_, '_>, term: &Term) -> Values {
        let Term::Operands(name) = term else { return Values::new() };
        let operation = cloner.from.op(self.op);
        let found = match name.parse::<usize>() {
            Ok(index) if self.operands.is_some() => {
                let given = self.operands.unwrap_or_default();
                return given.get(index..=index).unwrap_or_default().iter().copied().collect();
            }
            Ok(index) => operation.operands.get(index..=index).unwrap_or_default(),
            Err(_) => cloner.from.operands(self.op, name),
        };
        cloner.all(found)
    }

    /// Emits a term, and returns its values. A number has the type `number_type`, or `i32` if that is `None`.
    pub(super) fn term(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        term: &Term,
        number_type: Option<&TileType>,
    ) -> Rewritten<Values> {
        match term {
            Term::Operands(_) => Ok(self.operands_of_term(cloner, term)),
            Term::Number(text) => {
                let ty = number_type.cloned().unwrap_or(TileType::integer(32));
                let number = number(text, &ty).ok_or_else(|| BuildError::UnknownOperation(text.clone()))?;
                Ok([cloner.to.add_constant(number)?].into_iter().collect())
            }
            Term::Call(call) if call.name.contains('.') => self.operation(cloner, call, None),
            Term::Call(call) => self.list(cloner, call),
        }
    }

    fn operation(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        call: &Call,
        outermost: Option<Outermost<'_>>,
    ) -> Rewritten<Values> {
        let groups = self.groups(cloner, call)?;
        self.operation_of(cloner, call, &groups, outermost)
    }

    /// Emits the operation of a term on the given operands, group by group, and returns its results.
    ///
    /// `outermost` is the foreign operation for the last term; `None` for other terms.
    pub(super) fn operation_of(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        call: &Call,
        groups: &[Values],
        outermost: Option<Outermost<'_>>,
    ) -> Rewritten<Values> {
        let definition = self.dialects.find_definition(&call.name).cloned();
        let definition = definition.ok_or_else(|| BuildError::UnknownOperation(call.name.clone()))?;
        let result = match outermost {
            Some(outermost) if outermost.has_one_value() => {
                outermost.types.first().filter(|ty| !definition.results.is_empty() || !is_token(ty)).cloned()
            }
            _ => self.result(cloner, call, groups),
        };
        let from = cloner.from;
        let mut op = cloner.to.build_op(&call.name);
        for (group, values) in definition.operands.iter().zip(groups) {
            op = op.operands(&group.name, values);
        }
        for row in &definition.attributes {
            let taken = outermost.and_then(|outermost| outermost.operation.attributes.get(&row.name));
            if let Some(value) = taken {
                op = op.attribute(&row.name, as_kind(value, &row.kind));
            }
        }
        for (name, source) in &call.attributes {
            if let Some(value) = self.explicit_attribute(&definition, name, source, from) {
                op = op.attribute(name, value);
            }
        }
        if let Some(ty) = result {
            op = op.result(ty);
        }
        Ok(op.values()?)
    }

    /// Emits the operands of a term's operation, group by group.
    ///
    /// Numbers have the type of the first operand that is no number.
    pub(super) fn groups(&self, cloner: &mut IrCloner<'_, '_, '_>, call: &Call) -> Rewritten<Vec<Values>> {
        let mut groups = vec![Values::new(); call.arguments.len()];
        let is_number = |term: &Term| matches!(term, Term::Number(_));
        for (group, term) in groups.iter_mut().zip(&call.arguments).filter(|(_, term)| !is_number(term)) {
            *group = self.term(cloner, term, None)?;
        }
        let number_type = groups.iter().flatten().next().map(|value| cloner.to.ty(*value).clone());
        for (group, term) in groups.iter_mut().zip(&call.arguments).filter(|(_, term)| is_number(term)) {
            *group = self.term(cloner, term, number_type.as_ref())?;
        }
        Ok(groups)
    }

    /// Returns the result type that the term states; `None` if it is to be inferred from the operands.
    fn result(&self, cloner: &IrCloner<'_, '_, '_>, call: &Call, groups: &[Values]) -> Option<TileType> {
        let first = groups.iter().flatten().next().map(|value| cloner.to.ty(*value).clone());
        match &call.ty {
            Shape::Follows => None,
            Shape::Like(group) => Some(self.type_of(cloner, group)?.with_element(first?.element().clone())),
            Shape::Plain(group) => {
                let ty = self.type_of(cloner, group)?;
                Some(plain::of_shape(ty.shape()?, ty.element(), self.module))
            }
            Shape::Open(group) => Some(plain::open_tensor(self.type_of(cloner, group)?.as_memory()?, self.module)),
            Shape::Element(name) => {
                let element = element(name)?;
                Some(first.map_or_else(|| element.clone(), |first| first.with_element(element.clone())))
            }
            Shape::Of(group) => self.type_of(cloner, group),
        }
    }

    /// The type of the first operand or result in a group of the foreign operation; `None` if there is none.
    fn type_of(&self, cloner: &IrCloner<'_, '_, '_>, group: &str) -> Option<TileType> {
        let operation = cloner.from.op(self.op);
        let result = operation.definition.result_group_index(group);
        let result = result.and_then(|group| operation.result_group(group).first().copied());
        let value = cloner.from.operand(self.op, group).or(result)?;
        Some(cloner.from.value_type(value).clone())
    }

    /// Returns the value of the attribute that a term states as `source`; `None` if the foreign operation lacks an
    /// attribute that `source` names.
    fn explicit_attribute(
        &self,
        definition: &OpDefinition,
        name: &str,
        source: &AttributeSource,
        from: &FunctionBody,
    ) -> Option<Attribute> {
        let foreign = from.op(self.op);
        match source {
            AttributeSource::Keyword(text) => Some(attribute(definition, name, text)),
            AttributeSource::Foreign(of, words) if words.is_empty() => {
                let value = foreign_attribute(foreign, of)?;
                Some(definition.find_attribute(name).map_or_else(|| value.clone(), |row| as_kind(value, &row.kind)))
            }
            AttributeSource::Foreign(of, words) => {
                let index = usize::try_from(foreign_attribute(foreign, of)?.as_integer()?).ok()?;
                words.get(index).map(|word| attribute(definition, name, word))
            }
            AttributeSource::AtAxis { number, axis } => {
                let number = foreign_attribute(foreign, number)?.as_integer()?;
                let axis = usize::try_from(foreign_attribute(foreign, axis)?.as_integer()?).ok()?;
                let rank = from.value_type(*foreign.operands.first()?).shape()?.len();
                let numbers = (0..rank).map(|at| if at == axis { number as u64 } else { 0 });
                Some(Attribute::Array(TileType::integer(32), numbers.collect()))
            }
            AttributeSource::Multicast { number, mask } => {
                let integer = |name: &str| foreign_attribute(foreign, name)?.as_integer();
                let arrivals = multicast::arrivals(integer(number)?, integer(mask).unwrap_or(0));
                Some(attribute(definition, name, &arrivals.to_string()))
            }
            AttributeSource::Commits(groups) => {
                let commits = multicast::commits(from, self.op, groups, self.module);
                Some(attribute(definition, name, &commits.to_string()))
            }
            AttributeSource::SameSize { groups, axis } => {
                let size = |group: &String| from.value_type(from.operand(self.op, group)?).shape()?.get(*axis).copied();
                Some(Attribute::Bool(size(&groups[0])? == size(&groups[1])?))
            }
        }
    }
}

/// Parses a number as an attribute; for a tensor type, all elements are equal. `None` if the text does not fit the
/// type.
pub(super) fn number(text: &str, ty: &TileType) -> Option<Attribute> {
    match ty.element() {
        TileType::Float(float) => Some(Attribute::of_bits(float.encode(text.parse().ok()?)?, ty.clone())),
        TileType::Integer(..) => Some(Attribute::integer(text.parse().ok()?, ty.clone())),
        _ => None,
    }
}

/// Converts an attribute to the kind that the definition requires: the number of a keyword becomes the keyword; other
/// attributes stay as they are.
fn as_kind(value: &Attribute, kind: &AttributeKind) -> Attribute {
    let AttributeKind::Keyword(words) = kind else { return value.clone() };
    let number = value.as_integer();
    let word = words.iter().find(|(_, known)| number == Some(i64::from(**known)));
    word.map_or_else(|| value.clone(), |(word, _)| Attribute::Keyword(word.as_str().into()))
}

/// Returns the foreign operation's attribute with this name or, if the text omits it, its default.
fn foreign_attribute<'o>(foreign: &'o Operation, name: &str) -> Option<&'o Attribute> {
    let default = || foreign.definition.find_attribute(name).and_then(|row| row.default.as_ref());
    foreign.attributes.get(name).or_else(default)
}

/// Parses the text that a table has for an attribute, as the kind of value that the definition requires.
fn attribute(definition: &OpDefinition, name: &str, text: &str) -> Attribute {
    match definition.find_attribute(name).map(|row| &row.kind) {
        Some(AttributeKind::Keyword(_) | AttributeKind::Words(_)) => Attribute::Keyword(text.into()),
        Some(AttributeKind::Integer(bits)) => Attribute::integer(text.parse().unwrap_or(0), TileType::integer(*bits)),
        Some(AttributeKind::Bool) => Attribute::Bool(text == "true"),
        Some(AttributeKind::Unit) => Attribute::Unit,
        None if text == "unit" => Attribute::Unit,
        _ => Attribute::Text(text.into()),
    }
}
