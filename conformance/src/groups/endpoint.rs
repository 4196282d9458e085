//! Layouts that data moves from and to.

use tilewright_layout::{Dim, FamilySpec, Layout, LinearLayout, MemoryLayout, Sample, Space};

use super::CaseTensor;
use super::law::{broken, resolve};
use crate::{Context, Verdict};

/// A layout by family, with a word for case names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The word.
    pub name: String,
    /// The layout.
    pub spec: FamilySpec,
    /// Axes of the tensors that it lays out. One of two axes lays out the last two of three, too: then a lane holds
    /// its elements of all planes, and memory has one plane after the other.
    pub axes: usize,
}

impl From<&Sample> for Endpoint {
    fn from(sample: &Sample) -> Self {
        Self { name: sample.name.clone(), spec: sample.spec.clone(), axes: 2 }
    }
}

impl Endpoint {
    /// Whether it lays out tensors of so many axes.
    #[must_use]
    pub fn takes(&self, axes: usize) -> bool {
        axes == self.axes || (self.axes, axes) == (2, 3)
    }

    /// Which lane of which warp holds what of a tensor.
    ///
    /// # Errors
    /// The verdict on a layout that cannot be built, or is no distributed one of the tensor's block.
    pub fn distributed(&self, context: &Context, tensor: &CaseTensor) -> Result<LinearLayout, Verdict> {
        let Layout::Distributed(layout) = self.layout(context, tensor)? else {
            return Err(broken(format!("`{}` builds no distributed layout", self.name)));
        };
        let (lanes, warps) = (1u64 << layout.in_bits(Dim::LANE), 1u64 << layout.in_bits(Dim::WARP));
        let requested = tensor.setting;
        if (lanes, warps) != (u64::from(requested.lanes), u64::from(requested.warps)) {
            return Err(broken(format!("`{}` has {lanes} lanes and {warps} warps, asked for {requested}", self.name)));
        }
        Ok(layout)
    }

    /// Where in memory a tensor lies.
    ///
    /// # Errors
    /// The verdict on a layout that cannot be built, or is none of memory.
    pub fn memory(&self, context: &Context, tensor: &CaseTensor) -> Result<MemoryLayout, Verdict> {
        match self.layout(context, tensor)? {
            Layout::Memory(layout) => Ok(layout),
            _ => Err(broken(format!("`{}` builds no memory layout", self.name))),
        }
    }

    /// The layout of a tensor.
    ///
    /// # Errors
    /// The verdict on one that cannot be built.
    pub fn layout(&self, context: &Context, tensor: &CaseTensor) -> Result<Layout, Verdict> {
        let (planes, shape) = self.split(tensor)?;
        Ok(match resolve(context, &self.spec, shape)? {
            Layout::Distributed(layout) => Layout::Distributed(stacked(&layout, Dim::REGISTER, planes)?),
            Layout::Memory(layout) => {
                Layout::Memory(MemoryLayout { linear: stacked(&layout.linear, Dim::OFFSET, planes)?, ..layout })
            }
            layout @ Layout::TensorMemory(_) => layout,
        })
    }

    /// How many planes of what shape, if the family's tensors have an axis less; else nothing and the shape.
    fn split<'a>(&self, tensor: &'a CaseTensor) -> Result<(Option<u64>, &'a [u64]), Verdict> {
        match tensor.shape.split_first() {
            _ if self.axes == tensor.shape.len() => Ok((None, &tensor.shape)),
            Some((&planes, plane)) if self.takes(tensor.shape.len()) => Ok((Some(planes), plane)),
            _ => Err(broken(format!("`{}` has {} axes, `{tensor}` has others", self.name, self.axes))),
        }
    }
}

/// The layout of so many planes from that of one: the high bits of the in dim `along` lead from plane to plane,
/// the new first axis.
fn stacked(plane: &LinearLayout, along: Dim, planes: Option<u64>) -> Result<LinearLayout, Verdict> {
    let Some(planes) = planes else { return Ok(plane.clone()) };
    let bits = planes.trailing_zeros();
    let failed = |error: tilewright_layout::LayoutError| broken(error.to_string());
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
        columns.extend((0..more).map(|bit| 1u64 << (plane.outs().bits() + bit)));
        ins.push(dim, own + more).map_err(failed)?;
    }
    LinearLayout::from_columns(ins, outs, &columns).map_err(failed)
}
