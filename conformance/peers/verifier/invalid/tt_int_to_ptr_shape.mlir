// rule: tt.int_to_ptr: the shape stays
tt.func public @k(%a: tensor<64xi64>) {
  %0 = tt.int_to_ptr %a : tensor<64xi64> -> tensor<32x!tt.ptr<f32>>
  tt.return
}
