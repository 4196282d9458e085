// shows: arith.fptoui: from bf16 to i32
tt.func public @k(%x: bf16, %y: tensor<64xbf16>) {
  %0 = arith.fptoui %x : bf16 to i32
  %1 = arith.fptoui %y : tensor<64xbf16> to tensor<64xi32>
  tt.return
}
