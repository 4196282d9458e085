//! Test cases: a kernel with its launch, its buffers before and after, and its predicted counts.

use std::fmt;
use std::sync::Arc;

use tilewright::run::{DeviceResidentLaunch, HostBuffer, KernelLaunch};
use tilewright_kernel::{Counts, Kernel};
use tilewright_plan::movement::PlanStats;
use tilewright_plugin::{Artifact, Device, DeviceError, LaunchGrid};

use super::case::{CaseBuffer, CaseElement, CaseValue, ExpectedContents};
use super::expected_counts::ExpectedCounts;

/// A kernel, and the launch that tests it on any device.
#[derive(Debug, Clone)]
pub struct TestCase {
    /// The kernel in kernel IR.
    pub kernel: Kernel,
    /// The launch of the kernel, with its expected results.
    pub launch: TestLaunch,
}

/// A launch of a kernel with its expected results. The kernel may be compiled already.
#[derive(Debug, Clone)]
pub struct TestLaunch {
    /// Name of the kernel.
    pub kernel: String,
    /// Number of blocks along x, y and z of the grid.
    pub grid: LaunchGrid,
    /// One argument for each parameter of the kernel.
    pub arguments: Vec<CaseValue>,
    /// The buffers that the arguments refer to.
    pub buffers: Vec<TestBuffer>,
    /// Expected counts of the device; `None` if no plan predicts them.
    pub counts: Option<ExpectedCounts>,
    /// Predictions of a plan, for reports; `None` if there are none.
    pub predicted: Option<PredictedStats>,
}

impl TestLaunch {
    /// Loads the code to a device, and fills the buffers.
    ///
    /// # Errors
    /// [`DeviceError`] if the device cannot load the code or allocate and fill the buffers.
    pub fn load<'d>(
        &self,
        artifact: &Artifact,
        device: &'d mut dyn Device,
    ) -> Result<DeviceResidentLaunch<'d>, DeviceError> {
        let buffers = self.buffers.iter();
        let buffers = buffers
            .map(|buffer| HostBuffer { bytes: &buffer.content.before, initialised: !buffer.is_output, address: None })
            .collect();
        let launch = KernelLaunch { grid: self.grid, arguments: &self.arguments, buffers };
        DeviceResidentLaunch::new(&self.kernel, &launch, artifact, device)
    }
}

/// A buffer in global memory that a test case gives to the kernel, with its expected contents.
#[derive(Debug, Clone)]
pub struct TestBuffer {
    /// Contents before the launch, and expected contents after it.
    pub content: CaseBuffer,
    /// Whether the buffer starts with a fixed byte pattern that no kernel may read, so that unwritten elements are
    /// detected.
    pub is_output: bool,
    /// Describes the elements of the buffer in failures; `None` if failures give indices only.
    pub legend: Option<BufferLegend>,
}

impl From<CaseBuffer> for TestBuffer {
    fn from(content: CaseBuffer) -> Self {
        Self { content, is_output: false, legend: None }
    }
}

/// Predictions of a plan for a kernel, made before the kernel is emitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedStats {
    /// Number of times that the kernel repeats the counted operations.
    pub rounds: u32,
    /// Counts of a warp in one round; `None` if they are not predicted.
    pub counts: Option<Counts>,
    /// Number of cycles of the block in one round, by the target's cost table.
    pub cycles: f64,
    /// Bytes of shared memory that a block takes.
    pub shared_bytes: u64,
}

impl PredictedStats {
    /// Creates the predictions for a kernel that executes a plan with these stats `rounds` times.
    pub(crate) fn of(stats: &PlanStats, rounds: u32) -> Self {
        let PlanStats { counts, cost, shared_bytes, .. } = *stats;
        Self { rounds, counts: Some(counts), cycles: cost, shared_bytes }
    }
}

/// A description of a buffer's bits: for each bit, the field (an element of the tested tensor) that contains it.
#[derive(Clone)]
pub struct BufferLegend(Arc<dyn Fn(u64) -> BufferElementField + Send + Sync>);

/// A field of a buffer: the bits that hold one element of the tested tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferElementField {
    /// Register and lane, or memory offset, that the field comes from.
    pub location: String,
    /// Row-major index of the element that is expected in the field.
    pub element: u64,
    /// Index of the field's first bit in the buffer.
    pub bit: u64,
    /// Width of the field in bits.
    pub bits: u32,
}

impl BufferLegend {
    /// Creates a legend from a function that maps the index of a bit in the buffer to the field that contains it.
    pub fn from_fn(field: impl Fn(u64) -> BufferElementField + Send + Sync + 'static) -> Self {
        Self(Arc::new(field))
    }

    /// Creates a legend of adjacent elements of `bits` bits; `name` maps the index of an element to its location and
    /// its row-major index in the tested tensor.
    pub(crate) fn of_elements(bits: u32, name: impl Fn(u64) -> (String, u64) + Send + Sync + 'static) -> Self {
        Self::from_fn(move |bit| {
            let index = bit / u64::from(bits);
            let (location, element) = name(index);
            BufferElementField { location, element, bit: index * u64::from(bits), bits }
        })
    }

    /// Returns the field that contains the bit with this index in the buffer.
    #[must_use]
    pub fn describe_bit(&self, bit: u64) -> BufferElementField {
        (self.0)(bit)
    }
}

impl fmt::Debug for BufferLegend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Legend")
    }
}

/// Initial value of each byte of an output buffer, so that bytes that the kernel does not write are detected.
const NOISE: u8 = 0xa5;

impl TestCase {
    /// Creates a test of a kernel whose parameters are the buffers in order, launched with `blocks` blocks along axis
    /// 0.
    pub(crate) fn of_buffers(kernel: Kernel, blocks: u32, buffers: Vec<TestBuffer>) -> Self {
        let arguments = (0..buffers.len()).map(CaseValue::Buffer).collect();
        Self::new(kernel, [blocks, 1, 1], arguments, buffers)
    }

    /// Creates a test without predictions.
    pub(crate) fn new(
        kernel: Kernel,
        grid: LaunchGrid,
        arguments: Vec<CaseValue>,
        buffers: Vec<impl Into<TestBuffer>>,
    ) -> Self {
        let (name, buffers) = (kernel.name.clone(), buffers.into_iter().map(Into::into).collect());
        let launch = TestLaunch { kernel: name, grid, arguments, buffers, counts: None, predicted: None };
        Self { kernel, launch }
    }

    pub(crate) fn with_counts(mut self, counts: ExpectedCounts) -> Self {
        self.launch.counts = Some(counts);
        self
    }

    /// Adds the expected counts and the predictions of a plan that the kernel executes once.
    pub(crate) fn with_plan(self, stats: &PlanStats) -> Self {
        self.with_counts(ExpectedCounts::all(stats.counts, stats.bound)).with_predicted(PredictedStats::of(stats, 1))
    }

    pub(crate) fn with_predicted(mut self, predicted: PredictedStats) -> Self {
        self.launch.predicted = Some(predicted);
        self
    }

    /// Makes the test compare every expected buffer byte by byte, including NaNs. Only for the emulator, which always
    /// produces the same NaN; hardware may produce others.
    #[must_use]
    pub fn with_exact_bits(mut self) -> Self {
        for TestBuffer { content, .. } in &mut self.launch.buffers {
            if matches!(content.after, ExpectedContents::Expected { .. }) {
                content.shape = vec![content.before.len() as u64];
                content.element = CaseElement::Unsigned(8);
            }
        }
        self
    }
}

/// Creates a buffer that the kernel reads and that must stay unchanged.
pub(crate) fn input(buffer_index: usize, before: Vec<u8>) -> TestBuffer {
    let shape = vec![before.len() as u64];
    let element = CaseElement::Unsigned(8);
    CaseBuffer { name: format!("in{buffer_index}"), element, shape, before, after: ExpectedContents::Unchanged }.into()
}

/// Creates a buffer whose elements the kernel writes and does not read.
pub(crate) fn output(
    buffer_index: usize,
    element: CaseElement,
    shape: Vec<u64>,
    after: ExpectedContents,
) -> TestBuffer {
    let before = vec![NOISE; shape.iter().product::<u64>() as usize * element.bytes()];
    let content = CaseBuffer { name: format!("out{buffer_index}"), element, shape, before, after };
    TestBuffer { content, is_output: true, legend: None }
}

/// Creates a buffer with initial contents and expected bytes, compared as elements of `bits` bits.
pub(crate) fn changed(name: &str, bits: u32, before: Vec<u8>, after: Vec<u8>, legend: BufferLegend) -> TestBuffer {
    let element = CaseElement::Unsigned(bits);
    let shape = vec![(before.len() / element.bytes()) as u64];
    let content =
        CaseBuffer { name: name.to_owned(), element, shape, before, after: ExpectedContents::exact_bytes(after) };
    TestBuffer { content, is_output: false, legend: Some(legend) }
}
