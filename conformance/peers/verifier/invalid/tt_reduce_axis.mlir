// rule: tt.reduce: axis is below the rank
tt.func public @k(%a: tensor<64x32xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 2 : i32}> ({
^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.reduce.return %s : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  tt.return
}
