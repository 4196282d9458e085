//! Test cases: a kernel with its launch, what its buffers hold before and must hold after, and what was predicted of it.

use std::fmt;
use std::sync::Arc;

use tilewright_kernel::{Counts, Kernel};
use tilewright_plan::movement::PlanStats;
use tilewright_plugin::LaunchGrid;

use super::case::{CaseBuffer, CaseElement, CaseValue, Expectation};
use super::expected_counts::ExpectedCounts;

/// A kernel and the launch that tests it, on whatever device.
#[derive(Debug, Clone)]
pub struct TestCase {
    /// The kernel.
    pub kernel: Kernel,
    /// Its launch.
    pub launch: TestLaunch,
}

/// A launch of a kernel that is compiled already or will be, and everything that it must do.
#[derive(Debug, Clone)]
pub struct TestLaunch {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks along the three axes.
    pub grid: LaunchGrid,
    /// One argument for each parameter.
    pub arguments: Vec<CaseValue>,
    /// The buffers.
    pub buffers: Vec<TestBuffer>,
    /// What the device must count, if a plan predicts it.
    pub counts: Option<ExpectedCounts>,
    /// What a plan predicts, for reports.
    pub predicted: Option<Predicted>,
}

/// A buffer of a test case.
#[derive(Debug, Clone)]
pub struct TestBuffer {
    /// What it holds before and must hold after.
    pub content: CaseBuffer,
    /// Whether its content before is noise that no kernel may read: elements that stay unwritten are seen.
    pub is_output: bool,
    /// How failures name its elements; by their index if absent.
    pub legend: Option<Legend>,
}

impl From<CaseBuffer> for TestBuffer {
    fn from(content: CaseBuffer) -> Self {
        Self { content, is_output: false, legend: None }
    }
}

/// Figures of a kernel that are predicted before anything is emitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// How often the kernel repeats what is counted.
    pub rounds: u32,
    /// What a warp executes in one round, if it is counted.
    pub counts: Option<Counts>,
    /// Cycles of the block in one round, by the target's table.
    pub cycles: f64,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
}

impl Predicted {
    /// The figures of a plan that a kernel carries out so often.
    pub(crate) fn of(stats: &PlanStats, rounds: u32) -> Self {
        let PlanStats { counts, cost, shared_bytes, .. } = *stats;
        Self { rounds, counts: Some(counts), cycles: cost, shared_bytes }
    }
}

/// Names the field of a buffer that a bit belongs to.
#[derive(Clone)]
pub struct Legend(Arc<dyn Fn(u64) -> ElementBits + Send + Sync>);

/// Bits of a buffer that hold an element of the tensor under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementBits {
    /// Which register of which lane, or which offset, the field stands for.
    pub place: String,
    /// The element that it must hold.
    pub element: u64,
    /// Its first bit in the buffer.
    pub bit: u64,
    /// Its width.
    pub bits: u32,
}

impl Legend {
    /// A legend that names the field of every bit.
    pub fn new(field: impl Fn(u64) -> ElementBits + Send + Sync + 'static) -> Self {
        Self(Arc::new(field))
    }

    /// A legend of elements of so many bits side by side: place and element by the index in the buffer.
    pub(crate) fn of_elements(bits: u32, name: impl Fn(u64) -> (String, u64) + Send + Sync + 'static) -> Self {
        Self::new(move |bit| {
            let index = bit / u64::from(bits);
            let (place, element) = name(index);
            ElementBits { place, element, bit: index * u64::from(bits), bits }
        })
    }

    /// The field of a bit.
    #[must_use]
    pub fn field(&self, bit: u64) -> ElementBits {
        (self.0)(bit)
    }
}

impl fmt::Debug for Legend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Legend")
    }
}

/// The noise that outputs hold before.
const NOISE: u8 = 0xa5;

impl TestCase {
    /// A kernel that takes its buffers in their order.
    pub(crate) fn of_buffers(kernel: Kernel, blocks: u32, buffers: Vec<TestBuffer>) -> Self {
        let arguments = (0..buffers.len()).map(CaseValue::Buffer).collect();
        Self::new(kernel, [blocks, 1, 1], arguments, buffers)
    }

    /// A kernel of which nothing is predicted.
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

    /// What a plan counts of a kernel that does what is planned once, and the figures that it predicts.
    pub(crate) fn with_plan(self, stats: &PlanStats) -> Self {
        self.with_counts(ExpectedCounts::all(stats.counts, stats.bound)).with_predicted(Predicted::of(stats, 1))
    }

    pub(crate) fn with_predicted(mut self, predicted: Predicted) -> Self {
        self.launch.predicted = Some(predicted);
        self
    }

    /// The same test with every expected buffer compared bit by bit, NaNs too. The emulator knows one NaN.
    #[must_use]
    pub fn with_exact_bits(mut self) -> Self {
        for TestBuffer { content, .. } in &mut self.launch.buffers {
            if matches!(content.after, Expectation::Expected { .. }) {
                content.shape = vec![content.before.len() as u64];
                content.element = CaseElement::Unsigned(8);
            }
        }
        self
    }
}

/// A buffer that is read and stays as it is.
pub(crate) fn input(number: usize, before: Vec<u8>) -> TestBuffer {
    let shape = vec![before.len() as u64];
    let element = CaseElement::Unsigned(8);
    CaseBuffer { name: format!("in{number}"), element, shape, before, after: Expectation::Unchanged }.into()
}

/// A buffer that the kernel writes: all of its elements, and it reads none before.
pub(crate) fn output(number: usize, element: CaseElement, shape: Vec<u64>, after: Expectation) -> TestBuffer {
    let before = vec![NOISE; shape.iter().product::<u64>() as usize * element.bytes()];
    let content = CaseBuffer { name: format!("out{number}"), element, shape, before, after };
    TestBuffer { content, is_output: true, legend: None }
}

/// A buffer that holds something before, and then exactly these bytes as elements of so many bits.
pub(crate) fn changed(name: &str, bits: u32, before: Vec<u8>, after: Vec<u8>, legend: Legend) -> TestBuffer {
    let element = CaseElement::Unsigned(bits);
    let shape = vec![(before.len() / element.bytes()) as u64];
    let content = CaseBuffer { name: name.to_owned(), element, shape, before, after: Expectation::exactly(after) };
    TestBuffer { content, is_output: false, legend: Some(legend) }
}
