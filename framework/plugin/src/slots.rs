//! The slots that must be there, as plain functions read from a table of optional ones.

/// Declares them, as a struct made from a table.
macro_rules! slots {
    ($name:ident of $table:ty: $($slot:ident: $function:ty),+ $(,)?) => {
        /// The slots of a checked table.
        pub(crate) struct $name { $(pub(crate) $slot: $function,)+ }

        impl $name {
            pub(crate) fn of(table: &$table) -> Result<Self, String> {
                Ok(Self {
                    $($slot: table.$slot.ok_or_else(|| format!("slot `{}` is null", stringify!($slot)))?,)+
                })
            }
        }
    };
}

pub(super) use slots;
