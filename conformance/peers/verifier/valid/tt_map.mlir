// shows: tt.map_elementwise: one element, and pairs
tt.func public @k(%a: tensor<64xf32>, %b: tensor<64xi32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 1 : i32}> ({
^bb0(%x: f32):
    %y = math.exp %x : f32
    tt.map_elementwise.return %y : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  %1:2 = "tt.map_elementwise"(%a, %b) <{pack = 2 : i32}> ({
^bb0(%x: f32, %y: f32, %i: i32, %j: i32):
    tt.map_elementwise.return %i, %j, %x, %y : i32, i32, f32, f32
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xf32>)
  tt.return
}
