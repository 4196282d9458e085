// rule: tt.reduce: axis is said
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) ({
^bb0(%x: f32, %y: f32):
    tt.reduce.return %x : f32
  }) : (tensor<64xf32>) -> f32
  tt.return
}
