// shows: tt.join and tt.split without layouts
tt.func public @k(%a: tensor<32xf32>, %b: tensor<32xf32>) {
  %0 = tt.join %a, %b : tensor<32xf32> -> tensor<32x2xf32>
  %1, %2 = tt.split %0 : tensor<32x2xf32> -> tensor<32xf32>
  %3:2 = tt.split %0 : tensor<32x2xf32> -> tensor<32xf32>
  tt.return
}
