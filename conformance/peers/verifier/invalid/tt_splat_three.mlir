// rule: tt.splat: the result has a power of two of elements
tt.func public @k(%a: f32) {
  %0 = tt.splat %a : f32 -> tensor<3x8xf32>
  tt.return
}
