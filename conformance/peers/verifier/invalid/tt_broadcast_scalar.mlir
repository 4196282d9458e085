// rule: tt.broadcast: the source is a tensor
tt.func public @k(%a: f32) {
  %0 = tt.broadcast %a : f32 -> tensor<64xf32>
  tt.return
}
