// shows: tt.reduce: a slice of a slice
#b3 = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#t = #ttg.slice<{dim = 2, parent = #b3}>
#u = #ttg.slice<{dim = 0, parent = #t}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<16x16x16xf32, #b3>) {
    %0 = "tt.reduce"(%a) <{axis = 2 : i32}> ({
  ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tt.reduce.return %s : f32
    }) : (tensor<16x16x16xf32, #b3>) -> tensor<16x16xf32, #t>
    %1 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tt.reduce.return %s : f32
    }) : (tensor<16x16xf32, #t>) -> tensor<16xf32, #u>
    tt.return
  }
}
