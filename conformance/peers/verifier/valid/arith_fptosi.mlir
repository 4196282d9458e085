// shows: arith.fptosi: from f32 to i8
tt.func public @k(%x: f32, %y: tensor<64xf32>) {
  %0 = arith.fptosi %x : f32 to i8
  %1 = arith.fptosi %y : tensor<64xf32> to tensor<64xi8>
  tt.return
}
