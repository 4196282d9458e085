// shows: tt.int_to_ptr and tt.ptr_to_int
tt.func public @k(%a: i64, %b: tensor<64x!tt.ptr<f32>>) {
  %0 = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  %1 = tt.ptr_to_int %b : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
  %2 = tt.int_to_ptr %1 : tensor<64xi64> -> tensor<64x!tt.ptr<i8>>
  tt.return
}
