//! A macro for plain enums whose variants have names in text and on the wire.

/// Defines a plain enum, each variant beside its name: `ALL`, `name`, `named` and serde's form come from the one list.
///
/// `ALL` is a slice; with `as array` behind the enum's name, an array.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        pub enum $type:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?
        }
    ) => {
        $crate::named_enum! { @define $type [&'static [Self]] [&] [$(#[$meta])*] $($(#[$doc])* $variant = $name),* }
    };
    (
        $(#[$meta:meta])*
        pub enum $type:ident as array {
            $($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?
        }
    ) => {
        $crate::named_enum! {
            @define $type [[Self; [$($name),*].len()]] [] [$(#[$meta])*] $($(#[$doc])* $variant = $name),*
        }
    };
    (
        @define $type:ident [$all:ty] [$($borrow:tt)?]
        [$(#[$meta:meta])*] $($(#[$doc:meta])* $variant:ident = $name:literal),*
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl $type {
            /// All there are, in the order of their declaration.
            pub const ALL: $all = $($borrow)? [$(Self::$variant),*];

            /// The name used in text and on the wire.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }

            /// The one of a name; `None` if there is none.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}
