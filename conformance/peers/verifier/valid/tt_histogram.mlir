// shows: tt.histogram: with and without a mask
tt.func public @k(%a: tensor<64xi32>, %m: tensor<64xi1>) {
  %0 = tt.histogram %a : tensor<64xi32> -> tensor<16xi32>
  %1 = tt.histogram %a, %m : tensor<64xi32> -> tensor<128xi32>
  tt.return
}
