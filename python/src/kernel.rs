//! Compiled kernels, and their runs on the emulator.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tilewright::plugin::Target;
use tilewright::run::{EmulatedRun, HostBuffer, KernelArgument, KernelLaunch, bind_arguments, run_emulated};
use tilewright::target::OptimizationSet;
use tilewright_emulator::RunLimits;
use tilewright_kernel::Module;

use crate::errors;

/// A tile program compiled to kernel IR for a target.
#[pyclass(frozen, module = "tilewright._native")]
pub struct Kernel {
    target: Arc<dyn Target>,
    kernel: tilewright_kernel::Kernel,
    layouts: String,
    report: String,
    disabled: OptimizationSet,
}

impl Kernel {
    pub fn new(target: Arc<dyn Target>, kernel: tilewright_kernel::Kernel, layouts: String, report: String) -> Self {
        Self { target, kernel, layouts, report, disabled: OptimizationSet::default() }
    }

    /// Returns the kernel with these optimizations disabled in code generation.
    pub fn with_disabled(self, disabled: OptimizationSet) -> Self {
        Self { disabled, ..self }
    }

    pub fn disabled(&self) -> OptimizationSet {
        self.disabled
    }

    pub fn kernel(&self) -> &tilewright_kernel::Kernel {
        &self.kernel
    }
}

/// An argument of a launch from Python. For a scalar: its width in bits, its bits, and an unused number. For a pointer:
/// 0, the offset in bytes, and the index of the buffer.
type Argument = (u32, u64, usize);

/// The result of a run in Python: the new contents of each buffer, or None for an unchanged one; the counts of the run
/// by name; the lines that the kernel printed.
type Outcome<'py> = (Vec<Option<Bound<'py, PyBytes>>>, Bound<'py, PyDict>, Vec<String>);

/// Returns the buffers of a launch, given the contents of each buffer and, if the kernel loads pointers from memory,
/// the address of each.
fn host_buffers<'a>(bytes: &[&'a [u8]], addresses: Option<&[u64]>) -> Vec<HostBuffer<'a>> {
    let address = |index: usize| addresses.and_then(|addresses| addresses.get(index).copied());
    let buffers = bytes.iter().enumerate();
    buffers.map(|(index, bytes)| HostBuffer { address: address(index), ..HostBuffer::new(bytes) }).collect()
}

#[pymethods]
impl Kernel {
    /// Name of the kernel.
    #[getter]
    fn name(&self) -> &str {
        &self.kernel.name
    }

    /// Name of the target.
    #[getter]
    pub fn target_name(&self) -> &str {
        &self.target.description().name
    }

    /// Lanes of a warp.
    #[getter]
    fn lanes(&self) -> u32 {
        self.kernel.launch.lanes
    }

    /// Warps of a block.
    #[getter]
    fn warps(&self) -> u32 {
        self.kernel.launch.warps
    }

    /// Blocks of a cluster.
    #[getter]
    fn blocks(&self) -> u32 {
        self.kernel.launch.blocks
    }

    /// Bytes of shared memory of a block.
    #[getter]
    fn shared_bytes(&self) -> u64 {
        self.kernel.shared_bytes()
    }

    /// The names and types of the parameters that a launch gives.
    #[getter]
    fn parameters(&self) -> Vec<(String, String)> {
        let given = self.kernel.parameters.iter().filter(|parameter| parameter.rows.is_none());
        given.map(|parameter| (parameter.name.clone(), parameter.ty.to_string())).collect()
    }

    /// The kernel IR as text.
    #[getter]
    fn text(&self) -> String {
        Module { kernels: vec![self.kernel.clone()] }.to_string()
    }

    /// The kernel IR as bytes, from which a session of the same version makes the kernel again.
    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &tilewright_kernel::encode_module(&Module { kernels: vec![self.kernel.clone()] }))
    }

    /// The program with a layout for every tensor.
    #[getter]
    fn layouts(&self) -> &str {
        &self.layouts
    }

    /// The report of layout assignment: layouts, conversions and costs.
    #[getter]
    fn report(&self) -> &str {
        &self.report
    }

    /// Runs the kernel on the emulator over `grid` programs. Returns the new contents of each buffer, or None for one
    /// that is unchanged; the counts of the run; and the printed lines.
    ///
    /// `addresses` has the address of each buffer, for kernels that load pointers from memory; without it, buffers are
    /// far from each other. With `races`, unordered accesses of global memory are faults. With `sampled_steps`, only
    /// some programs run: after this number of operations, no further one starts.
    #[pyo3(signature = (grid, arguments, buffers, max_steps, addresses = None, races = false, sampled_steps = None))]
    #[allow(clippy::too_many_arguments, reason = "arguments of Python")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        grid: [u32; 3],
        arguments: Vec<Argument>,
        buffers: Vec<Bound<'py, PyBytes>>,
        max_steps: u64,
        addresses: Option<Vec<u64>>,
        races: bool,
        sampled_steps: Option<u64>,
    ) -> PyResult<Outcome<'py>> {
        let bytes: Vec<&[u8]> = buffers.iter().map(|buffer| buffer.as_bytes()).collect();
        let sizes: Vec<u64> = bytes.iter().map(|bytes| bytes.len() as u64).collect();
        let names: Vec<String> = (0..arguments.len()).map(|index| index.to_string()).collect();
        let given = names.iter().map(String::as_str).zip(arguments.into_iter().map(|argument| match argument {
            (0, offset, buffer) => KernelArgument::Pointer { buffer, offset },
            (width, bits, _) => KernelArgument::Scalar { bits, width },
        }));
        let arguments = bind_arguments(&self.kernel, &given.collect::<Vec<_>>(), &sizes);
        let arguments = arguments.map_err(|message| errors::input(py, &message))?;
        let [x, y, z] = grid;
        let blocks = x.checked_mul(self.kernel.launch.blocks);
        let x = blocks.ok_or_else(|| errors::input(py, "the grid has too many blocks"))?;
        let printed = Mutex::new(Vec::new());
        let outcome = py.detach(|| {
            let launch = KernelLaunch {
                grid: [x, y, z],
                arguments: &arguments,
                buffers: host_buffers(&bytes, addresses.as_deref()),
            };
            let limits = RunLimits { steps: max_steps, global_races: races, sampled_steps, ..RunLimits::default() };
            let print = |line: tilewright_emulator::LanePrintRecord| {
                printed.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_string());
            };
            run_emulated(&self.kernel, &*self.target, &launch, &limits, Some(&print))
        });
        let EmulatedRun { changed, report } = outcome.map_err(|error| errors::run(py, &error))?;
        let changed = changed.into_iter().map(|bytes| bytes.map(|bytes| PyBytes::new(py, &bytes))).collect();
        let counts = PyDict::new(py);
        for (name, count) in [
            ("steps", report.steps),
            ("clusters", report.clusters),
            ("sectors_loaded", report.transactions_loaded),
            ("sectors_stored", report.transactions_stored),
            ("shared_bytes_stored", report.shared_bytes_stored),
            ("shuffles", report.counts.shuffles),
            ("wavefronts_loaded", report.counts.wavefronts_loaded),
            ("wavefronts_stored", report.counts.wavefronts_stored),
        ] {
            counts.set_item(name, count)?;
        }
        Ok((changed, counts, printed.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}
