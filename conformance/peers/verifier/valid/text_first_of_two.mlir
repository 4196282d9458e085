// shows: %0 for the first of %0:2
tt.func public @k(%a: tensor<32x2xf32>) {
  %17:2 = tt.split %a : tensor<32x2xf32> -> tensor<32xf32>
  %18 = arith.addf %17, %17#1 : tensor<32xf32>
  %19 = arith.addf %17#0, %18 : tensor<32xf32>
  tt.return
}
