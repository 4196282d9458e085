// shows: tt.cat: two tensors behind each other
tt.func public @k(%a: tensor<32xf32>, %b: tensor<32xf32>) {
  %0 = tt.cat %a, %b : tensor<32xf32> -> tensor<64xf32>
  tt.return
}
