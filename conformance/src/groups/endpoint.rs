//! The layouts at both ends of data movement cases: the source and the destination.

use tilewright_layout::{Dim, FamilySpec, Layout, LinearLayout, MemoryLayout, SampleLayout, Space};

use super::CaseTensorSpec;
use super::law::{law_failure, resolve};
use crate::{Context, Verdict};

/// A layout given by a family and its parameters, with the name that case names use for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLayout {
    /// The name of the layout in case names.
    pub name: String,
    /// The layout family and the values of its parameters.
    pub spec: FamilySpec,
    /// Number of axes of the layout's tensors. A layout of two axes is also used for the last two of three axes: a lane
    /// then holds its elements of all planes, and memory has the planes one after the other.
    pub axes: usize,
}

impl From<&SampleLayout> for NamedLayout {
    fn from(sample: &SampleLayout) -> Self {
        Self { name: sample.name.clone(), spec: sample.spec.clone(), axes: 2 }
    }
}

impl NamedLayout {
    /// Whether the layout can be used for tensors with `axes` axes.
    #[must_use]
    pub fn takes(&self, axes: usize) -> bool {
        axes == self.axes || (self.axes, axes) == (2, 3)
    }

    /// Builds the layout for a tensor, as a distributed layout.
    ///
    /// # Errors
    /// The verdict of the case if the layout cannot be built, or is no distributed layout over the tensor's warps and
    /// lanes.
    pub fn distributed(&self, context: &Context, tensor: &CaseTensorSpec) -> Result<LinearLayout, Verdict> {
        let Layout::Distributed(layout) = self.layout(context, tensor)? else {
            return Err(law_failure(format!("`{}` builds no distributed layout", self.name)));
        };
        let (lanes, warps) = (1u64 << layout.in_bits(Dim::LANE), 1u64 << layout.in_bits(Dim::WARP));
        let requested = tensor.setting;
        if (lanes, warps) != (u64::from(requested.lanes), u64::from(requested.warps)) {
            return Err(law_failure(format!(
                "`{}` has {lanes} lanes and {warps} warps, expected {requested}",
                self.name
            )));
        }
        Ok(layout)
    }

    /// Builds the layout for a tensor, as a memory layout.
    ///
    /// # Errors
    /// The verdict of the case if the layout cannot be built, or is not a memory layout.
    pub fn memory(&self, context: &Context, tensor: &CaseTensorSpec) -> Result<MemoryLayout, Verdict> {
        match self.layout(context, tensor)? {
            Layout::Memory(layout) => Ok(layout),
            _ => Err(law_failure(format!("`{}` builds no memory layout", self.name))),
        }
    }

    /// Builds the layout, of any kind, for a tensor.
    ///
    /// # Errors
    /// The verdict of the case if the layout cannot be built.
    pub fn layout(&self, context: &Context, tensor: &CaseTensorSpec) -> Result<Layout, Verdict> {
        let (planes, shape) = self.split(tensor)?;
        Ok(match resolve(context, &self.spec, shape)? {
            Layout::Distributed(layout) => Layout::Distributed(stacked(&layout, Dim::REGISTER, planes)?),
            Layout::Memory(layout) => {
                Layout::Memory(MemoryLayout { linear: stacked(&layout.linear, Dim::OFFSET, planes)?, ..layout })
            }
            layout @ Layout::TensorMemory(_) => layout,
        })
    }

    /// Returns the number of planes and the shape of one plane if the layout has one axis fewer than the tensor. If it
    /// has as many axes, returns `None` and the tensor's shape.
    fn split<'a>(&self, tensor: &'a CaseTensorSpec) -> Result<(Option<u64>, &'a [u64]), Verdict> {
        match tensor.shape.split_first() {
            _ if self.axes == tensor.shape.len() => Ok((None, &tensor.shape)),
            Some((&planes, plane)) if self.takes(tensor.shape.len()) => Ok((Some(planes), plane)),
            _ => Err(law_failure(format!("`{}` has {} axes, `{tensor}` has others", self.name, self.axes))),
        }
    }
}

/// Repeats the layout of one plane for `planes` planes along a new first axis; high bits of the input dim `along`
/// select the plane. With `None`, returns the layout unchanged.
fn stacked(plane: &LinearLayout, along: Dim, planes: Option<u64>) -> Result<LinearLayout, Verdict> {
    let Some(planes) = planes else { return Ok(plane.clone()) };
    let bits = planes.trailing_zeros();
    let failed = |error: tilewright_layout::LayoutError| law_failure(error.to_string());
    let mut outs = Space::default();
    for (dim, bits) in plane.outs().iter() {
        let axis = (0..plane.outs().len()).find(|&axis| Dim::tensor(axis) == dim).unwrap_or(0);
        outs.push(Dim::tensor(axis + 1), bits).map_err(failed)?;
    }
    outs.push(Dim::tensor(0), bits).map_err(failed)?;
    let (mut ins, mut columns) = (Space::default(), Vec::new());
    for (dim, own) in plane.ins().iter() {
        columns.extend_from_slice(plane.columns_of(dim));
        let more = if dim == along { bits } else { 0 };
        columns.extend((0..more).map(|bit| 1u64 << (plane.outs().total_bits() + bit)));
        ins.push(dim, own + more).map_err(failed)?;
    }
    LinearLayout::from_columns(ins, outs, &columns).map_err(failed)
}
