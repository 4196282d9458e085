// rule: tt.scan: first all left values, then all right ones
tt.func public @k(%a: tensor<64xf32>, %b: tensor<64xi32>) {
  %0:2 = "tt.scan"(%a, %b) <{axis = 0 : i32, reverse = false}> ({
^bb0(%x: f32, %y: f32, %i: i32, %j: i32):
    tt.scan.return %x, %i : f32, i32
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  tt.return
}
