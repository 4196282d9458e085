// rule: a dialect that is loaded
tt.func public @k(%p: !tt.ptr<f32>) {
  "tx.load"(%p) : (!tt.ptr<f32>) -> ()
  tt.return
}
