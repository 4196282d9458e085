//! Constants, as sums of numbers; derived by `constants.py` beside this file.

use super::super::table::Table;

/// log2(e).
pub(crate) const LOG2_E: Table =
    Table { single: &[1.442695, 1.925963e-8], double: &[1.4426950408889634, 2.0355273740931033e-17] };

/// log10(e).
pub(crate) const LOG10_E: Table =
    Table { single: &[0.4342945, -1.010305e-8], double: &[0.4342944819032518, 1.098319650216765e-17] };

/// log2(10).
pub(crate) const LOG2_10: Table = Table { single: &[3.321928], double: &[3.321928094887362] };

/// log(2), the first part short: its product with an exponent is exact.
pub(crate) const LN_2: Table =
    Table { single: &[0.69314575, 1.4286068e-6], double: &[0.6931471805601177, -1.7239444525614835e-13] };

/// log10(2), the first part short: its product with an exponent is exact.
pub(crate) const LOG10_2: Table =
    Table { single: &[0.3010254, 4.605039e-6], double: &[0.3010299956640665, -8.532344317057107e-14] };

/// 2 / pi.
pub(crate) const TWO_OVER_PI: Table = Table { single: &[0.63661975], double: &[0.6366197723675814] };

/// pi / 2.
pub(crate) const HALF_PI: Table = Table {
    single: &[1.5707964, -4.371139e-8, -1.7151245e-15],
    double: &[1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33],
};

/// pi.
pub(crate) const PI: Table =
    Table { single: &[3.1415927, -8.742278e-8], double: &[3.141592653589793, 1.2246467991473532e-16] };

/// log(2 pi) / 2.
pub(crate) const HALF_LOG_TAU: Table =
    Table { single: &[0.9189385, 1.5634177e-8], double: &[0.9189385332046728, -3.8782941580672414e-17] };

/// 2 / 3.
pub(crate) const TWO_THIRDS: Table =
    Table { single: &[0.6666667, -1.9868216e-8], double: &[0.6666666666666666, 3.700743415417188e-17] };

/// The binary digits of 2 / pi behind the point, after 10 zeros, the first in the highest bit of the first word.
pub(crate) const TWO_OVER_PI_SINGLE: [u32; 7] =
    [0x0028_be60, 0xdb93_9105, 0x4a7f_09d5, 0xf47d_4d37, 0x7036_d8a5, 0x664f_10e4, 0x107f_9458];

/// The binary digits of 2 / pi behind the point, after 24 zeros, the first in the highest bit of the first word.
pub(crate) const TWO_OVER_PI_DOUBLE: [u64; 19] = [
    0x0000_00a2_f983_6e4e,
    0x4415_29fc_2757_d1f5,
    0x34dd_c0db_6295_993c,
    0x4390_41fe_5163_abde,
    0xbbc5_61b7_246e_3a42,
    0x4dd2_e006_492e_ea09,
    0xd192_1cfe_1deb_1cb1,
    0x29a7_3ee8_8235_f52e,
    0xbb44_84e9_9c70_26b4,
    0x5f7e_4139_91d6_3983,
    0x5339_f49c_845f_8bbd,
    0xf928_3b1f_f897_ffde,
    0x0598_0fef_2f11_8b5a,
    0x0a6d_1f6d_367e_cf27,
    0xcb09_b74f_463f_669e,
    0x5fea_2d75_27ba_c7eb,
    0xe5f1_7b3d_0739_f78a,
    0x5292_ea6b_fb5f_b11f,
    0x8d5d_0856_0330_46fc,
];
