//! The table of all PTX instructions that the virtual device executes.

use super::access;
use super::arithmetic;
use super::atomic;
use super::barrier;
use super::bits;
use super::bulk;
use super::carry;
use super::compare;
use super::control;
use super::convert;
use super::copy;
use super::function;
use super::hints;
use super::matrix;
use super::mbarrier;
use super::mma;
use super::moves;
use super::shuffle;
use super::tensor_map;
use super::vote;
use super::wgmma;
use crate::program::Row;

/// All rows of the table of PTX instructions, one group for each module.
pub(crate) const ROWS: &[&[Row]] = &[
    arithmetic::ROWS,
    carry::ROWS,
    bits::ROWS,
    function::ROWS,
    convert::ROWS,
    compare::ROWS,
    moves::ROWS,
    access::ROWS,
    atomic::ROWS,
    shuffle::ROWS,
    vote::ROWS,
    barrier::ROWS,
    control::ROWS,
    matrix::ROWS,
    mma::ROWS,
    wgmma::ROWS,
    copy::ROWS,
    bulk::ROWS,
    tensor_map::ROWS,
    mbarrier::ROWS,
    hints::ROWS,
];
