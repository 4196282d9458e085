//! The table of PTX instructions.

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
use super::exchange;
use super::function;
use super::group_product;
use super::hints;
use super::matrix;
use super::mbarrier;
use super::moves;
use super::product;
use super::vote;
use crate::program::Row;

/// All rows.
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
    exchange::ROWS,
    vote::ROWS,
    barrier::ROWS,
    control::ROWS,
    matrix::ROWS,
    product::ROWS,
    group_product::ROWS,
    copy::ROWS,
    bulk::ROWS,
    mbarrier::ROWS,
    hints::ROWS,
];
