// rule: tt.reduce: the reduced axis does not stay with length 1
tt.func public @k(%a: tensor<64x32xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 1 : i32}> ({
^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.reduce.return %s : f32
  }) : (tensor<64x32xf32>) -> tensor<64x1xf32>
  tt.return
}
