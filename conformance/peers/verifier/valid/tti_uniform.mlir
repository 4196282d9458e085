// shows: tti.experimental_assert_uniform and tti.experimental_cluster_cta_id
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: i1) {
    tti.experimental_assert_uniform %c, "all or none"
    %0 = tti.experimental_cluster_cta_id : i32
    tt.return
  }
}
