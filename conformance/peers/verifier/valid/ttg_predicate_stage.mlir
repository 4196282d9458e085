// shows: ttg.predicate_stage: numbers of 32 bits and index
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: i32, %j: index) {
    %0 = ttg.predicate_stage %i, %i, %i maxStage 2 stage 0 : i32 -> i1
    %1 = ttg.predicate_stage %j, %j, %j maxStage 1 stage 1 : index -> i1
    tt.return
  }
}
