//! Integers and addresses in shared memory as sums, so that the difference of two of them can be found.

use std::collections::BTreeMap;

use tilewright_kernel::Value;

/// Max number of possible values of the difference of two sums; if it may have more, it counts as unknown.
const MAX_DIFFERENCES: usize = 64;
/// Max number of atoms (terms that are not constants) of a sum; a longer sum counts as an unknown value.
const MAX_ATOMS: usize = 8;

/// A term of a sum that is not a constant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// The address of a buffer, by its number.
    Buffer(u32),
    /// A kernel value that is no sum.
    Value(Value),
    /// The number of completed iterations of a loop; the loop is named by the number of its statement.
    Iteration(usize),
    /// The number of iterations that the last execution of a loop took.
    IterationCount(usize),
    /// The remainder of a sum by a positive divisor, from zero to the divisor minus one.
    Remainder(Box<IndexForm>, i64),
    /// A sum with the bits in the mask flipped.
    Flipped(Box<IndexForm>, i64),
}

/// A sum of atoms, each times a coefficient that is not zero, and a constant.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IndexForm {
    atoms: BTreeMap<Atom, i64>,
    constant: i64,
}

impl From<Atom> for IndexForm {
    fn from(atom: Atom) -> Self {
        Self { atoms: BTreeMap::from([(atom, 1)]), constant: 0 }
    }
}

impl IndexForm {
    pub(super) fn constant(constant: i64) -> Self {
        Self { atoms: BTreeMap::new(), constant }
    }

    /// Returns the sum as a number; `None` if it has atoms.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.atoms.is_empty().then_some(self.constant)
    }

    /// Whether the sum has more than [`MAX_ATOMS`] atoms (terms that are not constants), so that it counts as an
    /// unknown value.
    pub(super) fn is_long(&self) -> bool {
        self.atoms.len() > MAX_ATOMS
    }

    /// Whether the sum fits 31 bits as long as loops execute at most a million iterations.
    pub(super) fn is_small(&self) -> bool {
        const COEFFICIENT: u64 = 1 << 10;
        self.atoms.values().all(|coefficient| coefficient.unsigned_abs() <= COEFFICIENT)
            && self.constant.unsigned_abs() <= COEFFICIENT << 20
    }

    /// Returns the mask of the flipped bits if this sum is `other` with some bits flipped; otherwise `None`.
    pub(super) fn flipped_bits(&self, other: &Self) -> Option<i64> {
        match self.atoms.first_key_value()? {
            (Atom::Flipped(inner, mask), 1) if self.atoms.len() == 1 && self.constant == 0 && **inner == *other => {
                Some(*mask)
            }
            _ => None,
        }
    }

    pub(super) fn plus(mut self, other: &Self) -> Self {
        self.add(other, 1);
        self
    }

    pub(super) fn minus(mut self, other: &Self) -> Self {
        self.add(other, -1);
        self
    }

    fn add(&mut self, other: &Self, times: i64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        for (atom, coefficient) in &other.atoms {
            let sum = self.atoms.entry(atom.clone()).or_default();
            *sum = sum.wrapping_add(coefficient.wrapping_mul(times));
        }
        self.atoms.retain(|_, coefficient| *coefficient != 0);
    }

    pub(super) fn times(&self, coefficient: i64) -> Self {
        let mut product = Self::default();
        product.add(self, coefficient);
        product
    }

    /// Returns the remainder of the sum by a positive divisor. Inner remainders by a multiple of this divisor are
    /// dropped, because they do not change the result.
    pub(super) fn remainder(&self, divisor: i64) -> Self {
        let mut reduced = Self::constant(self.constant);
        for (atom, &coefficient) in &self.atoms {
            match atom {
                Atom::Remainder(inner, by) if by % divisor == 0 => reduced.add(inner, coefficient),
                _ => reduced.add(&atom.clone().into(), coefficient),
            }
        }
        reduced.constant = reduced.constant.rem_euclid(divisor);
        reduced.atoms.values_mut().for_each(|coefficient| *coefficient = coefficient.rem_euclid(divisor));
        reduced.atoms.retain(|_, coefficient| *coefficient != 0);
        match reduced.as_constant() {
            Some(_) => reduced,
            None => Atom::Remainder(Box::new(reduced), divisor).into(),
        }
    }

    /// Returns the sum with the bits of `mask` flipped.
    pub(super) fn flipped(&self, mask: i64) -> Self {
        let only = self.atoms.first_key_value().filter(|_| self.atoms.len() == 1);
        match (self.as_constant(), only) {
            (Some(constant), _) => Self::constant(constant ^ mask),
            (_, Some((Atom::Remainder(inner, 2), 1))) if self.constant == 0 && mask == 1 => {
                inner.as_ref().clone().plus(&Self::constant(1)).remainder(2)
            }
            (_, Some((Atom::Flipped(inner, bits), 1))) if self.constant == 0 => inner.flipped(bits ^ mask),
            _ if mask == 0 => self.clone(),
            _ => Atom::Flipped(Box::new(self.clone()), mask).into(),
        }
    }

    /// Returns the lower and the upper bound of the sum; `None` for no bound. Values outside of remainders are
    /// unbounded, and iteration numbers are not negative.
    pub(super) fn range(&self) -> (Option<i64>, Option<i64>) {
        let mut range = (Some(self.constant), Some(self.constant));
        for (atom, &coefficient) in &self.atoms {
            let (least, most) = match atom {
                Atom::Iteration(_) | Atom::IterationCount(_) => (Some(0), None),
                Atom::Remainder(_, divisor) => (Some(0), Some(divisor - 1)),
                Atom::Buffer(_) | Atom::Value(_) | Atom::Flipped(..) => (None, None),
            };
            let (least, most) = if coefficient < 0 { (most, least) } else { (least, most) };
            let add = |bound: Option<i64>, more: Option<i64>| bound?.checked_add(more?.checked_mul(coefficient)?);
            range = (add(range.0, least), add(range.1, most));
        }
        range
    }

    /// Replaces atoms in the sum, also within remainders: those for which `replace` returns a sum. `None` if `replace`
    /// returns an error for an atom.
    pub(super) fn replace(&self, replace: &impl Fn(&Atom) -> Result<Option<Self>, ()>) -> Option<Self> {
        let mut replaced = Self::constant(self.constant);
        for (atom, &coefficient) in &self.atoms {
            let new = match (replace(atom).ok()?, atom) {
                (Some(new), _) => new,
                (None, Atom::Remainder(inner, divisor)) => inner.replace(replace)?.remainder(*divisor),
                (None, Atom::Flipped(inner, mask)) => inner.replace(replace)?.flipped(*mask),
                (None, _) => atom.clone().into(),
            };
            replaced.add(&new, coefficient);
        }
        Some(replaced)
    }

    /// Returns all values that the sum may have; `None` if they are unknown, or more than [`MAX_DIFFERENCES`].
    pub(super) fn values(&self) -> Option<Vec<i64>> {
        let mut rest = self.clone();
        let mut parts: Vec<Vec<i64>> = Vec::new();
        while let Some((atom, coefficient)) = rest.first_flipped() {
            let Atom::Flipped(inner, mask) = &atom else { return None };
            rest.atoms.remove(&atom);
            rest.add(inner, coefficient);
            parts.push(flip_differences(*mask)?.into_iter().map(|by| by.wrapping_mul(coefficient)).collect());
        }
        while let Some((atom, coefficient)) = rest.atoms.pop_first() {
            let Atom::Remainder(inner, divisor) = &atom else { return None };
            // If the operands of two remainders differ by a constant, the remainders differ by that constant, or by the
            // constant less the divisor.
            let partner = rest.atoms.iter().find_map(|(other, &times)| match other {
                Atom::Remainder(subtracted, by) if by == divisor && times == -coefficient => {
                    let apart = inner.as_ref().clone().minus(subtracted).remainder(*divisor).as_constant()?;
                    Some((other.clone(), apart))
                }
                _ => None,
            });
            let values = match partner {
                Some((other, apart)) => {
                    rest.atoms.remove(&other);
                    vec![apart, apart - divisor]
                }
                None if usize::try_from(*divisor).ok()? <= MAX_DIFFERENCES => (0..*divisor).collect(),
                None => return None,
            };
            parts.push(values.into_iter().map(|value| value.wrapping_mul(coefficient)).collect());
        }
        let mut all = vec![rest.constant];
        for values in parts {
            if all.len() * values.len() > MAX_DIFFERENCES {
                return None;
            }
            all = all.iter().flat_map(|&sum| values.iter().map(move |&value| sum.wrapping_add(value))).collect();
        }
        Some(all)
    }

    fn first_flipped(&self) -> Option<(Atom, i64)> {
        let flipped = self.atoms.iter().find(|(atom, _)| matches!(atom, Atom::Flipped(..)));
        flipped.map(|(atom, &coefficient)| (atom.clone(), coefficient))
    }
}

/// Returns all possible values of `(x ^ mask) - x` for integers `x`: each bit of the mask adds or subtracts its weight.
/// `None` for more than four bits.
fn flip_differences(mask: i64) -> Option<Vec<i64>> {
    let bits = (0..i64::BITS).map(|bit| 1i64 << bit).filter(|bit| mask & bit != 0);
    let mut all = vec![0];
    for bit in bits {
        if all.len() > 8 {
            return None;
        }
        all = all.iter().flat_map(|&sum: &i64| [sum.wrapping_add(bit), sum.wrapping_sub(bit)]).collect();
    }
    Some(all)
}
