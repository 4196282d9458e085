//! Readers of a family's parameters, by name, with errors that name the parameter.
//!
//! Values are borrowed from the spec or stored inline, so that a family builds its layout without heap allocation for
//! usual ranks.

use std::cell::{Cell, RefCell};

use smallvec::SmallVec;

use super::nearest::{find_similar_name, similar_name_hint};
use super::notation::case::to_snake_case;
use super::{DimBases, FamilyError, FamilyParameterValue, FamilySpec};

/// A list of numbers, mostly one for each axis; four are held without heap allocation.
pub type IntVec = SmallVec<[u64; 4]>;

/// A list of axes; four are held without heap allocation.
pub type AxisNumbers = SmallVec<[usize; 4]>;

/// A reader of a spec's parameters, each by its name or an alias; in the end it reports the parameters that were not
/// read.
#[derive(Debug)]
pub struct ParameterReader<'a> {
    spec: &'a FamilySpec,
    given: SmallVec<[(&'a str, &'a FamilyParameterValue); 10]>,
    /// Mask of the parameters in `given` that have been read. No family has 64 parameters: if a spec has more, one of
    /// the first 64 stays unread and is reported.
    read: Cell<u64>,
    /// The names of all requested parameters, for messages about unread ones.
    requested: RefCell<SmallVec<[&'static [&'static str]; 12]>>,
}

impl FamilySpec {
    /// A reader of this spec's parameters.
    #[must_use]
    pub fn parameter_reader(&self) -> ParameterReader<'_> {
        ParameterReader::of(self)
    }
}

impl<'a> ParameterReader<'a> {
    #[inline]
    fn of(spec: &'a FamilySpec) -> Self {
        let mut given = SmallVec::new();
        for (name, value) in &spec.attributes {
            given.push((name.as_str(), value));
        }
        Self { spec, given, read: Cell::new(0), requested: RefCell::default() }
    }

    /// Returns the raw value of a parameter, `None` if it is not given; `names` are its name and aliases, the canonical
    /// one first.
    #[must_use]
    pub fn optional(&self, names: &'static [&'static str]) -> Option<&'a FamilyParameterValue> {
        self.requested.borrow_mut().push(names);
        let mut found = None;
        for &name in names {
            if let Some(index) = self.given.iter().position(|&(given, _)| given == name) {
                self.read.set(self.read.get() | 1u64.checked_shl(index as u32).unwrap_or(0));
                found = found.or(Some(self.given[index].1));
            }
        }
        found
    }

    /// Names of the parameters that were given and not read.
    fn unread(&self) -> impl Iterator<Item = &'a str> + '_ {
        let is_read = |index: usize| self.read.get().checked_shr(index as u32).unwrap_or(0) & 1 == 1;
        self.given.iter().enumerate().filter(move |&(index, _)| !is_read(index)).map(|(_, &(name, _))| name)
    }

    /// The value of a required parameter.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is absent.
    pub fn required(&self, names: &'static [&'static str]) -> Result<&'a FamilyParameterValue, FamilyError> {
        self.optional(names).ok_or_else(|| match self.misspelt(names) {
            Some(given) if names.contains(&to_snake_case(given).as_str()) => {
                self.invalid_value_error(names[0], &format!("is missing: `{given}` must be written `{}`", names[0]))
            }
            Some(given) => {
                self.invalid_value_error(names[0], &format!("is missing; `{given}` was given: is it misspelt?"))
            }
            None => self.invalid_value_error(names[0], "is missing"),
        })
    }

    /// Finds an unread parameter that is probably a misspelling: its name is close to one of `names`, or is one of them
    /// in `camelCase`. `None` if there is none.
    fn misspelt(&self, names: &'static [&'static str]) -> Option<&'a str> {
        self.unread().find(|given| find_similar_name(&to_snake_case(given), names.iter().copied()).is_some())
    }

    /// Reads a required parameter that is a non-negative integer.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is absent, or not a non-negative integer.
    pub fn number(&self, names: &'static [&'static str]) -> Result<u64, FamilyError> {
        self.as_number(names[0], self.required(names)?)
    }

    /// Reads a parameter that is a non-negative integer; `default` if it is absent.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is not a non-negative integer.
    pub fn number_or(&self, names: &'static [&'static str], default: u64) -> Result<u64, FamilyError> {
        self.optional(names).map_or(Ok(default), |value| self.as_number(names[0], value))
    }

    /// Reads a parameter that is true or false; `default` if it is absent.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is neither true nor false.
    pub fn flag_or(&self, names: &'static [&'static str], default: bool) -> Result<bool, FamilyError> {
        match self.optional(names) {
            None => Ok(default),
            Some(FamilyParameterValue::Bool(value)) => Ok(*value),
            Some(_) => Err(self.invalid_value_error(names[0], "must be true or false")),
        }
    }

    /// Reads a required parameter that is a list of non-negative integers.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is absent, or not such a list.
    pub fn numbers(&self, names: &'static [&'static str]) -> Result<IntVec, FamilyError> {
        self.as_numbers(names[0], self.required(names)?)
    }

    /// Reads a required parameter that is a power of two.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is absent, or not a power of two.
    pub fn power_of_two(&self, names: &'static [&'static str]) -> Result<u64, FamilyError> {
        self.as_power(names[0], self.number(names)?)
    }

    /// Reads a required parameter that is a list of `count` powers of two.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is absent, or not such a list.
    pub fn powers_of_two(&self, names: &'static [&'static str], count: usize) -> Result<IntVec, FamilyError> {
        let value = self.required(names)?;
        if let FamilyParameterValue::List(items) = value
            && items.len() == count
        {
            let mut powers = IntVec::new();
            for item in items {
                match item {
                    FamilyParameterValue::Int(number) if *number > 0 && number.count_ones() == 1 => {
                        powers.push(*number as u64)
                    }
                    _ => return Err(self.no_power(names[0], item)),
                }
            }
            return Ok(powers);
        }
        let list = self.as_numbers(names[0], value)?;
        Err(self.invalid_value_error(names[0], &format!("has {} entries, expected {count}", list.len())))
    }

    #[cold]
    fn no_power(&self, name: &str, item: &FamilyParameterValue) -> FamilyError {
        match self.as_number(name, item).and_then(|number| self.as_power(name, number)) {
            Err(error) => error,
            Ok(number) => self.invalid_value_error(name, &format!("{number} is out of range")),
        }
    }

    /// Reads a required parameter that is a list naming each of the axes 0 to `rank` - 1 once.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is absent, or not such a list.
    pub fn axis_order(&self, names: &'static [&'static str], rank: usize) -> Result<AxisNumbers, FamilyError> {
        let list = self.numbers(names)?;
        let mut axes = AxisNumbers::new();
        let mut seen = 0u64;
        for &number in &list {
            let bit = 1u64.checked_shl(number.min(64) as u32).unwrap_or(0);
            if number < rank as u64 && bit & !seen != 0 {
                seen |= bit;
                axes.push(number as usize);
            }
        }
        if list.len() == rank && axes.len() == rank {
            return Ok(axes);
        }
        Err(self.invalid_value_error(names[0], &format!("{list:?} must list each of the {rank} axes once, from 0 on")))
    }

    /// Reads a required parameter that is a list of bases: lists of non-negative integers.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is absent, or not such a list.
    pub fn bases(&self, names: &'static [&'static str]) -> Result<DimBases, FamilyError> {
        Ok(self.given_bases(names[0], self.required(names)?)?.to_vec())
    }

    /// Reads a parameter that is a list of bases (lists of non-negative integers); empty if it is absent.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is not such a list.
    pub fn bases_or_none(&self, names: &'static [&'static str]) -> Result<DimBases, FamilyError> {
        Ok(self.borrow_bases(names)?.to_vec())
    }

    /// As [`ParameterReader::bases_or_none`], without a copy of the lists.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if it is not such a list.
    pub fn borrow_bases(&self, names: &'static [&'static str]) -> Result<BasesParameter<'a>, FamilyError> {
        self.optional(names).map_or(Ok(BasesParameter::default()), |value| self.given_bases(names[0], value))
    }

    /// The parent layout of the spec.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if the spec has no parent.
    pub fn parent(&self) -> Result<&'a FamilySpec, FamilyError> {
        self.spec.parent.as_deref().ok_or_else(|| self.invalid_value_error("parent", "is missing"))
    }

    /// Checks that every parameter that was given has been read.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] that names the first parameter that has not been read.
    pub fn check_all_read(&self) -> Result<(), FamilyError> {
        let Some(unread) = self.unread().next() else { return Ok(()) };
        let written = to_snake_case(unread);
        let requested = self.requested.borrow();
        if let Some(names) = requested.iter().find(|names| written != unread && names.contains(&written.as_str())) {
            return Err(self.invalid_value_error(unread, &format!("must be written `{}`", names[0])));
        }
        drop(requested);
        let near = similar_name_hint(&self.requested.borrow().concat(), &to_snake_case(unread));
        Err(self.invalid_value_error(unread, &format!("is not a parameter of this family{near}")))
    }

    /// The error for a parameter with a wrong value.
    #[cold]
    #[must_use]
    pub fn invalid_value_error(&self, parameter: &str, message: &str) -> FamilyError {
        FamilyError::Parameter {
            family: self.spec.name.clone(),
            parameter: parameter.to_owned(),
            message: message.to_owned(),
        }
    }

    fn as_number(&self, name: &str, value: &FamilyParameterValue) -> Result<u64, FamilyError> {
        match value {
            FamilyParameterValue::Int(number) if *number >= 0 => Ok(*number as u64),
            FamilyParameterValue::Int(number) => Err(self.invalid_value_error(name, &format!("{number} is negative"))),
            _ => Err(self.invalid_value_error(name, "must be an integer")),
        }
    }

    fn as_power(&self, name: &str, number: u64) -> Result<u64, FamilyError> {
        if number.is_power_of_two() {
            return Ok(number);
        }
        Err(self.invalid_value_error(name, &format!("{number} is not a power of two")))
    }

    fn as_numbers(&self, name: &str, value: &FamilyParameterValue) -> Result<IntVec, FamilyError> {
        match value {
            FamilyParameterValue::List(items) => {
                let mut numbers = IntVec::new();
                for item in items {
                    numbers.push(self.as_number(name, item)?);
                }
                Ok(numbers)
            }
            _ => Err(self.invalid_value_error(name, "must be a list of integers")),
        }
    }

    fn given_bases(&self, name: &str, value: &'a FamilyParameterValue) -> Result<BasesParameter<'a>, FamilyError> {
        let FamilyParameterValue::List(lists) = value else {
            return Err(self.invalid_value_error(name, "must be a list of lists of integers"));
        };
        for list in lists {
            let FamilyParameterValue::List(items) = list else {
                return Err(self.invalid_value_error(name, "must be a list of integers"));
            };
            for item in items {
                self.as_number(name, item)?;
            }
        }
        Ok(BasesParameter { lists })
    }
}

/// The coordinates of one basis of [`BasesParameter`].
#[derive(Debug, Clone)]
pub struct BasisCoordinates<'a>(std::slice::Iter<'a, FamilyParameterValue>);

impl Iterator for BasisCoordinates<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        // `listed_bases` has checked that every item is a non-negative integer.
        self.0.next().map(|item| if let FamilyParameterValue::Int(number) = item { number.unsigned_abs() } else { 0 })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for BasisCoordinates<'_> {}

/// The bases that a spec lists, checked to be lists of non-negative integers.
#[derive(Debug, Clone, Copy, Default)]
pub struct BasesParameter<'a> {
    lists: &'a [FamilyParameterValue],
}

impl<'a> BasesParameter<'a> {
    /// Whether there is no basis.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.lists.is_empty()
    }

    /// The coordinates of each basis.
    pub fn iter(self) -> impl ExactSizeIterator<Item = BasisCoordinates<'a>> + Clone + 'a {
        self.lists.iter().map(|list| {
            BasisCoordinates(if let FamilyParameterValue::List(items) = list { items.iter() } else { [].iter() })
        })
    }

    /// The bases as owned lists.
    #[must_use]
    pub fn to_vec(self) -> DimBases {
        self.iter().map(Iterator::collect).collect()
    }
}
