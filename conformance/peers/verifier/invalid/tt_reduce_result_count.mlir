// rule: tt.reduce: as many results as operands
tt.func public @k(%a: tensor<64xf32>, %b: tensor<64xi32>) {
  %0 = "tt.reduce"(%a, %b) <{axis = 0 : i32}> ({
^bb0(%x: f32, %i: i32, %y: f32, %j: i32):
    tt.reduce.return %x, %i : f32, i32
  }) : (tensor<64xf32>, tensor<64xi32>) -> f32
  tt.return
}
