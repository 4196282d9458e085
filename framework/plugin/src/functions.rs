//! Non-null function pointers, read from a C table whose function pointers may be null.

/// Declares a struct of the function pointers that a table must have, with a constructor that reads them from the
/// table.
macro_rules! functions {
    ($name:ident of $table:ty: $($entry:ident: $function:ty),+ $(,)?) => {
        /// The required functions of a table, checked to be non-null.
        pub(crate) struct $name { $(pub(crate) $entry: $function,)+ }

        impl $name {
            pub(crate) fn of(table: &$table) -> Result<Self, String> {
                Ok(Self {
                    $($entry: table.$entry.ok_or_else(|| format!("slot `{}` is null", stringify!($entry)))?,)+
                })
            }
        }
    };
}

pub(super) use functions;
