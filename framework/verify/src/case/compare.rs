//! Comparison of the contents that a run leaves in the buffers with the expected contents.

use std::fmt;

use super::{CaseBuffer, CaseElement, CaseElementValue, ExpectedContents};

/// The tolerated error of a floating-point result: the sum of a part relative to the expected value and an absolute
/// part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tolerance {
    /// Tolerated error relative to the magnitude of the expected value.
    pub relative: f64,
    /// Tolerated absolute error.
    pub absolute: f64,
}

/// The differences between a buffer and its expected contents.
#[derive(Debug, Clone, PartialEq)]
pub struct BufferMismatchSummary {
    /// Name of the buffer.
    pub buffer: String,
    /// Number of elements of the buffer.
    pub elements: usize,
    /// Number of wrong elements.
    pub wrong: usize,
    /// The first wrong element.
    pub first: ElementMismatch,
    /// The element with the greatest error; an unexpected or a missing NaN counts as the greatest error.
    pub worst: ElementMismatch,
}

/// An element of a buffer that is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementMismatch {
    /// Index of the element along each axis.
    pub index: Vec<u64>,
    /// Value that the run left in the element.
    pub got: CaseElementValue,
    /// Expected value of the element.
    pub expected: CaseElementValue,
    /// Tolerated absolute error of the element.
    pub allowed: f64,
}

impl Tolerance {
    /// Whether the value `got` is accepted: `|got - expected| <= absolute + relative * |expected|`, or both are equal,
    /// or both are NaN.
    #[must_use]
    pub fn allows(&self, got: CaseElementValue, expected: CaseElementValue) -> bool {
        match (got, expected) {
            (CaseElementValue::Integer(got), CaseElementValue::Integer(expected)) => {
                got == expected || got.abs_diff(expected) as f64 <= self.allowed(expected as f64)
            }
            (CaseElementValue::Float(got), CaseElementValue::Float(expected)) => {
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
    /// Compares the bytes `left`, which a run left in the buffer, with the expected contents; `None` if they are as
    /// expected.
    #[must_use]
    pub fn compare_contents(&self, left: &[u8]) -> Option<BufferMismatchSummary> {
        match &self.after {
            ExpectedContents::Anything => None,
            ExpectedContents::Unchanged if left == self.before => None,
            ExpectedContents::Expected { bytes, .. } if left == bytes => None,
            // The bytes are compared, so a NaN with other bits counts as a difference.
            ExpectedContents::Unchanged => self.compare(left, &self.before, |got, expected, _| got == expected, 0.0),
            ExpectedContents::Expected { bytes, tolerance } => {
                let allows =
                    |_: &[u8], _: &[u8], [got, expected]: [CaseElementValue; 2]| tolerance.allows(got, expected);
                let mut difference = self.compare(left, bytes, allows, 0.0)?;
                for mismatch in [&mut difference.first, &mut difference.worst] {
                    mismatch.allowed = tolerance.allowed(magnitude(mismatch.expected));
                }
                Some(difference)
            }
            ExpectedContents::Masked { bytes, mask } => {
                let kept = |bytes: &[u8]| bytes.iter().zip(mask).map(|(byte, mask)| byte & mask).collect::<Vec<_>>();
                self.compare(&kept(left), &kept(bytes), |got, expected, _| got == expected, 0.0)
            }
            ExpectedContents::Near { values, rests, allowed } => self.compare_near(left, [values, rests], allowed),
        }
    }

    /// Compares the bytes `left` with the expected values `values` plus their low parts `rests`; `allowed` has the
    /// tolerated absolute error of each element. `None` if all elements are within it.
    fn compare_near(
        &self,
        left: &[u8],
        [values, rests]: [&[f64]; 2],
        allowed: &[f64],
    ) -> Option<BufferMismatchSummary> {
        let (mut wrong, mut first, mut worst) = (0, None, None::<(f64, ElementMismatch)>);
        let rests = rests.iter().copied().chain(std::iter::repeat(0.0));
        for (element_index, ((got, rest), (&expected, &allowed))) in
            left.chunks(self.element.bytes()).zip(rests).zip(values.iter().zip(allowed)).enumerate()
        {
            let got = self.element.decode(got);
            let values = [got, CaseElementValue::Float(expected)];
            if is_near(as_float(got), expected, rest, allowed) {
                continue;
            }
            wrong += 1;
            let mismatch =
                ElementMismatch { index: index(element_index as u64, &self.shape), got, expected: values[1], allowed };
            first.get_or_insert_with(|| mismatch.clone());
            let off = distance([as_float(got), values[1]]);
            if worst.as_ref().is_none_or(|(most, _)| off > *most) {
                worst = Some((off, mismatch));
            }
        }
        let (_, worst) = worst?;
        Some(BufferMismatchSummary { buffer: self.name.clone(), elements: values.len(), wrong, first: first?, worst })
    }

    fn compare(
        &self,
        left: &[u8],
        expected: &[u8],
        right: impl Fn(&[u8], &[u8], [CaseElementValue; 2]) -> bool,
        allowed: f64,
    ) -> Option<BufferMismatchSummary> {
        let Self { element, .. } = self;
        let size = element.bytes();
        let (mut wrong, mut first, mut worst) = (0, None, (0, -1.0));
        for (element_index, (got, expected)) in left.chunks(size).zip(expected.chunks(size)).enumerate() {
            let values = [element.decode(got), element.decode(expected)];
            if !right(got, expected, values) {
                wrong += 1;
                first.get_or_insert(element_index);
                let off = distance(values);
                worst = if off > worst.1 { (element_index, off) } else { worst };
            }
        }
        let mismatch = |element_index: usize| ElementMismatch {
            index: index(element_index as u64, &self.shape),
            got: at(*element, left, element_index),
            expected: at(*element, expected, element_index),
            allowed,
        };
        let elements = expected.len() / size;
        Some(BufferMismatchSummary {
            buffer: self.name.clone(),
            elements,
            wrong,
            first: mismatch(first?),
            worst: mismatch(worst.0),
        })
    }
}

/// Whether `got` differs by at most `allowed` from the exact sum `expected + rest`, which need not be a binary64
/// number.
fn is_near(got: CaseElementValue, expected: f64, rest: f64, allowed: f64) -> bool {
    match got {
        CaseElementValue::Float(got) if got.is_finite() && rest != 0.0 => ((got - expected) - rest).abs() <= allowed,
        got => Tolerance { relative: 0.0, absolute: allowed }.allows(got, CaseElementValue::Float(expected)),
    }
}

fn at(element: CaseElement, bytes: &[u8], element_index: usize) -> CaseElementValue {
    let size = element.bytes();
    element.decode(&bytes[element_index * size..(element_index + 1) * size])
}

fn as_float(value: CaseElementValue) -> CaseElementValue {
    match value {
        CaseElementValue::Integer(value) => CaseElementValue::Float(value as f64),
        value => value,
    }
}

fn magnitude(value: CaseElementValue) -> f64 {
    match value {
        CaseElementValue::Integer(value) => value as f64,
        CaseElementValue::Float(value) => value.abs(),
    }
}

/// Returns the absolute difference of two values; infinity if one of them is not finite.
fn distance(values: [CaseElementValue; 2]) -> f64 {
    match values {
        [CaseElementValue::Integer(got), CaseElementValue::Integer(expected)] => got.abs_diff(expected) as f64,
        [CaseElementValue::Float(got), CaseElementValue::Float(expected)] => {
            let off = (got - expected).abs();
            if off.is_nan() { f64::INFINITY } else { off }
        }
        _ => f64::INFINITY,
    }
}

/// Converts the row-major index of an element of a tensor of this shape to its index along each axis.
fn index(element_index: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = element_index;
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

impl fmt::Display for BufferMismatchSummary {
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
