// rule: amdg.scaled_upcast_fp8: f16 or bf16
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xf8E5M2>, %s: tensor<64x64xbf16>) {
    %0 = amdg.scaled_upcast_fp8 %a scale %s : tensor<64x64xf8E5M2>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tt.return
  }
}
