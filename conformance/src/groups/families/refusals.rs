//! Checks invalid requests for layouts. A request must be rejected with an error that names the family or, if a family
//! may accept it, give a layout of the whole tensor; never a crash, never a layout of another tensor.

use tilewright_layout::{FamilyError, FamilyParameterValue, FamilySpec, Layout, SampleLayout};

use super::super::law::{LawResult, law_failure, require};
use super::super::walk::covers_evenly;
use super::definition::of_shape;
use crate::{Context, Verdict};

const SHAPE: [u64; 2] = [128, 64];
const UNKNOWN: &str = "no_such_parameter";

/// Checks that an unknown parameter is rejected by name, in the spec (family and parameters) and in every spec nested
/// in it.
pub(super) fn unknown(context: &Context, sample: &SampleLayout) -> LawResult {
    each_level(&sample.spec, &|level| vec![level.clone().with_parameter(UNKNOWN, 1)], &mut |spec| {
        let error = refused(context, spec, &SHAPE)?;
        let error_text = error.to_string();
        require(error_text.contains(UNKNOWN), || {
            format!("the error does not name `{UNKNOWN}`: {error_text}\n{}", show(spec))
        })
    })
}

/// Checks that a parameter of another type is rejected, and that an extreme value of the right type is rejected or
/// gives a layout of the whole tensor.
pub(super) fn types(context: &Context, sample: &SampleLayout) -> LawResult {
    let other = |value: &FamilyParameterValue| others_of(value);
    each_level(&sample.spec, &|level| replaced(level, &other), &mut |spec| refused(context, spec, &SHAPE).map(drop))?;
    each_level(&sample.spec, &|level| replaced(level, &extremes_of), &mut |spec| {
        check_rejected_or_covers_shape(context, spec, &SHAPE)
    })
}

/// Checks that a spec without one of its parameters is rejected, unless the parameter has a default; and that a spec
/// without its parent layout is rejected.
pub(super) fn missing(context: &Context, sample: &SampleLayout) -> LawResult {
    let without = |level: &FamilySpec| -> Vec<FamilySpec> {
        let one_less = |name: &String| {
            let mut less = level.clone();
            less.attributes.remove(name);
            less
        };
        let none = FamilySpec { attributes: Default::default(), ..level.clone() };
        level.attributes.keys().map(one_less).chain([none]).collect()
    };
    each_level(&sample.spec, &without, &mut |spec| check_rejected_or_covers_shape(context, spec, &SHAPE))?;
    let orphan = |level: &FamilySpec| {
        let orphan = FamilySpec { parent: None, ..level.clone() };
        if level.parent.is_some() { vec![orphan] } else { Vec::new() }
    };
    each_level(&sample.spec, &orphan, &mut |spec| refused(context, spec, &SHAPE).map(drop))
}

/// Checks that shapes with a zero size, with a size that is no power of two, with more bits than coordinates have, and
/// without axes are rejected. Large shapes and shapes of other ranks are rejected or laid out completely.
pub(super) fn shapes(context: &Context, sample: &SampleLayout) -> LawResult {
    let never: [&[u64]; 9] = [
        &[],
        &[0, 64],
        &[128, 0],
        &[96, 64],
        &[128, 65],
        &[3, 5],
        &[u64::MAX, 64],
        &[1 << 63, 1 << 63],
        &[1 << 40, 1 << 40],
    ];
    never.iter().try_for_each(|shape| refused(context, &sample.spec, shape).map(drop))?;
    let perhaps: [&[u64]; 7] =
        [&[1, 1], &[1, 64], &[64], &[2, 32, 32], &[1, 2, 16, 16], &[1 << 20, 1 << 20], &[1 << 31, 1 << 31]];
    perhaps.iter().try_for_each(|shape| check_rejected_or_covers_shape(context, &sample.spec, shape))
}

/// Changes a spec, and then each spec nested in it, in every variant that `change` returns, and calls `check` with the
/// complete spec after each change.
fn each_level(
    spec: &FamilySpec,
    change: &dyn Fn(&FamilySpec) -> Vec<FamilySpec>,
    check: &mut dyn FnMut(&FamilySpec) -> LawResult,
) -> LawResult {
    change(spec).iter().try_for_each(&mut *check)?;
    let Some(parent) = &spec.parent else { return Ok(()) };
    each_level(parent, change, &mut |parent| {
        check(&FamilySpec { parent: None, ..spec.clone() }.with_parent(parent.clone()))
    })
}

/// Returns copies of the spec `level`, each with another value of one parameter: one copy for each parameter and each
/// value that `others` returns for the parameter's value.
fn replaced(
    level: &FamilySpec,
    others: &dyn Fn(&FamilyParameterValue) -> Vec<FamilyParameterValue>,
) -> Vec<FamilySpec> {
    let of = |(name, value): (&String, &FamilyParameterValue)| -> Vec<FamilySpec> {
        others(value).into_iter().map(|other| level.clone().with_parameter(name, other)).collect()
    };
    level.attributes.iter().flat_map(of).collect()
}

fn text() -> FamilyParameterValue {
    FamilyParameterValue::Text("nonsense".to_owned())
}

/// Returns values that a parameter like `value` must reject: values of other types and, for a text, an unknown word.
fn others_of(value: &FamilyParameterValue) -> Vec<FamilyParameterValue> {
    let nested = FamilyParameterValue::List(vec![FamilyParameterValue::List(vec![text()])]);
    match value {
        FamilyParameterValue::Bool(_) => vec![FamilyParameterValue::Int(7), text(), nested],
        FamilyParameterValue::Int(_) => {
            vec![text(), FamilyParameterValue::List(vec![FamilyParameterValue::Int(1)]), nested]
        }
        FamilyParameterValue::Text(_) => {
            vec![text(), FamilyParameterValue::Int(7), FamilyParameterValue::Bool(true), nested]
        }
        FamilyParameterValue::List(_) => {
            vec![text(), FamilyParameterValue::Int(1), FamilyParameterValue::Bool(true), nested]
        }
        FamilyParameterValue::Spec(_) => vec![text(), FamilyParameterValue::Int(1), nested],
    }
}

/// Returns values of the type of `value` that no GPU uses, such as negative or huge sizes.
fn extremes_of(value: &FamilyParameterValue) -> Vec<FamilyParameterValue> {
    match value {
        FamilyParameterValue::Int(_) => {
            [i64::MIN, -1, 0, 3, 1 << 31, 1 << 40, 1 << 62, i64::MAX].map(FamilyParameterValue::Int).to_vec()
        }
        FamilyParameterValue::List(items) => {
            let with_item = |at: usize| {
                extremes_of(&items[at]).into_iter().map(move |item| {
                    let mut list = items.clone();
                    list[at] = item;
                    list
                })
            };
            let longer = items.iter().chain(items).cloned().collect();
            let lists = (0..items.len()).flat_map(with_item).chain([Vec::new(), longer]);
            lists.map(FamilyParameterValue::List).collect()
        }
        FamilyParameterValue::Bool(value) => vec![FamilyParameterValue::Bool(!value)],
        FamilyParameterValue::Text(_) | FamilyParameterValue::Spec(_) => Vec::new(),
    }
}

/// Returns the error of a request that must be rejected, or a failing verdict if the request is accepted.
fn refused(context: &Context, spec: &FamilySpec, shape: &[u64]) -> Result<FamilyError, Verdict> {
    match context.build_layout(spec, shape) {
        Err(error) => expect_named_family(error, spec),
        Ok(layout) => {
            Err(law_failure(format!("accepts {} for a tensor of {shape:?}, as\n{}", show(spec), layout.linear())))
        }
    }
}

fn check_rejected_or_covers_shape(context: &Context, spec: &FamilySpec, shape: &[u64]) -> LawResult {
    let wrong = |verdict: Verdict| {
        let detail = format!("accepts {} for a tensor of {shape:?}: {}", show(spec), verdict.detail);
        verdict.with_detail(detail)
    };
    match context.build_layout(spec, shape) {
        Err(error) => expect_named_family(error, spec).map(drop),
        Ok(layout) => check_covers_shape(&layout, shape).map_err(wrong),
    }
}

/// Checks that a layout has the tensor's shape and covers it evenly; of a layout for an extreme request, no more is
/// required. Layouts with too many positions to visit are checked for their shape only.
fn check_covers_shape(layout: &Layout, shape: &[u64]) -> LawResult {
    const MOST_BITS: u32 = 16;
    let linear = layout.linear();
    of_shape(linear, shape)?;
    if linear.ins().total_bits().max(linear.outs().total_bits()) > MOST_BITS {
        return Ok(());
    }
    covers_evenly(linear).map(drop).map_err(law_failure)
}

/// Returns the error if it blames the caller and names a family of the spec, or a failing verdict otherwise.
fn expect_named_family(error: FamilyError, spec: &FamilySpec) -> Result<FamilyError, Verdict> {
    let name = match &error {
        FamilyError::Plugin(message) => return Err(Verdict::crash(format!("{message}\nrequested {}", show(spec)))),
        FamilyError::Unknown { name, .. } => name,
        FamilyError::Parameter { family, .. }
        | FamilyError::Shape { family, .. }
        | FamilyError::Layout { family, .. } => family,
    };
    if super::shown::mentions_family(spec, name) {
        return Ok(error);
    }
    Err(law_failure(format!("the error names none of the families of {}: {error}", show(spec))))
}

fn show(spec: &FamilySpec) -> String {
    super::notation::attribute(spec)
}
