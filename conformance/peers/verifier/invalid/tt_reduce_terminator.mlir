// rule: tt.reduce: the block ends with tt.reduce.return
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f32):
    tt.scan.return %x : f32
  }) : (tensor<64xf32>) -> f32
  tt.return
}
