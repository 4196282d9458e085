// rule: amdg.scaled_upcast_fp8: e4m3 or e5m2
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xf16>, %s: tensor<64x64xbf16>) {
    %0 = amdg.scaled_upcast_fp8 %a scale %s : tensor<64x64xf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    tt.return
  }
}
