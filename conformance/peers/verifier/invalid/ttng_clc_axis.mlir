// rule: ttng.clc_get_program_id: x, y or z
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%r: i128) {
    %0 = ttng.clc_get_program_id %r, w : i128 -> i32
    tt.return
  }
}
