// rule: ttng.tensormap_fenceproxy_acquire: it takes a pointer
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%b: i64) {
    "ttng.tensormap_fenceproxy_acquire"(%b) : (i64) -> ()
    tt.return
  }
}
