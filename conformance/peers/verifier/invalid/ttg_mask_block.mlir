// rule: ttg.mask: one block
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: i1) {
    "ttg.mask"(%c) ({
      cf.br ^a
  ^a:
      "ttg.mask.return"() : () -> ()
    }) : (i1) -> ()
    tt.return
  }
}
