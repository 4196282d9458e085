// shows: math.ctpop: a scalar and a tensor
tt.func public @k(%x: i32, %y: tensor<64xi64>) {
  %0 = math.ctpop %x : i32
  %1 = math.ctpop %y : tensor<64xi64>
  tt.return
}
