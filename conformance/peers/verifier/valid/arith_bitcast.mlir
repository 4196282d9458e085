// shows: arith.bitcast: from i32 to f32
tt.func public @k(%x: i32, %y: tensor<64xi32>) {
  %0 = arith.bitcast %x : i32 to f32
  %1 = arith.bitcast %y : tensor<64xi32> to tensor<64xf32>
  tt.return
}
