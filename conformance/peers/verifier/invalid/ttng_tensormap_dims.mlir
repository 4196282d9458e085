// rule: ttng.tensormap_create: as many lengths as box lengths
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.ptr<i8>, %p: !tt.ptr<f16>, %n: i32, %s: i64) {
    ttng.tensormap_create %d, %p, [%n, %n], [%n], [%s], [%n, %n] {elem_type = 6 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32, fill_mode = 0 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i64, i32, i32) -> ()
    tt.return
  }
}
