// shows: tt.dot: every input precision, and maxNumImpreciseAcc
tt.func public @k(%a: tensor<32x64xf32>, %b: tensor<64x16xf32>, %c: tensor<32x16xf32>) {
  %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
  %1 = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
  %2 = tt.dot %a, %b, %c, inputPrecision = ieee {maxNumImpreciseAcc = 64 : i32} : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
  %3 = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
  %4 = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
  tt.return
}
