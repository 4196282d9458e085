// shows: math.absi: a scalar and a tensor
tt.func public @k(%x: i32, %y: tensor<64xi64>) {
  %0 = math.absi %x : i32
  %1 = math.absi %y : tensor<64xi64>
  tt.return
}
