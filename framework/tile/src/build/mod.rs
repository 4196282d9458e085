//! Builds functions one operation at a time.
//!
//! ```
//! use tilewright_tile::{Attribute, FunctionBuilder, TileModule, TileType, op::Dialects, verify_module};
//! let dialects = Dialects::neutral();
//! let i32 = TileType::integer(32);
//! let tensor = TileType::tensor([64], i32.clone(), None);
//! let mut function = FunctionBuilder::new(&dialects, "fill", vec![TileType::pointer(i32)]);
//! let out = function.arguments()[0];
//! let range = function.build_op("tt.make_range").attribute("start", 0).attribute("end", 64).result(tensor).value()?;
//! let pointers = TileType::tensor([64], function.ty(out).clone(), None);
//! let base = function.build_op("tt.splat").operand(out).result(pointers).value()?;
//! let places = function.build_op("tt.addptr").operand(base).operand(range).value()?;
//! function.build_op("tt.store").operand(places).operand(range).build()?;
//! function.build_op("tt.return").build()?;
//! let module = TileModule { functions: vec![function.finish()], ..TileModule::default() };
//! verify_module(&module)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod error;
mod operation;
mod values;

pub use builder::FunctionBuilder;
pub use error::BuildError;
pub use operation::OperationBuilder;
