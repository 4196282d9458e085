// shows: tt.scan: a linear recurrence, two values
tt.func public @k(%a: tensor<64xf32>, %b: tensor<64xf32>) {
  %0:2 = "tt.scan"(%a, %b) <{axis = 0 : i32, reverse = false}> ({
^bb0(%x: f32, %u: f32, %y: f32, %v: f32):
    %p = arith.mulf %x, %y : f32
    %q = math.fma %u, %y, %v : f32
    tt.scan.return %p, %q : f32, f32
  }) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  tt.return
}
