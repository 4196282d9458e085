// rule: tt.reduce: one axis reduced gives a scalar, no tensor
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f32):
    %s = arith.maximumf %x, %y : f32
    tt.reduce.return %s : f32
  }) : (tensor<64xf32>) -> tensor<1xf32>
  tt.return
}
