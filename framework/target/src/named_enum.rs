//! A macro for plain enums whose variants have names in text and in serialized bytes.

/// Defines a plain enum from a list of variants with names, with `ALL`, `name`, `from_name` and the serde form.
///
/// `ALL` is a slice; with `as array` after the enum's name, an array.
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
            /// All variants in order of declaration.
            pub const ALL: $all = $($borrow)? [$(Self::$variant),*];

            /// The name in text and in serialized bytes.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }

            /// The variant of a name; `None` if none has it.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}
