// shows: tt.func: attributes of arguments and of itself
tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 8 : i32, tt.contiguity = 1 : i32}, %d: !tt.ptr<i8> {tt.nv_tma_desc = 1 : i32}) attributes {noinline = false, "ttg.num-warps" = 8 : i32} {
  tt.return
}
