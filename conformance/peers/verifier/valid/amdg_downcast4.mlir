// shows: amdg.scaled_downcast_fp4: two into a byte
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xbf16>, %s: tensor<64x2xi8>) {
    %0 = amdg.scaled_downcast_fp4 %a scale %s {axis = 1 : i32} : tensor<64x64xbf16>, tensor<64x2xi8> -> tensor<64x32xi8>
    tt.return
  }
}
