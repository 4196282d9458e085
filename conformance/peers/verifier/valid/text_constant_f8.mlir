// shows: arith.constant: floats of 8 bits
tt.func public @k() {
  %0 = arith.constant 1.0 : f8E4M3FN
  %1 = arith.constant dense<2.0> : tensor<64xf8E5M2>
  tt.return
}
