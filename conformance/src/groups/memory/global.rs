//! Checks of copies between tensors in global memory, through every register layout, with various strides and
//! alignments known to the planner.

use std::fmt;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{
    AxisStride, GlobalAccessPlan, GlobalTensor, find_coalesced_layout, plan_global_access,
};
use tilewright_target::Direction;
use tilewright_verify::build_strided_copy_case;
use tilewright_verify::kernels::StridedTensor;

use super::super::corpus::{LayoutCorpus, Sampler};
use super::super::emulated::{merge_verdicts, planning_verdict, run_on_emulator};
use super::super::{CaseTensorSpec, NamedLayout};
use crate::{Case, Context, EvidenceLevel, Verdict};

/// The properties of a tensor in global memory (strides, alignment, masked part) that the planner knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownTensorProperties {
    /// The tensor is row-major without gaps.
    RowMajor,
    /// The tensor is column-major without gaps.
    ColumnMajor,
    /// The row pitch exceeds the row length by sixteen elements.
    Pitched,
    /// The row pitch (elements from one row to the next) is odd.
    OddPitch,
    /// The row pitch is a multiple of eight elements, but known only at run time.
    RunTimePitch,
    /// The tensor has no gaps, but its first element is only aligned to the element's width.
    Unaligned,
    /// The tensor has no gaps; about three quarters of the first axis exist, and the rest is masked off. The limit is
    /// at a vector's boundary, so that no access is masked in part.
    Masked,
}

impl KnownTensorProperties {
    const ALL: [Self; 7] = [
        Self::RowMajor,
        Self::ColumnMajor,
        Self::Pitched,
        Self::OddPitch,
        Self::RunTimePitch,
        Self::Unaligned,
        Self::Masked,
    ];

    /// Returns the word for the properties in case names.
    fn name(self) -> &'static str {
        match self {
            Self::RowMajor => "row-major",
            Self::ColumnMajor => "column-major",
            Self::Pitched => "pitched",
            Self::OddPitch => "odd-pitch",
            Self::RunTimePitch => "run-time-pitch",
            Self::Unaligned => "unaligned",
            Self::Masked => "masked",
        }
    }

    /// Returns the distance in elements between neighbours along each axis.
    fn strides(self, shape: &[u64]) -> Vec<u64> {
        let mut strides = vec![0; shape.len()];
        let (mut stride, mut fastest) = (1, true);
        let order: Vec<usize> = match self {
            Self::ColumnMajor => (0..shape.len()).collect(),
            _ => (0..shape.len()).rev().collect(),
        };
        for axis in order {
            strides[axis] = stride;
            stride *= shape[axis];
            stride = match self {
                Self::Pitched if fastest => stride + 16,
                // A multiple of eight, but not of sixteen, so that wider accesses than planned would be misaligned.
                Self::RunTimePitch if fastest => (stride.div_ceil(8) | 1) * 8,
                Self::OddPitch if fastest => stride | 1,
                _ => stride,
            };
            fastest = false;
        }
        strides
    }

    /// Returns the description of the tensor that the planner gets. For [`Self::RunTimePitch`], the strides of all axes
    /// except the last are described only as multiples of eight elements.
    fn tensor(self, shape: &[u64], element_bits: u32) -> GlobalTensor {
        let strides = self.strides(shape);
        let last = shape.len() - 1;
        let known = |(axis, stride): (usize, u64)| match self {
            Self::RunTimePitch if axis != last => (Dim::tensor(axis), shape[axis], AxisStride::MultipleOf(8)),
            _ => (Dim::tensor(axis), shape[axis], AxisStride::Elements(stride)),
        };
        let alignment = if self == Self::Unaligned { u64::from(element_bits / 8) } else { 256 };
        GlobalTensor::new(strides.into_iter().enumerate().map(known).collect(), alignment)
    }

    /// Returns the tensor as the kernel gets it at run time: all strides, and the limit of the first axis if it is
    /// masked.
    fn runtime_tensor(self, shape: &[u64]) -> StridedTensor {
        let strides = self.strides(shape).into_iter().enumerate();
        let granularity = (WIDEST_VECTOR / shape[1..].iter().product::<u64>()).max(1);
        let limit = (3 * shape[0] / 4).max(1).next_multiple_of(granularity);
        StridedTensor {
            strides: strides.map(|(axis, stride)| (Dim::tensor(axis), stride)).collect(),
            limit: (self == Self::Masked).then_some((Dim::tensor(0), limit)),
        }
    }
}

/// Number of elements in the widest access: 16 elements of 8 bits.
const WIDEST_VECTOR: u64 = 16;

/// A copy in global memory through registers: a load and a store.
///
/// Case names spell it `global/blocked-rows/pitched/f16/64x128/w4`; the layout is `coalesced` if it is chosen for the
/// tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalCopyCase {
    /// The layout of the tensor in registers; `None` if the case has one chosen for the tensor.
    pub registers: Option<NamedLayout>,
    /// The properties of the tensor in memory that the planner knows.
    pub known: KnownTensorProperties,
    /// The copied tensor: element type, shape and number of warps.
    pub tensor: CaseTensorSpec,
}

impl fmt::Display for GlobalCopyCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registers = self.registers.as_ref().map_or("coalesced", |endpoint| &endpoint.name);
        write!(f, "global/{registers}/{}/{}", self.known.name(), self.tensor)
    }
}

/// Number of copies with chosen layouts that a usual run checks, for each element width and each known property.
const CHOSEN: usize = 4;

/// The plans of the copy's load and of its store.
type Accesses = [GlobalAccessPlan; 2];

impl GlobalCopyCase {
    /// Returns all copies that are checked for a target: each layout and each known property, for each element width.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut sampler) = (Vec::new(), Sampler::new(context));
        for corpus in LayoutCorpus::all(context) {
            for known in KnownTensorProperties::ALL {
                for name in &corpus.distributed() {
                    for (tensor, ends) in corpus.select_tensors(&mut sampler, 1, &[name], |_| true) {
                        all.push(Self { registers: ends.into_iter().next(), known, tensor });
                    }
                }
                let tensors = corpus.tensors();
                let some = sampler.some_of(CHOSEN, tensors).into_iter();
                all.extend(some.map(|tensor| Self { registers: None, known, tensor }));
            }
        }
        all
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("memory/{self}"), move |context| {
            merge_verdicts(self.plan(context).and_then(|(layout, accesses)| self.check(context, &layout, &accesses)))
        })
    }

    /// Returns the register layout, and the plans of the load and the store.
    ///
    /// # Errors
    /// The verdict of the case if the layout cannot be built, or the copy has no plan.
    pub fn plan(&self, context: &Context) -> Result<(LinearLayout, Accesses), Verdict> {
        let (target, setting) = (context.target().description(), self.tensor.setting);
        let bits = setting.element.bits();
        let memory = self.known.tensor(&self.tensor.shape, bits);
        let layout = match &self.registers {
            Some(endpoint) => endpoint.distributed(context, &self.tensor)?,
            None => find_coalesced_layout(&memory, bits, setting.lanes.into(), setting.warps.into(), target)
                .map_err(planning_verdict)?,
        };
        let plan = |direction| plan_global_access(&layout, &memory, bits, direction, target).map_err(planning_verdict);
        let accesses = [plan(Direction::Load)?, plan(Direction::Store)?];
        Ok((layout, accesses))
    }

    /// Runs the copy on the emulator. All existing elements must be copied, nothing else may change, and the memory
    /// sectors that are touched must be those of the plans.
    ///
    /// With a chosen layout, no sector may be touched twice if elements are contiguous.
    ///
    /// # Errors
    /// The verdict of the case if the check fails.
    pub fn check(
        &self,
        context: &Context,
        layout: &LinearLayout,
        [load, store]: &Accesses,
    ) -> Result<Verdict, Verdict> {
        let (target, bits) = (context.target().description(), self.tensor.setting.element.bits());
        let (found, planned) =
            (self.known.runtime_tensor(&self.tensor.shape), self.known != KnownTensorProperties::RunTimePitch);
        run_on_emulator(build_strided_copy_case(layout, &found, planned, bits, [load, store]), target)?;
        let gapless = matches!(self.known, KnownTensorProperties::RowMajor | KnownTensorProperties::ColumnMajor);
        let bytes = self.tensor.elements() * u64::from(bits / 8);
        let min_transactions = bytes.div_ceil(u64::from(target.global.transaction_bytes.max(1)));
        if self.registers.is_none()
            && gapless
            && (load.transactions < min_transactions || store.transactions != min_transactions)
        {
            let (loads, stores) = (load.transactions, store.transactions);
            let detail = format!("chosen for {min_transactions} transactions, loads take {loads} and stores {stores}");
            return Err(Verdict::fail(EvidenceLevel::Emulated, detail));
        }
        Ok(Verdict::pass(EvidenceLevel::Emulated))
    }
}
