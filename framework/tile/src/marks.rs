//! Attributes by which transformations and the engine say how an operation is carried out. No row of a dialect lists them: a program
//! may have them or not, and means the same.

/// Of a product: the row of the instruction table by which it is carried out.
pub const INSTRUCTION: &str = "tw.instruction";

/// Of a product: how many elements of K a lane holds side by side.
pub const K_WIDTH: &str = "tw.kWidth";

/// Of a product: how many columns of the result a lane holds side by side.
pub const N_WIDTH: &str = "tw.nWidth";

/// Of a product: how many warps lie along M and along N.
pub const WARPS_ALONG: &str = "tw.warpsAlong";

/// Of a product with [`WARPS_ALONG`]: the unit's first factor is `b`.
pub const EXCHANGED: &str = "tw.exchanged";

/// Of a product with [`WARPS_ALONG`] by plain multiply-adds: how many lanes lie along M.
pub const LANES_ALONG: &str = "tw.lanesAlong";

/// Of a product: each warp is to keep whole rows of the result.
pub const WHOLE_ROWS: &str = "tw.wholeRows";

/// Of a `tt.dot`: its result is not needed before a `tw.await_products` gives it.
pub const PENDING: &str = "tw.pending";

/// Of a `ttg.local_load`: its result is a factor that the unit reads where it lies, and nothing is loaded.
pub const IN_PLACE: &str = "tw.inPlace";

/// Of a load: it is for a later turn, and nothing waits for it where it is issued.
pub const AHEAD: &str = "tw.ahead";

/// Of a store to shared memory: nothing else accesses its places between the meetings of the block before and after it. It goes to a
/// buffer of its own, and needs no meeting.
pub const APART: &str = "tw.apart";
