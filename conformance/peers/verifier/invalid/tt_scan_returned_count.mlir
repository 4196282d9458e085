// rule: tt.scan: the block returns one value for each operand
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.scan"(%a) <{axis = 0 : i32, reverse = false}> ({
^bb0(%x: f32, %y: f32):
    tt.scan.return %x, %y : f32, f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  tt.return
}
