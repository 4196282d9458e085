//! Encodes tensor maps for a launch. Source: CUDA driver API, "Tensor Map Object Management".

#![allow(unsafe_code)]

use std::ffi::c_void;

use cudarc::driver::sys;
use tilewright_kernel::{MAX_TENSOR_MAP_RANK, OutOfBoundsFill, TensorMap, TensorMapBinding};
use tilewright_plugin::{DeviceBufferId, DeviceError, TensorMapParameter};

use super::driver_error::failed;

/// Oldest driver version that can encode tensor maps: CUDA 12.0, as `cuDriverGetVersion` numbers it.
const FIRST_DRIVER: i32 = 12_000;

/// Encodes the `CUtensorMap` of a tensor. `buffer` is the address of the tensor's buffer; `driver` is the version of
/// the driver.
pub(super) fn encode_tensor_map(
    of: &TensorMapParameter,
    tensor: &TensorMapBinding<DeviceBufferId>,
    buffer: u64,
    driver: i32,
) -> Result<sys::CUtensorMap, DeviceError> {
    if driver < FIRST_DRIVER {
        return Err(DeviceError::Unsupported(format!(
            "tensor maps, which drivers encode from CUDA 12.0 on; this one is {}.{}",
            driver / 1000,
            driver % 1000 / 10
        )));
    }
    let (map, rank) = (&of.map, of.map.rank());
    let bad = |message: String| DeviceError::BadLaunch(format!("argument {}: {message}", of.parameter));
    if rank == 0 || rank > MAX_TENSOR_MAP_RANK {
        return Err(bad(format!("a map of {rank} axes; expected 1 to {MAX_TENSOR_MAP_RANK}")));
    }
    let mode = of.mode.and_then(swizzle).ok_or_else(|| bad("its swizzle mode is unknown".to_owned()))?;
    let ty = data_type(map).ok_or_else(|| bad(format!("no tensor map has such elements: {map:?}")))?;
    let fill = match map.outside {
        OutOfBoundsFill::Zeros => sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        OutOfBoundsFill::NotANumber => sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    };
    // The driver takes no stride of the first axis, along which elements are contiguous.
    let strides = &tensor.strides[1..];
    let every_element = [1u32; MAX_TENSOR_MAP_RANK];
    let mut tensor_map = sys::CUtensorMap { opaque: [0; 16] };
    // SAFETY: writes one map; reads `rank` sizes, box sizes and element strides, and `rank - 1` strides.
    let code = unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut tensor_map,
            ty,
            rank as u32,
            buffer.wrapping_add(tensor.offset) as *mut c_void,
            tensor.sizes.as_ptr(),
            strides.as_ptr(),
            map.box_sizes.as_ptr(),
            every_element.as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            mode,
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            fill,
        )
    };
    code.result().map_err(|error| bad(failed("cuTensorMapEncodeTiled")(error).to_string()))?;
    Ok(tensor_map)
}

fn swizzle(mode: u32) -> Option<sys::CUtensorMapSwizzle> {
    Some(match mode {
        0 => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        1 => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        2 => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        3 => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        _ => return None,
    })
}

/// Returns a tensor map's data type for elements of the map's type, or of its width if it has none; `None` if CUDA has no
/// such type. Without a type it is a float only if the map fills elements outside of the tensor with NaN, for which CUDA
/// requires a float; no 8-bit type qualifies.
fn data_type(map: &TensorMap) -> Option<sys::CUtensorMapDataType> {
    use sys::CUtensorMapDataType as Type;
    let is_float = map.outside == OutOfBoundsFill::NotANumber;
    let by_width = || match (map.element_bits, is_float) {
        (8, false) => Some("u8"),
        (16, false) => Some("u16"),
        (32, false) => Some("u32"),
        (64, false) => Some("u64"),
        (16, true) => Some("f16"),
        (32, true) => Some("f32"),
        (64, true) => Some("f64"),
        _ => None,
    };
    Some(match map.element.as_deref().or_else(by_width)? {
        "u8" => Type::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        "u16" => Type::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        "u32" => Type::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        "s32" => Type::CU_TENSOR_MAP_DATA_TYPE_INT32,
        "u64" => Type::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        "s64" => Type::CU_TENSOR_MAP_DATA_TYPE_INT64,
        "f16" => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        "bf16" => Type::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        "f32" => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        "f64" => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        _ => return None,
    })
}
