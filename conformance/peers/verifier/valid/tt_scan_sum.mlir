// shows: tt.scan: forwards and backwards
tt.func public @k(%a: tensor<64x32xf32>) {
  %0 = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.scan.return %s : f32
  }) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = "tt.scan"(%a) <{axis = 0 : i32, reverse = true}> ({
^bb0(%x: f32, %y: f32):
    %s = arith.mulf %x, %y : f32
    tt.scan.return %s : f32
  }) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  tt.return
}
