// rule: tt.reduce: the block has two arguments for each operand
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32):
    tt.reduce.return %x : f32
  }) : (tensor<64xf32>) -> f32
  tt.return
}
