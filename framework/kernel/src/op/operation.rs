//! [`Op`], an operation, with the accessors that the table generates: name, operands, regions, results, uniformity;
//! [`Region`] and [`Statement`].

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::atomic::{Atomic, MemoryOrder, MemoryScope};
use super::choices::{
    BarrierAction, Binary, Cast, ClockCounter, CollectiveScope, Compare, Issuers, RegisterChange, ShuffleMode,
    SpecialRegister, Unary,
};
use super::field::Field;
use super::math::MathFunction;
use super::rule::{
    ATOMIC_POINTER, BOOL, ELEMENTS, FMA_FLOAT, I32, I64, IN_MEMORY, MATH_FLOAT, NOT_PENDING, OFFSET, PENDING, POINTER,
    PRINTED, SHARED, TypeRule, VECTOR, WORD, any, computed_from, from_first, is, one_of, same_type_as,
};
use super::table::operations;
use crate::{MemorySpace, Queue, Type, Uniformity, Value};

/// Expands to its first argument if the row gives one, otherwise to the default.
macro_rules! first_or_default {
    ($explicit:expr; $default:expr) => {
        $explicit
    };
    (; $default:expr) => {
        $default
    };
}

/// Expands to the number of results that a row of the operation table states; `None` if any number is allowed.
macro_rules! result_count {
    (none) => {
        Some(0)
    };
    (one $given:expr) => {
        Some(1)
    };
    (two $given:expr) => {
        Some(2)
    };
    (each $values:expr) => {
        Some($values.len())
    };
    (some) => {
        None
    };
}

/// Expands to the rule that a row of the operation table states for the types of the results.
macro_rules! result_rule {
    (one $given:expr) => {
        $given
    };
    (two $given:expr) => {
        $given
    };
    ($count:ident $($given:expr)?) => {
        any()
    };
}

macro_rules! define {
    ($(
        $(#[$doc:meta])* $name:ident $variant:ident $(in_bytes($earlier:literal))? $(($one:ident: $one_type:ty))?
        $({ $($(#[$about:meta])* $field:ident: $type:ty $(= $what:literal)? $(where $rule:expr)?),* $(,)? })?
        [$($text:tt)*] -> $count:ident $(($given:expr))? $(at_best($best:expr))? $(needs($control:expr))? $(fn $method:ident)?;
    )*) => {
        /// One operation. Its operands are values defined before it.
        ///
        /// Serialized by name, so that a reader can name an operation that it does not know.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Op {
            $($(#[$doc])* $(#[serde(rename = $earlier)])? $variant $(($one_type))? $({ $($(#[$about])* $field: $type),* })?,)*
        }

        #[allow(unused_variables, reason = "a row's rules name few of its fields")]
        impl Op {
            /// The names of all operations that this version knows, as in text.
            pub const NAMES: [&'static str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];

            /// The names in serialized bytes, in the order of [`Self::NAMES`]: renamed operations keep their earlier
            /// name.
            pub(crate) const NAMES_IN_BYTES: [&'static str; Self::NAMES.len()] =
                [$(first_or_default!($($earlier)?; stringify!($name))),*];

            /// The name of the operation in text. Serialized bytes have the same name, except for renamed operations.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($name),)*
                }
            }

            /// Returns the operands of the operation itself, in the order of its fields; operands of operations in its
            /// regions are not included.
            #[must_use]
            pub fn operands(&self) -> Vec<Value> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        let fields: &[&[Value]] = &[$($(Field::<Region>::values($field)),*)?];
                        fields.concat()
                    })*
                }
            }

            /// Returns the regions of the operation, in the order of its fields.
            #[must_use]
            pub fn regions(&self) -> Vec<&Region> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        let fields: &[Option<&Region>] = &[$($(Field::<Region>::region($field)),*)?];
                        fields.iter().copied().flatten().collect()
                    })*
                }
            }

            /// Returns mutable references to the regions of the operation, in the order of its fields.
            #[must_use]
            pub fn regions_mut(&mut self) -> Vec<&mut Region> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        let fields: Vec<Option<&mut Region>> = vec![$($(Field::<Region>::region_mut($field)),*)?];
                        fields.into_iter().flatten().collect()
                    })*
                }
            }

            /// Calls `visit` with every operand and the rule for its type, in the order of the fields, up to the first
            /// error.
            pub(crate) fn try_operands<E>(&self, mut visit: impl FnMut(Value, TypeRule) -> Result<(), E>) -> Result<(), E> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        $($(for &value in Field::<Region>::values($field) {
                            visit(value, first_or_default!($($rule)?; any()))?;
                        })*)?
                        Ok(())
                    })*
                }
            }

            /// Returns the number of results of the operation; `None` if it may have any number.
            pub(crate) fn result_count(&self) -> Option<usize> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => result_count!($count $($given)?),)*
                }
            }

            /// Returns the rule that the types of all results must follow.
            pub(crate) fn result_rule(&self) -> TypeRule {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => result_rule!($count $($given)?),)*
                }
            }

            /// Returns the uniformity of the results for the case that every operand is equal in all lanes.
            pub(crate) fn uniformity_at_best(&self) -> Uniformity {
                match self {
                    $(Self::$variant { .. } => first_or_default!($($best)?; Uniformity::ClusterUniform),)*
                }
            }

            /// Returns the uniformity that the operation requires of the control flow around it.
            pub(crate) fn needed_control(&self) -> Uniformity {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => first_or_default!($($control)?; Uniformity::Varying),)*
                }
            }
        }
    };
}

operations!(define);

impl Op {
    /// Whether the operation always has exactly one result, whose type is in `Statement::results`.
    #[must_use]
    pub fn has_single_result(&self) -> bool {
        !matches!(self, Self::Wait { .. }) && self.result_count() == Some(1)
    }

    /// Whether the operation only computes its results from its operands: it accesses no memory and has no other
    /// effects, and each lane computes without the others.
    #[must_use]
    pub fn is_arithmetic(&self) -> bool {
        matches!(
            self,
            Self::Constant { .. }
                | Self::Unary { .. }
                | Self::Binary { .. }
                | Self::Fma { .. }
                | Self::Compare { .. }
                | Self::Select { .. }
                | Self::Cast { .. }
                | Self::Pack { .. }
                | Self::Extract { .. }
                | Self::PermuteBytes { .. }
                | Self::PtrAdd { .. }
        )
    }

    /// Calls `visit` with the values that the operation and the operations in its regions use, except those that its
    /// regions define.
    pub fn visit_used_values(&self, visit: &mut dyn FnMut(Value)) {
        self.operands().into_iter().for_each(&mut *visit);
        for region in self.regions() {
            let mut inner: HashSet<Value> = region.arguments.iter().map(|(value, _)| *value).collect();
            for statement in &region.statements {
                statement.op.visit_used_values(&mut |value| {
                    if !inner.contains(&value) {
                        visit(value);
                    }
                });
                inner.extend(statement.results.iter().map(|(value, _)| *value));
            }
        }
    }
}

/// Maximum nesting depth of regions.
pub const MAX_REGION_DEPTH: usize = 64;

/// A sequence of statements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The values that the region takes as arguments, and their types.
    pub arguments: Vec<(Value, Type)>,
    /// The statements, in order of execution.
    pub statements: Vec<Statement>,
}

/// One operation with the values that it defines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// The values defined, and their types.
    pub results: Vec<(Value, Type)>,
    /// The operation of the statement.
    pub op: Op,
    /// The source location, as an index into [`crate::Kernel::locations`]; `None` if it is not known. The text of a
    /// kernel omits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<u32>,
}

impl Statement {
    /// A statement without a source location.
    #[must_use]
    pub const fn new(results: Vec<(Value, Type)>, op: Op) -> Self {
        Self { results, op, location: None }
    }
}

impl Region {
    /// Returns the values that the region yields; none if it does not end with a `yield`.
    #[must_use]
    pub fn yielded_values(&self) -> &[Value] {
        match self.statements.last().map(|statement| &statement.op) {
            Some(Op::Yield { values }) => values,
            _ => &[],
        }
    }

    pub(crate) fn collect_statements<'a>(&'a self, into: &mut Vec<&'a Statement>) {
        for statement in &self.statements {
            into.push(statement);
            statement.op.regions().into_iter().for_each(|region| region.collect_statements(into));
        }
    }

    pub(crate) fn value_limit(&self) -> u32 {
        let own = self.arguments.iter().chain(self.statements.iter().flat_map(|statement| &statement.results));
        let own = own.map(|(value, _)| value.0.saturating_add(1));
        let inner = self.statements.iter().flat_map(|statement| statement.op.regions()).map(Self::value_limit);
        own.chain(inner).max().unwrap_or(0)
    }
}

impl Field<Region> for Region {
    fn region(&self) -> Option<&Region> {
        Some(self)
    }

    fn region_mut(&mut self) -> Option<&mut Region> {
        Some(self)
    }
}
