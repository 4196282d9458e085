// rule: tt.reduce: the block's arguments have the element's type
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f16):
    tt.reduce.return %x : f32
  }) : (tensor<64xf32>) -> f32
  tt.return
}
