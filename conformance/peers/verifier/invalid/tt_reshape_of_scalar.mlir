// rule: tt.reshape: the source is a tensor
tt.func public @k(%a: f32) {
  %0 = "tt.reshape"(%a) : (f32) -> tensor<1xf32>
  tt.return
}
