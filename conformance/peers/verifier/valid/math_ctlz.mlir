// shows: math.ctlz: a scalar and a tensor
tt.func public @k(%x: i32, %y: tensor<64xi64>) {
  %0 = math.ctlz %x : i32
  %1 = math.ctlz %y : tensor<64xi64>
  tt.return
}
