//! Names of the dims of a layout: small, `Copy`, and created at run time.

use std::fmt;
use std::sync::RwLock;

/// The name of an input or output dim; two names compare as integers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim(u16);

const WELL_KNOWN: [&str; 6] = ["register", "lane", "warp", "block", "offset", "row"];
const TENSOR_BASE: u16 = 16;
const TENSOR_AXES: u16 = 48;
const RUN_TIME_BASE: u16 = TENSOR_BASE + TENSOR_AXES;

/// Names created at run time, in order of creation; they are never freed.
static RUN_TIME: RwLock<Vec<&'static str>> = RwLock::new(Vec::new());

impl Dim {
    /// Index of an element within one lane's registers.
    pub const REGISTER: Self = Self(0);
    /// Index of a lane within its warp.
    pub const LANE: Self = Self(1);
    /// Index of a warp within its block.
    pub const WARP: Self = Self(2);
    /// Index of a block within its cluster.
    pub const BLOCK: Self = Self(3);
    /// Offset into a memory, in elements.
    pub const OFFSET: Self = Self(4);
    /// Row of tensor memory.
    pub const ROW: Self = Self(5);
    /// Column of tensor memory.
    pub const COL: Self = Self(6);

    /// Returns the number by which this process represents the name.
    #[inline]
    pub(super) fn number(self) -> u16 {
        self.0
    }

    /// Returns the dim that [`Dim::number`] represents by `number`.
    #[inline]
    pub(super) fn from_number(number: u16) -> Self {
        Self(number)
    }

    /// Returns the dim of axis number `axis` of a tensor: `dim0`, `dim1`, ...
    ///
    /// # Panics
    /// If `axis` is 48 or more: such a tensor has more than 2^48 elements, or axes of size one only.
    #[inline]
    #[must_use]
    pub fn tensor(axis: usize) -> Self {
        assert!(axis < usize::from(TENSOR_AXES), "a tensor has at most {TENSOR_AXES} axes");
        Self(TENSOR_BASE + axis as u16)
    }

    /// The axis number, if this dim is an axis of a tensor (`dim0`, `dim1`, ...); otherwise `None`.
    #[inline]
    #[must_use]
    pub fn as_tensor_axis(self) -> Option<usize> {
        (TENSOR_BASE..RUN_TIME_BASE).contains(&self.0).then(|| usize::from(self.0 - TENSOR_BASE))
    }

    /// Finds the dim of this name, or creates it.
    ///
    /// Names are never freed, so a program should create few: after 65,000 different ones all further names are the dim
    /// `overflow`.
    #[must_use]
    pub fn named(name: &str) -> Self {
        if let Some(known) = Self::well_known(name) {
            return known;
        }
        let find = |names: &[&str]| names.iter().position(|n| *n == name);
        let run_time_dim = |index: usize| Self(RUN_TIME_BASE + index as u16);
        if let Some(index) = find(&RUN_TIME.read().unwrap_or_else(|poison| poison.into_inner())) {
            return run_time_dim(index);
        }
        let mut names = RUN_TIME.write().unwrap_or_else(|poison| poison.into_inner());
        if let Some(index) = find(&names) {
            return run_time_dim(index);
        }
        let room = usize::from(u16::MAX - RUN_TIME_BASE);
        if names.len() >= room {
            return run_time_dim(room - 1);
        }
        let kept = if names.len() + 1 == room { "overflow" } else { name };
        names.push(Box::leak(kept.to_owned().into_boxed_str()));
        run_time_dim(names.len() - 1)
    }

    fn well_known(name: &str) -> Option<Self> {
        if let Some(index) = WELL_KNOWN.iter().position(|n| *n == name) {
            return Some(Self(index as u16));
        }
        if name == "col" {
            return Some(Self::COL);
        }
        let digits = name.strip_prefix("dim")?;
        let axis: u16 = digits.parse().ok()?;
        (axis < TENSOR_AXES && axis.to_string() == digits).then(|| Self(TENSOR_BASE + axis))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(axis) = self.as_tensor_axis() {
            return write!(f, "dim{axis}");
        }
        if let Some(name) = WELL_KNOWN.get(usize::from(self.0)) {
            return f.write_str(name);
        }
        if *self == Self::COL {
            return f.write_str("col");
        }
        let names = RUN_TIME.read().unwrap_or_else(|poison| poison.into_inner());
        let name = self.0.checked_sub(RUN_TIME_BASE).and_then(|index| names.get(usize::from(index)));
        f.write_str(name.copied().unwrap_or("?"))
    }
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<&str> for Dim {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}
