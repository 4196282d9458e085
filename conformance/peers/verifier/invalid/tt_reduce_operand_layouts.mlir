// rule: tt.reduce: the operands have one layout
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#s1 = #ttg.slice<{dim = 1, parent = #b2}>
#t1 = #ttg.slice<{dim = 1, parent = #b2t}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #b2>, %b: tensor<64x64xi32, #b2t>) {
    %0:2 = "tt.reduce"(%a, %b) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %i: i32, %y: f32, %j: i32):
      tt.reduce.return %x, %i : f32, i32
    }) : (tensor<64x64xf32, #b2>, tensor<64x64xi32, #b2t>) -> (tensor<64xf32, #s1>, tensor<64xi32, #t1>)
    tt.return
  }
}
