//! [`Op`], one operation, and what the table says of it: name, operands, regions, results, uniformity; and the regions and
//! statements that operations hold and stand in.

use serde::{Deserialize, Serialize};

use super::atomic::{Atomic, MemoryOrder, MemoryScope};
use super::choices::{Binary, Cast, Compare, Exchange, Issuers, Scope, SpecialRegister, Unary};
use super::field::Field;
use super::math::MathFunction;
use super::rule::{
    AT_HAND, ATOMIC_POINTER, BOOL, COMPUTED, ELEMENTS, FUSED, IN_MEMORY, INDEX, OFFSET, PENDING, POINTER, PRINTED,
    SHARED, TypeRule, VECTOR, WORD, any, from, from_first, is, like, one_of,
};
use super::table::operations;
use crate::{MemorySpace, Queue, Type, Uniformity, Value};

/// The first of what it is given: what a row says, before what holds if it says nothing.
macro_rules! said {
    ($said:expr; $unsaid:expr) => {
        $said
    };
    (; $unsaid:expr) => {
        $unsaid
    };
}

/// How many results a row says; none for any number.
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

/// The rule that a row gives for the types of its results.
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
        $(#[$doc:meta])* $name:ident $variant:ident $(($one:ident: $one_type:ty))?
        $({ $($(#[$about:meta])* $field:ident: $type:ty $(= $what:literal)? $(where $rule:expr)?),* $(,)? })?
        [$($text:tt)*] -> $count:ident $(($given:expr))? $(at_best($best:expr))? $(needs($control:expr))? $(fn $method:ident)?;
    )*) => {
        /// One operation. Operands are values defined before it.
        ///
        /// Serialised by name, so that a reader can tell which operation it does not know.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Op {
            $($(#[$doc])* $variant $(($one_type))? $({ $($(#[$about])* $field: $type),* })?,)*
        }

        #[allow(unused_variables, reason = "a row's rules name few of its fields")]
        impl Op {
            /// The names of all operations that this version knows, as on the wire.
            pub const NAMES: [&'static str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];

            /// The name used in text and on the wire.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($name),)*
                }
            }

            /// The operands, in the order of the fields; regions not entered.
            #[must_use]
            pub fn operands(&self) -> Vec<Value> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        let fields: &[&[Value]] = &[$($(Field::<Region>::values($field)),*)?];
                        fields.concat()
                    })*
                }
            }

            /// The regions, in the order of the fields.
            #[must_use]
            pub fn regions(&self) -> Vec<&Region> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        let fields: &[Option<&Region>] = &[$($(Field::<Region>::region($field)),*)?];
                        fields.iter().copied().flatten().collect()
                    })*
                }
            }

            /// The regions, to be changed, in the order of the fields.
            #[must_use]
            pub fn regions_mut(&mut self) -> Vec<&mut Region> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        let fields: Vec<Option<&mut Region>> = vec![$($(Field::<Region>::region_mut($field)),*)?];
                        fields.into_iter().flatten().collect()
                    })*
                }
            }

            /// Visits every operand with the rule for its type, in the order of the fields, up to the first error.
            pub(crate) fn try_operands<E>(&self, mut visit: impl FnMut(Value, TypeRule) -> Result<(), E>) -> Result<(), E> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => {
                        $($(for &value in Field::<Region>::values($field) {
                            visit(value, said!($($rule)?; any()))?;
                        })*)?
                        Ok(())
                    })*
                }
            }

            /// How many results the operation has; none if it may have any number.
            pub(crate) fn result_count(&self) -> Option<usize> {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => result_count!($count $($given)?),)*
                }
            }

            /// The rule for the types of all results.
            pub(crate) fn result_rule(&self) -> TypeRule {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => result_rule!($count $($given)?),)*
                }
            }

            /// How uniform the results are if all operands are equal in all lanes.
            pub(crate) fn uniformity_at_best(&self) -> Uniformity {
                match self {
                    $(Self::$variant { .. } => said!($($best)?; Uniformity::ClusterUniform),)*
                }
            }

            /// How uniform the control must be that the operation stands under.
            pub(crate) fn needed_control(&self) -> Uniformity {
                match self {
                    $(Self::$variant { $(0: $one)? $($($field),*)? } => said!($($control)?; Uniformity::Varying),)*
                }
            }
        }
    };
}

operations!(define);

impl Op {
    /// Whether the operation always defines exactly one value, whose type
    /// `Statement::results` gives.
    #[must_use]
    pub fn has_single_result(&self) -> bool {
        !matches!(self, Self::Wait { .. }) && self.result_count() == Some(1)
    }
}

/// Regions may nest this deep.
pub const MAX_DEPTH: usize = 64;

/// Statements that run in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Values that the region is entered with, and their types.
    pub arguments: Vec<(Value, Type)>,
    /// Its statements in order.
    pub statements: Vec<Statement>,
}

/// One operation with the values that it defines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// The values defined, and their types.
    pub results: Vec<(Value, Type)>,
    /// The operation.
    pub op: Op,
}

impl Region {
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
