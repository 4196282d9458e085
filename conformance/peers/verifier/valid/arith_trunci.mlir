// shows: arith.trunci: from i64 to i8
tt.func public @k(%x: i64, %y: tensor<64xi64>) {
  %0 = arith.trunci %x : i64 to i8
  %1 = arith.trunci %y : tensor<64xi64> to tensor<64xi8>
  tt.return
}
