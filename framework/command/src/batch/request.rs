//! The fields of a batch request, parsed and checked.

use serde_json::Value as Json;

use tilewright::{LayoutRequest, Session};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout, spec_from_json, to_snake_case};
use tilewright_target::TargetDescription;

use super::refusal::BatchError;

/// A request, or an object within a request, with the [`Session`] (targets and plugins) that answers it.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub session: &'a Session,
    pub fields: &'a Json,
}

impl<'a> Request<'a> {
    /// Returns the value of a field; `None` if the request lacks it.
    pub fn optional_field(self, name: &str) -> Option<&'a Json> {
        self.fields.get(name)
    }

    pub fn field(self, name: &str) -> Result<&'a Json, BatchError> {
        self.optional_field(name).ok_or_else(|| match self.in_camel_case(name) {
            Some(given) => {
                BatchError::invalid_field(format_args!("`{name}` is missing: `{given}` must be written `{name}`"))
            }
            None => BatchError::invalid_field(format_args!("`{name}` is missing")),
        })
    }

    /// Returns the name, as written, of the field whose name in `snake_case` is `name`; `None` if there is none.
    fn in_camel_case(self, name: &str) -> Option<&'a str> {
        self.fields.as_object()?.keys().map(String::as_str).find(|given| to_snake_case(given) == name)
    }

    pub fn list_field(self, name: &str) -> Result<&'a Vec<Json>, BatchError> {
        self.field(name)?.as_array().ok_or_else(|| BatchError::invalid_field(format_args!("`{name}` must be a list")))
    }

    /// Returns an integer field; `None` if the request lacks it or it is null.
    pub fn integer_field(self, name: &str) -> Result<Option<u64>, BatchError> {
        let wrong = || BatchError::invalid_field(format_args!("`{name}` must be a non-negative integer"));
        let given = self.optional_field(name).filter(|given| !given.is_null());
        given.map(|given| given.as_u64().ok_or_else(wrong)).transpose()
    }

    /// Returns the name of the target; `None` if the request names no target.
    pub fn target_name(self) -> Result<Option<&'a str>, BatchError> {
        let target = self.optional_field("target").filter(|target| !target.is_null());
        target
            .map(|name| name.as_str().ok_or_else(|| BatchError::invalid_field("`target` must be a string")))
            .transpose()
    }

    /// Returns the description of the target, which the request must name.
    pub fn target(self) -> Result<&'a TargetDescription, BatchError> {
        let name =
            self.field("target")?.as_str().ok_or_else(|| BatchError::invalid_field("`target` must be a string"))?;
        Ok(self.session.catalogue().get(name)?)
    }

    pub fn shape(self) -> Result<Vec<u64>, BatchError> {
        parse_shape(self.field("shape")?)
    }

    /// Returns the tensor axis that the operation works along.
    pub fn axis(self) -> Result<Dim, BatchError> {
        let rank = self.shape()?.len();
        let axis = self.field("axis")?.as_u64().and_then(|axis| usize::try_from(axis).ok());
        let wrong =
            || BatchError::invalid_field(format_args!("`axis` must be a number below {rank}, the axes of `shape`"));
        axis.filter(|&axis| axis < rank).map(Dim::tensor).ok_or_else(wrong)
    }

    pub fn element_bits(self) -> Result<u32, BatchError> {
        let bits = self.field("element_bits")?.as_u64().and_then(|bits| u32::try_from(bits).ok());
        bits.ok_or_else(|| BatchError::invalid_field("`element_bits` must be a non-negative integer"))
    }

    /// Returns the element width in bits of each tensor of a tuple, from a number or a list of numbers.
    pub fn tuple_bits(self) -> Result<Vec<u32>, BatchError> {
        let given = self.field("element_bits")?;
        if given.is_number() {
            return Ok(vec![self.element_bits()?]);
        }
        serde_json::from_value(given.clone())
            .map_err(|_| BatchError::invalid_field("`element_bits` must be a non-negative integer or a list of them"))
    }

    /// Returns the distributed layout (of registers, lanes and warps) in a field, for a tensor of this shape.
    pub fn distributed_layout(self, name: &str, shape: &[u64]) -> Result<LinearLayout, BatchError> {
        self.resolve_distributed_layout(name, self.field(name)?, shape)
    }

    /// Resolves `value`, the content of the field `name`, as a distributed layout for a tensor of this shape. An error
    /// if the layout has another shape, or another number of warps than the request's `num_warps`.
    pub fn resolve_distributed_layout(
        self,
        name: &str,
        value: &Json,
        shape: &[u64],
    ) -> Result<LinearLayout, BatchError> {
        let request = LayoutRequest::from_json(value).map_err(|error| BatchError::invalid_layout(name, error))?;
        let layout = request.resolve_linear_layout(self.session, self.target_name()?, shape)?;
        for (axis, &size) in shape.iter().enumerate() {
            let have = 1u64 << layout.out_bits(Dim::tensor(axis)).min(63);
            if have != size {
                return Err(BatchError::invalid_field(format_args!(
                    "`{name}` has {have} elements along axis {axis}, `shape` has {size}"
                )));
            }
        }
        if let Some(warps) = self.optional_field("num_warps") {
            let have = 1u64 << layout.in_bits(Dim::WARP);
            if warps.as_u64() != Some(have) {
                return Err(BatchError::invalid_field(format_args!(
                    "`{name}` is for {have} warps, `num_warps` is {warps}"
                )));
            }
        }
        Ok(layout)
    }

    /// Returns the memory layout in a field, for this shape; the field has either its bases or a layout family's
    /// parameters.
    pub fn memory_layout(self, name: &str, shape: &[u64]) -> Result<MemoryLayout, BatchError> {
        let value = self.field(name)?;
        // Padding is not in the bases, only in the parameters.
        let params = value.get("params").filter(|params| value.get("layout").is_none() || is_padded(params));
        let request = LayoutRequest::from_json(params.unwrap_or(value));
        let request = request.map_err(|error| BatchError::invalid_layout(name, error))?;
        let memory = request.resolve_memory_layout(self.session, self.target_name()?, shape)?;
        let memory = memory.ok_or_else(|| BatchError::invalid_layout(name, "this is not a memory layout"))?;
        for (axis, &size) in shape.iter().enumerate() {
            if 1u64 << memory.linear.out_bits(Dim::tensor(axis)).min(63) != size {
                return Err(BatchError::invalid_field(format_args!(
                    "`{name}` has another size along axis {axis} than `shape`, which has {size}"
                )));
            }
        }
        Ok(memory)
    }
}

/// Parses a shape. Error messages call the field `shape`, whatever its name.
pub fn parse_shape(value: &Json) -> Result<Vec<u64>, BatchError> {
    let sizes = value.as_array().and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
    let wrong = || BatchError::invalid_field("`shape` must be a list of at most 16 non-negative integers");
    sizes.filter(|sizes| sizes.len() <= 16).ok_or_else(wrong)
}

fn is_padded(params: &Json) -> bool {
    spec_from_json(params).is_ok_and(|spec| spec.name == "padded_shared")
}
