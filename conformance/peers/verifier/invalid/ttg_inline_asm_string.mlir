// rule: ttg.inline_asm: it has a text
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    ttg.inline_asm {constraints = "r", pure = false} %x : (i32) -> ()
    tt.return
  }
}
