// rule: tt.splat: the result is a tensor
tt.func public @k(%a: f32) {
  %0 = "tt.splat"(%a) : (f32) -> f32
  tt.return
}
