// rule: tt.return: the function's type
tt.func private @k(%x: i64) -> i32 {
  tt.return %x : i64
}
