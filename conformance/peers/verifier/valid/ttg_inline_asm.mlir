// shows: ttg.inline_asm: with and without operands and results
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    ttg.inline_asm "bar.sync 0;" {constraints = "~{memory}", pure = false} : () -> ()
    %0 = ttg.inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", pure = true} %x : (i32) -> i32
    tt.return
  }
}
