//! Names of element types in the tables of published atoms.

/// Returns this plugin's name of a published element type; `None` if no instruction has the type.
pub fn element(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" => "f32",
        "double" => "f64",
        "int" => "s32",
        "signed char" => "s8",
        "unsigned char" => "u8",
        "cutlass::half_t" => "f16",
        "cutlass::bfloat16_t" => "bf16",
        "cutlass::tfloat32_t" => "tf32",
        "cutlass::float_e4m3_t" => "e4m3",
        "cutlass::float_e5m2_t" => "e5m2",
        "cutlass::float_e2m1_t" => "e2m1",
        "cutlass::integer_subbyte<4, true>" => "s4",
        "cutlass::integer_subbyte<4, false>" => "u4",
        "cutlass::integer_subbyte<1, false>" => "b1",
        _ => return None,
    })
}
