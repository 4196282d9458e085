// shows: amdg.scaled_upcast_fp8 and amdg.scaled_upcast_fp4 without layouts
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xf8E4M3FN>, %s: tensor<64x64xbf16>, %b: tensor<64x32xi8>) {
    %0 = amdg.scaled_upcast_fp8 %a scale %s : tensor<64x64xf8E4M3FN>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    tt.return
  }
}
