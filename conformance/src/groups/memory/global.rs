//! Copies between tensors in global memory of which more or less is known, through every layout of registers.

use std::fmt;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{AxisStride, GlobalAccess, GlobalTensor, access_global, coalesced_layout};
use tilewright_target::Direction;
use tilewright_verify::kernels::StridedTensor;
use tilewright_verify::strided_copy_case;

use super::super::corpus::{LayoutCorpus, Turns};
use super::super::emulated::{either, executed, refused};
use super::super::{CaseTensor, Endpoint};
use crate::{Case, Context, Level, Verdict};

/// What is known of the tensor in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The last axis is the fastest, and there are no gaps.
    RowMajor,
    /// The first axis is the fastest, and there are no gaps.
    ColumnMajor,
    /// Rows lie sixteen elements further apart than they are long.
    Pitched,
    /// Rows lie an odd number of elements apart.
    OddPitch,
    /// Rows lie a multiple of eight elements apart: how many is found out at run time.
    RunTimePitch,
    /// Without gaps; nothing but the width of an element divides the address of the first.
    Unaligned,
    /// Without gaps; of the first axis about three quarters are there, the rest is masked, whole vectors of it.
    Masked,
}

impl Known {
    const ALL: [Self; 7] = [
        Self::RowMajor,
        Self::ColumnMajor,
        Self::Pitched,
        Self::OddPitch,
        Self::RunTimePitch,
        Self::Unaligned,
        Self::Masked,
    ];

    /// The word in case names.
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

    /// How far neighbours along each axis lie apart.
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
                // No multiple of sixteen.
                Self::RunTimePitch if fastest => (stride.div_ceil(8) | 1) * 8,
                Self::OddPitch if fastest => stride | 1,
                _ => stride,
            };
            fastest = false;
        }
        strides
    }

    /// What accesses are planned with.
    fn tensor(self, shape: &[u64], element_bits: u32) -> GlobalTensor {
        let strides = self.strides(shape);
        let last = shape.len() - 1;
        let known = |(axis, stride): (usize, u64)| match self {
            Self::RunTimePitch if axis != last => (Dim::tensor(axis), shape[axis], AxisStride::MultipleOf(8)),
            _ => (Dim::tensor(axis), shape[axis], AxisStride::Elements(stride)),
        };
        let alignment = if self == Self::Unaligned { u64::from(element_bits / 8) } else { 256 };
        GlobalTensor { axes: strides.into_iter().enumerate().map(known).collect(), alignment }
    }

    /// What the kernel finds.
    fn found(self, shape: &[u64]) -> StridedTensor {
        let strides = self.strides(shape).into_iter().enumerate();
        let grain = (WIDEST_VECTOR / shape[1..].iter().product::<u64>()).max(1);
        let limit = (3 * shape[0] / 4).max(1).next_multiple_of(grain);
        StridedTensor {
            strides: strides.map(|(axis, stride)| (Dim::tensor(axis), stride)).collect(),
            limit: (self == Self::Masked).then_some((Dim::tensor(0), limit)),
        }
    }
}

/// Elements of the widest access: 16 bytes.
const WIDEST_VECTOR: u64 = 16;

/// A copy in global memory through registers: loaded and stored. Written as in case names:
/// `global/blocked-rows/pitched/f16/64x128/w4`; the layout is `coalesced` where it is the one that is chosen for
/// the tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalCopy {
    /// The layout of the registers; none where it is chosen for the tensor.
    pub registers: Option<Endpoint>,
    /// What is known of the tensor.
    pub known: Known,
    /// The tensor.
    pub tensor: CaseTensor,
}

impl fmt::Display for GlobalCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registers = self.registers.as_ref().map_or("coalesced", |endpoint| &endpoint.name);
        write!(f, "global/{registers}/{}/{}", self.known.name(), self.tensor)
    }
}

/// Layouts that are chosen for a tensor, for each width and each state of knowledge.
const CHOSEN: usize = 4;

/// The load, the store.
type Accesses = [GlobalAccess; 2];

impl GlobalCopy {
    /// All that are shown for a target: each layout and each state of knowledge, for each width of elements.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut turns) = (Vec::new(), Turns::new(context));
        for corpus in LayoutCorpus::all(context) {
            for known in Known::ALL {
                for name in &corpus.distributed() {
                    for (tensor, ends) in corpus.some(&mut turns, 1, &[name], |_| true) {
                        all.push(Self { registers: ends.into_iter().next(), known, tensor });
                    }
                }
                let tensors = corpus.tensors();
                let some = turns.some_of(CHOSEN, tensors).into_iter();
                all.extend(some.map(|tensor| Self { registers: None, known, tensor }));
            }
        }
        all
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("memory/{self}"), move |context| {
            either(self.plan(context).and_then(|(layout, accesses)| self.shown(context, &layout, &accesses)))
        })
    }

    /// The layout, and the plans.
    ///
    /// # Errors
    /// The verdict where there are none.
    pub fn plan(&self, context: &Context) -> Result<(LinearLayout, Accesses), Verdict> {
        let (target, setting) = (context.target().description(), self.tensor.setting);
        let bits = setting.element.bits();
        let memory = self.known.tensor(&self.tensor.shape, bits);
        let layout = match &self.registers {
            Some(endpoint) => endpoint.distributed(context, &self.tensor)?,
            None => {
                coalesced_layout(&memory, bits, setting.lanes.into(), setting.warps.into(), target).map_err(refused)?
            }
        };
        let plan = |direction| access_global(&layout, &memory, bits, direction, target).map_err(refused);
        let accesses = [plan(Direction::Load)?, plan(Direction::Store)?];
        Ok((layout, accesses))
    }

    /// Runs the copy: all that is there must have come over, nothing else may have changed, and the units of memory
    /// that were touched are the plans'. A layout that was chosen must touch no unit twice where elements follow
    /// each other without gaps.
    ///
    /// # Errors
    /// The verdict where something is wrong.
    pub fn shown(
        &self,
        context: &Context,
        layout: &LinearLayout,
        [load, store]: &Accesses,
    ) -> Result<Verdict, Verdict> {
        let (target, bits) = (context.target().description(), self.tensor.setting.element.bits());
        let (found, planned) = (self.known.found(&self.tensor.shape), self.known != Known::RunTimePitch);
        executed(strided_copy_case(layout, &found, planned, bits, [load, store]), target)?;
        let gapless = matches!(self.known, Known::RowMajor | Known::ColumnMajor);
        let bytes = self.tensor.elements() * u64::from(bits / 8);
        let least = bytes.div_ceil(u64::from(target.global.transaction_bytes.max(1)));
        if self.registers.is_none() && gapless && (load.transactions < least || store.transactions != least) {
            let (loads, stores) = (load.transactions, store.transactions);
            let detail = format!("chosen for {least} units of memory, loads take {loads} and stores {stores}");
            return Err(Verdict::fail(Level::Emulated, detail));
        }
        Ok(Verdict::pass(Level::Emulated))
    }
}
