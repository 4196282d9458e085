// rule: tt.scan: the result has the operand's element type
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.scan"(%a) <{axis = 0 : i32, reverse = true}> ({
^bb0(%x: f32, %y: f32):
    tt.scan.return %x : f32
  }) : (tensor<64xf32>) -> tensor<64xi32>
  tt.return
}
