// rule: tt.store: it has an address and a value
tt.func public @k(%p: !tt.ptr<f32>) {
  "tt.store"(%p) : (!tt.ptr<f32>) -> ()
  tt.return
}
