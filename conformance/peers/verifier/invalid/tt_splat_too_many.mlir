// rule: tt.splat: no more than 1048576 elements
tt.func public @k(%a: f32) {
  %0 = tt.splat %a : f32 -> tensor<2048x1024xf32>
  tt.return
}
