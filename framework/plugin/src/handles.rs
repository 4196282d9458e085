//! Handle tables of a device: its buffers and loaded code by opaque numbers.

use std::collections::HashMap;

use tilewright_kernel::{TensorMap, TensorMapBinding};

use super::{Artifact, DeviceBufferId, DeviceError, KernelMetadata, LaunchArgument, LaunchRequest, LoadedCodeId};

/// A device's buffers and loaded code by number. Numbers are never reused, so stale handles are detected; a removed
/// entry is released by its own `drop`.
#[derive(Debug)]
pub struct DeviceObjectMap<Memory, Code> {
    buffers: HashMap<u64, (Memory, u64)>,
    codes: HashMap<u64, (Code, Vec<KernelMetadata>)>,
    next: u64,
}

impl<Memory, Code> Default for DeviceObjectMap<Memory, Code> {
    fn default() -> Self {
        Self { buffers: HashMap::new(), codes: HashMap::new(), next: 1 }
    }
}

impl<Memory, Code> DeviceObjectMap<Memory, Code> {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Adds a buffer of `bytes` bytes in `memory`; returns the new buffer's handle.
    pub fn insert_buffer(&mut self, memory: Memory, bytes: u64) -> DeviceBufferId {
        let number = self.number();
        self.buffers.insert(number, (memory, bytes));
        DeviceBufferId(number)
    }

    /// Removes a buffer and returns its memory; `None` if the handle is unknown.
    pub fn remove_buffer(&mut self, buffer: DeviceBufferId) -> Option<Memory> {
        self.buffers.remove(&buffer.0).map(|(memory, _)| memory)
    }

    /// Returns the memory of a buffer, after a check that it has `bytes` bytes from `offset` on.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`] if the buffer is unknown or too small.
    pub fn buffer_memory(&self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<&Memory, DeviceError> {
        let missing = || DeviceError::BadBuffer(format!("there is no buffer {} here", buffer.0));
        let (memory, size) = self.buffers.get(&buffer.0).ok_or_else(missing)?;
        match offset.checked_add(bytes).is_some_and(|end| end <= *size) {
            true => Ok(memory),
            false => Err(DeviceError::BadBuffer(format!("{bytes} bytes from {offset} on of a buffer of {size}"))),
        }
    }

    /// Returns the memory of a tensor that is passed for a tensor map, after a check that it has all elements of the
    /// tensor.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`] if the buffer is unknown or too small, [`DeviceError::BadLaunch`] if the tensor is
    /// inconsistent.
    pub fn mapped_tensor_memory(
        &self,
        given: &TensorMapBinding<DeviceBufferId>,
        map: &TensorMap,
    ) -> Result<&Memory, DeviceError> {
        let end = given.end_offset(map).map_err(|error| DeviceError::BadLaunch(error.to_string()))?;
        self.buffer_memory(given.buffer, 0, end)
    }

    /// Adds loaded code of an artifact; returns its handle.
    pub fn insert_code(&mut self, code: Code, artifact: &Artifact) -> LoadedCodeId {
        let number = self.number();
        self.codes.insert(number, (code, artifact.kernels.clone()));
        LoadedCodeId(number)
    }

    /// Removes loaded code and returns it; `None` if the handle is unknown.
    pub fn remove_code(&mut self, code: LoadedCodeId) -> Option<Code> {
        self.codes.remove(&code.0).map(|(code, _)| code)
    }

    /// Returns the code that a launch runs, and the metadata of the launched kernel.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the code or kernel is unknown, the grid has no blocks, or the arguments do not fit
    /// the kernel.
    pub fn resolve_launch(&self, launch: &LaunchRequest) -> Result<(&Code, &KernelMetadata), DeviceError> {
        let bad = |message: String| DeviceError::BadLaunch(message);
        let entry = self.codes.get(&launch.code.0);
        let (code, kernels) = entry.ok_or_else(|| bad(format!("no code {} is loaded here", launch.code.0)))?;
        let kernel = kernels.iter().find(|kernel| kernel.name == launch.kernel);
        let kernel = kernel.ok_or_else(|| bad(format!("the code has no kernel `{}`", launch.kernel)))?;
        if launch.grid.contains(&0) {
            return Err(bad(format!("a grid of {:?} blocks", launch.grid)));
        }
        // Without parameter types the arguments cannot be checked, and some runtimes would read past the end of too few
        // arguments.
        let unknown = || bad("the artifact has no parameter types of its kernels; compile it again".to_owned());
        let parameters = kernel.parameters.as_ref().ok_or_else(unknown)?;
        check_arguments(parameters, &launch.arguments)
            .map_err(|what| bad(format!("kernel `{}` {what}", kernel.name)))?;
        Ok((code, kernel))
    }
}

/// Checks that every parameter has an argument of the parameter's width in bits. Widths do not distinguish an address
/// from another 64-bit value.
fn check_arguments(parameters: &[u32], arguments: &[LaunchArgument]) -> Result<(), String> {
    if parameters.len() != arguments.len() {
        return Err(format!("takes {} arguments, {} were passed", parameters.len(), arguments.len()));
    }
    for (number, (&bits, argument)) in parameters.iter().zip(arguments).enumerate() {
        let given = match *argument {
            LaunchArgument::Buffer(_) | LaunchArgument::Pointer { .. } => 64,
            LaunchArgument::Scalar { width, .. } => width,
            LaunchArgument::Tensor(_) if bits == 0 => continue,
            LaunchArgument::Tensor(_) => {
                return Err(format!("takes {bits} bits as argument {number}, a tensor was passed"));
            }
        };
        if bits == 0 {
            return Err(format!("takes a tensor as argument {number}, {given} bits were passed"));
        }
        // A bool (i1) is one bit in programs and a byte in kernels.
        if given.div_ceil(8) != bits.div_ceil(8) {
            return Err(format!("takes {bits} bits as argument {number}, {given} were passed"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(parameters: Option<Vec<u32>>) -> KernelMetadata {
        let (name, maps) = ("add".to_owned(), Vec::new());
        KernelMetadata { name, lanes: 32, warps: 1, blocks: 1, shared_bytes: 0, registers: 0, maps, parameters }
    }

    fn handles(
        parameters: Option<Vec<u32>>,
    ) -> (DeviceObjectMap<&'static str, &'static str>, LoadedCodeId, DeviceBufferId) {
        let mut handles = DeviceObjectMap::default();
        let artifact = Artifact { payloads: Vec::new(), kernels: vec![metadata(parameters)], accepted_by: None };
        let (code, buffer) = (handles.insert_code("code", &artifact), handles.insert_buffer("memory", 16));
        (handles, code, buffer)
    }

    #[test]
    fn ranges_are_of_their_buffer() {
        let (mut handles, _, buffer) = handles(None);
        assert_eq!(handles.buffer_memory(buffer, 0, 16), Ok(&"memory"));
        assert_eq!(handles.buffer_memory(buffer, 16, 0), Ok(&"memory"));
        for (offset, bytes) in [(0, 17), (16, 1), (u64::MAX, 1), (1, u64::MAX)] {
            assert!(
                matches!(handles.buffer_memory(buffer, offset, bytes), Err(DeviceError::BadBuffer(_))),
                "{offset}, {bytes}"
            );
        }
        handles.remove_buffer(buffer);
        assert!(matches!(handles.buffer_memory(buffer, 0, 0), Err(DeviceError::BadBuffer(_))));
        assert_ne!(handles.insert_buffer("again", 16), buffer, "a number that was good once is good for nothing else");
    }

    #[test]
    fn launches_are_of_a_kernel_and_its_arguments() {
        let (mut handles, code, buffer) = handles(Some(vec![64, 32]));
        let good = LaunchRequest {
            code,
            kernel: "add".to_owned(),
            grid: [1, 2, 3],
            arguments: vec![LaunchArgument::Buffer(buffer), LaunchArgument::Scalar { bits: 7, width: 32 }],
        };
        assert_eq!(handles.resolve_launch(&good).map(|(code, kernel)| (*code, kernel.lanes)), Ok(("code", 32)));
        let wrong = [
            LaunchRequest { code: LoadedCodeId(99), ..good.clone() },
            LaunchRequest { kernel: "sub".to_owned(), ..good.clone() },
            LaunchRequest { grid: [1, 0, 1], ..good.clone() },
            LaunchRequest { arguments: good.arguments[..1].to_vec(), ..good.clone() },
            LaunchRequest { arguments: good.arguments.iter().rev().copied().collect(), ..good.clone() },
        ];
        for launch in wrong {
            assert!(matches!(handles.resolve_launch(&launch), Err(DeviceError::BadLaunch(_))), "{launch:?}");
        }
        handles.remove_code(code);
        assert!(matches!(handles.resolve_launch(&good), Err(DeviceError::BadLaunch(_))));
    }

    #[test]
    fn code_of_unknown_arguments_is_not_launched() {
        let (handles, code, _) = handles(None);
        let launch = LaunchRequest { code, kernel: "add".to_owned(), grid: [1, 1, 1], arguments: Vec::new() };
        assert!(matches!(handles.resolve_launch(&launch), Err(DeviceError::BadLaunch(_))));
    }
}
