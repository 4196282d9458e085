// shows: tt.elementwise_inline_asm: none but a result
tt.func public @k() {
  %0 = tt.elementwise_inline_asm "mov.u32 $0, %clock;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  tt.return
}
