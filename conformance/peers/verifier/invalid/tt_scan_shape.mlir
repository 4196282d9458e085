// rule: tt.scan: the result has the operand's shape
tt.func public @k(%a: tensor<64x32xf32>) {
  %0 = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.scan.return %s : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  tt.return
}
