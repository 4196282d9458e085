// shows: arith.uitofp: from i8 to f16
tt.func public @k(%x: i8, %y: tensor<64xi8>) {
  %0 = arith.uitofp %x : i8 to f16
  %1 = arith.uitofp %y : tensor<64xi8> to tensor<64xf16>
  tt.return
}
