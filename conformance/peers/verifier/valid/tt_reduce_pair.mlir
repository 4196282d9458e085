// shows: tt.reduce: a maximum and its place
tt.func public @k(%a: tensor<64xf32>, %b: tensor<64xi32>) {
  %0:2 = "tt.reduce"(%a, %b) <{axis = 0 : i32}> ({
^bb0(%x: f32, %i: i32, %y: f32, %j: i32):
    %g = arith.cmpf ogt, %x, %y : f32
    %m = arith.select %g, %x, %y : f32
    %k = arith.select %g, %i, %j : i32
    tt.reduce.return %m, %k : f32, i32
  }) : (tensor<64xf32>, tensor<64xi32>) -> (f32, i32)
  tt.return
}
