//! Thread-value layouts as digits along axes, in the order of task mappings.

use super::super::{CuteLayout, CuteLeaf};

/// The index that contains a digit: the thread index or the value index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Thread,
    Value,
}

/// A digit of the thread index (worker) or of the value index (task): it has `size` values, and each next value lies
/// `step` elements further along `axis`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digit {
    pub kind: Kind,
    pub axis: usize,
    pub size: u64,
    pub step: u64,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Thread => "threads",
            Self::Value => "values",
        }
    }
}

/// Splits a thread-value layout over a tile into digits, ordered so that steps grow along every axis and within the
/// thread index and the value index; `Err` with the reason if no such order exists.
pub(super) fn ordered_digits(layout: &CuteLayout, shape: &[u64]) -> Result<Vec<Digit>, String> {
    let modes = layout.modes();
    let mut left: Vec<Vec<Digit>> = Vec::new();
    for (kind, own) in [Kind::Thread, Kind::Value].into_iter().zip(&modes) {
        let digits =
            own.leaf_modes().into_iter().filter(|mode| mode.shape > 1).map(|mode| along_axes(kind, mode, shape));
        left.push(digits.collect::<Result<Vec<_>, _>>()?.concat());
    }
    check_coverage(&left.concat(), shape)?;
    let mut done = vec![1; shape.len()];
    let mut ordered = Vec::new();
    while left.iter().any(|digits| !digits.is_empty()) {
        let next = left.iter_mut().find(|digits| digits.first().is_some_and(|digit| digit.step == done[digit.axis]));
        let Some(digits) = next else { return Err(explain_no_order(&left, &done)) };
        let digit = digits.remove(0);
        done[digit.axis] *= digit.size;
        ordered.push(digit);
    }
    Ok(ordered)
}

/// Splits a mode of the thread index or of the value index into digits that each move along one axis.
fn along_axes(kind: Kind, mode: CuteLeaf, shape: &[u64]) -> Result<Vec<Digit>, String> {
    let CuteLeaf { shape: mut size, mut stride } = mode;
    if stride == 0 {
        return Err(format!("{size} {} have the same element; each task has one worker", kind.name()));
    }
    let mut digits = Vec::new();
    while size > 1 {
        let mut before = 1;
        let axis = shape.iter().position(|&length| {
            let inside = stride < before * length;
            before *= if inside { 1 } else { length };
            inside
        });
        let uneven =
            || format!("a mode of {} of {} moves by {}, which divides no axis", kind.name(), mode.shape, mode.stride);
        let axis = axis.filter(|_| stride.is_multiple_of(before)).ok_or_else(uneven)?;
        let step = stride / before;
        let room = if shape[axis].is_multiple_of(step) { shape[axis] / step } else { return Err(uneven()) };
        let own = if size <= room { size } else { room };
        if !size.is_multiple_of(own) || own == 1 {
            return Err(uneven());
        }
        digits.push(Digit { kind, axis, size: own, step });
        (size, stride) = (size / own, stride * own);
    }
    Ok(digits)
}

/// Checks that the digits of threads and values together reach every position along every axis exactly once.
fn check_coverage(digits: &[Digit], shape: &[u64]) -> Result<(), String> {
    for (axis, &length) in shape.iter().enumerate() {
        let mut own: Vec<&Digit> = digits.iter().filter(|digit| digit.axis == axis).collect();
        own.sort_by_key(|digit| digit.step);
        let mut reached = 1;
        for digit in own {
            if digit.step != reached {
                let what = if digit.step < reached { "several workers have" } else { "no worker has" };
                return Err(format!("{what} coordinate {} along dim{axis}", digit.step.min(reached)));
            }
            reached *= digit.size;
        }
        if reached != length {
            return Err(format!("no worker has coordinate {reached} along dim{axis}"));
        }
    }
    Ok(())
}

/// Returns the reason why no digit can be the next coarser one: `left` are the digits not yet ordered, of the thread
/// index and of the value index; `done` is the step along each axis that the next digit must have.
fn explain_no_order(left: &[Vec<Digit>], done: &[u64]) -> String {
    let firsts = left.iter().filter_map(|digits| digits.first());
    let each = firsts.map(|digit| {
        let (kind, axis) = (digit.kind.name(), digit.axis);
        format!("{kind} next move by {} along dim{axis}, before the step {}", digit.step, done[axis])
    });
    format!("{}; a mapping goes from coarse to fine along every axis", each.collect::<Vec<_>>().join(", and "))
}
