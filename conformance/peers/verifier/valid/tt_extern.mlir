// shows: tt.extern_elementwise: one operand, two, a scalar
tt.func public @k(%a: tensor<64xf32>, %x: f32, %y: i32) {
  %0 = tt.extern_elementwise %a {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_tanf"} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = tt.extern_elementwise %a, %a {libname = "", libpath = "/no/where.bc", pure = true, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = false, symbol = "my_fn"} : (f32, i32) -> f32
  tt.return
}
