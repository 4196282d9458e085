// rule: tt.splat: the result's elements are the source
tt.func public @k(%a: f32) {
  %0 = tt.splat %a : f32 -> tensor<64xf16>
  tt.return
}
