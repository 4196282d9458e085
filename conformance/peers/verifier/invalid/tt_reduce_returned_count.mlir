// rule: tt.reduce: the block returns one value for each operand
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f32):
    tt.reduce.return %x, %y : f32, f32
  }) : (tensor<64xf32>) -> f32
  tt.return
}
