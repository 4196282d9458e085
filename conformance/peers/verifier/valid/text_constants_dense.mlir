// shows: arith.constant: tensors, all equal and one by one
tt.func public @k() {
  %0 = arith.constant dense<0> : tensor<64xi32>
  %1 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %2 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %3 = arith.constant dense<true> : tensor<64xi1>
  %4 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %5 = arith.constant dense<"0x0100000002000000"> : tensor<2xi32>
  tt.return
}
