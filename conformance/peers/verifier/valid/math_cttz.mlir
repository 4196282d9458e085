// shows: math.cttz: a scalar and a tensor
tt.func public @k(%x: i32, %y: tensor<64xi64>) {
  %0 = math.cttz %x : i32
  %1 = math.cttz %y : tensor<64xi64>
  tt.return
}
