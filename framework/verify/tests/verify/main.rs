//! Tests of `verify`, one module per subject.

mod bulk_copies;
mod cases;
mod emulated_device;
mod host_buffers;
mod instruction_rows;
mod tensor_maps;
