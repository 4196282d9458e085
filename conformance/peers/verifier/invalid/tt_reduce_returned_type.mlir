// rule: tt.reduce: the block returns the element's type
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f32):
    %c = arith.cmpf olt, %x, %y : f32
    tt.reduce.return %c : i1
  }) : (tensor<64xf32>) -> f32
  tt.return
}
