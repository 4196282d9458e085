//! Checks known answers about layouts of families: from the parameters and a shape, a family must build the expected
//! bases, including zero bases. For memory layouts, the alignment, padding and size must match too.

use serde_json::Value as Json;
use tilewright_layout::{Families, Layout, MemoryLayout, layout_from_json, spec_from_json};

use super::super::known;
use super::super::law::{LawResult, case_name_part, law_failure, require};
use crate::{Case, Context, KnownAnswer, KnownAnswersBySubject, Verdict};

/// Returns a case for each combination of nested families in the known answers; the case is unsupported if the target
/// does not serve all of them.
pub(super) fn cases(context: &Context) -> Vec<Case> {
    let names = context.families().names();
    let is_served = |families: &str| families.split("-of-").all(|family| names.iter().any(|name| name == family));
    let (served, others): (KnownAnswersBySubject, KnownAnswersBySubject) =
        context.answers().layouts.clone().into_iter().partition(|(families, _)| is_served(families));
    let unserved = |families: String| {
        let reason = "the target does not serve these families, which have known answers";
        Case::new(format!("families/answers/{}", case_name_part(&families)), move |_| Verdict::unsupported(reason))
    };
    let mut cases = known::cases("families", &served, check);
    cases.extend(others.into_keys().map(unserved));
    cases
}

fn check(context: &Context, row: &KnownAnswer) -> LawResult {
    let row = row.parse_json();
    let wrong = |message: String| law_failure(format!("{message}\nof {} for {}", row["params"], row["shape"]));
    let spec = spec_from_json(&row["params"]).map_err(|error| wrong(format!("`params`: {error}")))?;
    let shape =
        numbers(&row["shape"]).ok_or_else(|| wrong("`shape` is not a list of non-negative integers".to_owned()))?;
    let expected = &row["expected"];
    let linear = layout_from_json(expected).map_err(|error| wrong(format!("`expected`: {error}")))?;
    let found = context.build_layout(&spec, &shape).map_err(|error| match error {
        tilewright_layout::FamilyError::Plugin(message) => Verdict::crash(message),
        error => wrong(error.to_string()),
    })?;
    require(*found.linear() == linear, || wrong(format!("is\n{}\nexpected\n{linear}", found.linear())).detail)?;
    match &found {
        Layout::Memory(memory) => memory_is(memory, expected).map_err(|verdict| wrong(verdict.detail)),
        Layout::Distributed(_) | Layout::TensorMemory(_) => Ok(()),
    }
}

fn numbers(value: &Json) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Json::as_u64).collect()
}

/// Checks the fields of a known answer about a memory layout other than its bases, if present.
fn memory_is(memory: &MemoryLayout, expected: &Json) -> LawResult {
    let alignment = memory.alignment.map(u64::from);
    if let Some(requested) = expected["alignment"].as_u64() {
        require(alignment == Some(requested), || format!("its alignment is {alignment:?}, expected {requested}"))?;
    }
    for point in expected["physical_offsets"].as_array().into_iter().flatten() {
        let (Some(offset), Some(requested)) = (point[0].as_u64(), point[2].as_u64()) else {
            return Err(law_failure(format!("{point} is not [offset, coordinate, physical offset]")));
        };
        let found = memory.physical_offset(offset);
        require(found == requested, || format!("offset {offset} is at {found}, expected {requested}"))?;
    }
    let size = memory.allocated_elements();
    match expected["allocated_elements"].as_u64() {
        Some(requested) => {
            require(size == requested, || format!("{size} elements are allocated, expected {requested}"))
        }
        None => Ok(()),
    }
}
