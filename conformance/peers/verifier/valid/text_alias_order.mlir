// shows: aliases before and behind their uses, of types too
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
!p = !tt.ptr<f32>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !p, %a: tensor<64x64xf32, #b2>) {
    %0 = tt.load %p : !p
    tt.return
  }
}
