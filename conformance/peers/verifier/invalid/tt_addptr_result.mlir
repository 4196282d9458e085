// rule: tt.addptr: the result has the pointer's type
tt.func public @k(%p: !tt.ptr<f32>, %o: i32) {
  %0 = "tt.addptr"(%p, %o) : (!tt.ptr<f32>, i32) -> !tt.ptr<f16>
  tt.return
}
