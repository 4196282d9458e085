// shows: tt.fp_to_fp: up without, down with a rounding
tt.func public @k(%a: tensor<64xf8E5M2>, %b: f32, %c: f16) {
  %0 = tt.fp_to_fp %a : tensor<64xf8E5M2> -> tensor<64xf32>
  %1 = tt.fp_to_fp %0, rounding = rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %2 = tt.fp_to_fp %b, rounding = rtz : f32 -> f16
  %3 = tt.fp_to_fp %c : f16 -> bf16
  tt.return
}
