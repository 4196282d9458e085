// shows: ttg.fp4_to_fp: along each axis
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x32xi8>) {
    %0 = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<64x32xi8> -> tensor<64x64xf16>
    %1 = ttg.fp4_to_fp %a {axis = 0 : i32} : tensor<64x32xi8> -> tensor<128x32xbf16>
    tt.return
  }
}
