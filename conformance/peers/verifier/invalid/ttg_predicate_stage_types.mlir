// rule: ttg.predicate_stage: its three numbers have one type
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: i32, %n: i64) {
    %0 = ttg.predicate_stage %i, %n, %i maxStage 2 stage 0 : i32 -> i1
    tt.return
  }
}
