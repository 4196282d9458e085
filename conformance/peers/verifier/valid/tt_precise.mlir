// shows: tt.precise_sqrt, tt.precise_divf, tt.approx_divf, tt.mulhiui
tt.func public @k(%x: tensor<64xf32>, %i: tensor<64xi32>) {
  %0 = tt.precise_sqrt %x : tensor<64xf32>
  %1 = tt.precise_divf %x, %0 : tensor<64xf32>
  %2 = tt.approx_divf %x, %1 : tensor<64xf32>
  %3 = tt.mulhiui %i, %i : tensor<64xi32>
  tt.return
}
