//! Comparing what a run left with what it must leave.

use std::fmt;

use super::{CaseBuffer, CaseElement, CaseNumber, Expectation};

/// By how much a number may be off.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tolerance {
    /// Times the magnitude of what is expected.
    pub relative: f64,
    /// Added to it.
    pub absolute: f64,
}

/// A buffer that does not hold what it must.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The buffer's name.
    pub buffer: String,
    /// How many elements it has.
    pub elements: usize,
    /// How many of them are wrong.
    pub wrong: usize,
    /// The first of them.
    pub first: ElementMismatch,
    /// That which is farthest off; a NaN where there should be none, or the other way round, is farthest.
    pub worst: ElementMismatch,
}

/// A wrong element.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementMismatch {
    /// Where it is, along each axis.
    pub index: Vec<u64>,
    /// What it is.
    pub got: CaseNumber,
    /// What it must be.
    pub expected: CaseNumber,
    /// By how much it may be off.
    pub allowed: f64,
}

impl Tolerance {
    /// Whether a number may stand for another: `|got - expected| <= absolute + relative * |expected|`, or both are equal, or
    /// both are NaN.
    #[must_use]
    pub fn allows(&self, got: CaseNumber, expected: CaseNumber) -> bool {
        match (got, expected) {
            (CaseNumber::Integer(got), CaseNumber::Integer(expected)) => {
                got == expected || got.abs_diff(expected) as f64 <= self.allowed(expected as f64)
            }
            (CaseNumber::Float(got), CaseNumber::Float(expected)) => {
                got == expected
                    || got.is_nan() && expected.is_nan()
                    || got.is_finite() && expected.is_finite() && (got - expected).abs() <= self.allowed(expected)
            }
            _ => false,
        }
    }

    fn allowed(&self, expected: f64) -> f64 {
        self.absolute + self.relative * expected.abs()
    }
}

impl CaseBuffer {
    /// What is wrong with the bytes that a run left; nothing where all is right.
    #[must_use]
    pub fn difference(&self, left: &[u8]) -> Option<Difference> {
        match &self.after {
            Expectation::Anything => None,
            Expectation::Unchanged if left == self.before => None,
            Expectation::Expected { bytes, .. } if left == bytes => None,
            // Bytes decide, so that a NaN with other bits is a change too.
            Expectation::Unchanged => self.compare(left, &self.before, |got, expected, _| got == expected, 0.0),
            Expectation::Expected { bytes, tolerance } => {
                let allows = |_: &[u8], _: &[u8], [got, expected]: [CaseNumber; 2]| tolerance.allows(got, expected);
                let mut difference = self.compare(left, bytes, allows, 0.0)?;
                for mismatch in [&mut difference.first, &mut difference.worst] {
                    mismatch.allowed = tolerance.allowed(magnitude(mismatch.expected));
                }
                Some(difference)
            }
            Expectation::Masked { bytes, mask } => {
                let kept = |bytes: &[u8]| bytes.iter().zip(mask).map(|(byte, mask)| byte & mask).collect::<Vec<_>>();
                self.compare(&kept(left), &kept(bytes), |got, expected, _| got == expected, 0.0)
            }
            Expectation::Near { values, rests, allowed } => self.compare_near(left, [values, rests], allowed),
        }
    }

    /// What is wrong where each number has a tolerance of its own.
    fn compare_near(&self, left: &[u8], [values, rests]: [&[f64]; 2], allowed: &[f64]) -> Option<Difference> {
        let (mut wrong, mut first, mut worst) = (0, None, None::<(f64, ElementMismatch)>);
        let rests = rests.iter().copied().chain(std::iter::repeat(0.0));
        for (place, ((got, rest), (&expected, &allowed))) in
            left.chunks(self.element.bytes()).zip(rests).zip(values.iter().zip(allowed)).enumerate()
        {
            let got = self.element.value(got);
            let values = [got, CaseNumber::Float(expected)];
            if is_near(as_float(got), expected, rest, allowed) {
                continue;
            }
            wrong += 1;
            let mismatch =
                ElementMismatch { index: index(place as u64, &self.shape), got, expected: values[1], allowed };
            first.get_or_insert_with(|| mismatch.clone());
            let off = distance([as_float(got), values[1]]);
            if worst.as_ref().is_none_or(|(most, _)| off > *most) {
                worst = Some((off, mismatch));
            }
        }
        let (_, worst) = worst?;
        Some(Difference { buffer: self.name.clone(), elements: values.len(), wrong, first: first?, worst })
    }

    fn compare(
        &self,
        left: &[u8],
        expected: &[u8],
        right: impl Fn(&[u8], &[u8], [CaseNumber; 2]) -> bool,
        allowed: f64,
    ) -> Option<Difference> {
        let Self { element, .. } = self;
        let size = element.bytes();
        let (mut wrong, mut first, mut worst) = (0, None, (0, -1.0));
        for (place, (got, expected)) in left.chunks(size).zip(expected.chunks(size)).enumerate() {
            let values = [element.value(got), element.value(expected)];
            if !right(got, expected, values) {
                wrong += 1;
                first.get_or_insert(place);
                let off = distance(values);
                worst = if off > worst.1 { (place, off) } else { worst };
            }
        }
        let mismatch = |place: usize| ElementMismatch {
            index: index(place as u64, &self.shape),
            got: at(*element, left, place),
            expected: at(*element, expected, place),
            allowed,
        };
        let elements = expected.len() / size;
        Some(Difference {
            buffer: self.name.clone(),
            elements,
            wrong,
            first: mismatch(first?),
            worst: mismatch(worst.0),
        })
    }
}

/// Whether a number is within `allowed` of `expected + rest`, which no single number of binary64 need be.
fn is_near(got: CaseNumber, expected: f64, rest: f64, allowed: f64) -> bool {
    match got {
        CaseNumber::Float(got) if got.is_finite() && rest != 0.0 => ((got - expected) - rest).abs() <= allowed,
        got => Tolerance { relative: 0.0, absolute: allowed }.allows(got, CaseNumber::Float(expected)),
    }
}

fn at(element: CaseElement, bytes: &[u8], place: usize) -> CaseNumber {
    let size = element.bytes();
    element.value(&bytes[place * size..(place + 1) * size])
}

fn as_float(value: CaseNumber) -> CaseNumber {
    match value {
        CaseNumber::Integer(value) => CaseNumber::Float(value as f64),
        value => value,
    }
}

fn magnitude(value: CaseNumber) -> f64 {
    match value {
        CaseNumber::Integer(value) => value as f64,
        CaseNumber::Float(value) => value.abs(),
    }
}

/// How far apart two numbers are; infinite where one is no finite number.
fn distance(values: [CaseNumber; 2]) -> f64 {
    match values {
        [CaseNumber::Integer(got), CaseNumber::Integer(expected)] => got.abs_diff(expected) as f64,
        [CaseNumber::Float(got), CaseNumber::Float(expected)] => {
            let off = (got - expected).abs();
            if off.is_nan() { f64::INFINITY } else { off }
        }
        _ => f64::INFINITY,
    }
}

/// The index along each axis of the element at a place, row-major.
fn index(place: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = place;
    let mut index: Vec<_> = shape
        .iter()
        .rev()
        .map(|&size| {
            let along = rest % size.max(1);
            rest /= size.max(1);
            along
        })
        .collect();
    index.reverse();
    index
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { buffer, elements, wrong, first, worst } = self;
        write!(f, "buffer `{buffer}`: {wrong} of {elements} elements are wrong; the first {first}")?;
        if worst.index == first.index { Ok(()) } else { write!(f, "; the worst {worst}") }
    }
}

impl fmt::Display for ElementMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, got, expected, allowed } = self;
        write!(f, "at {index:?} is {got}, expected {expected}")?;
        if *allowed > 0.0 { write!(f, " within {allowed:e}") } else { Ok(()) }
    }
}
