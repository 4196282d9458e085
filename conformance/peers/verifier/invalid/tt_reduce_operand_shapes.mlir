// rule: tt.reduce: the operands have one shape
tt.func public @k(%a: tensor<64xf32>, %b: tensor<32xi32>) {
  %0:2 = "tt.reduce"(%a, %b) <{axis = 0 : i32}> ({
^bb0(%x: f32, %i: i32, %y: f32, %j: i32):
    tt.reduce.return %x, %i : f32, i32
  }) : (tensor<64xf32>, tensor<32xi32>) -> (f32, i32)
  tt.return
}
