// shows: amdg.extract_slice: rows, and the whole
#x = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #x>) {
    %0 = amdg.extract_slice %a [48, 0] : tensor<64x64xf32, #x> to tensor<16x64xf32, #x>
    %1 = amdg.extract_slice %a [0, 0] : tensor<64x64xf32, #x> to tensor<64x64xf32, #x>
    tt.return
  }
}
