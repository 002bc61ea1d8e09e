//! The structures of Parquet's headers, as `parquet.thrift` has them.

use super::thrift::{Fields, Type};

use Type::{Binary, Bool, Byte, Double, I16, I32, I64, List, Struct};

/// `FileMetaData`.
pub(super) static FILE: &Fields = &[
    (1, I32),
    (2, List(&Struct(SCHEMA_ELEMENT))),
    (3, I64),
    (4, List(&Struct(ROW_GROUP))),
    (5, List(&Struct(KEY_VALUE))),
    (6, Binary),
    (7, List(&Struct(ANY))),
    (8, Struct(ANY)),
    (9, Binary),
];

/// `PageHeader`. Statistics are skipped.
pub(super) static PAGE: &Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, Struct(STATISTICS))])),
    (6, Struct(ANY)),
    (7, Struct(&[(1, I32), (2, I32), (3, Bool)])),
    (
        8,
        Struct(&[
            (1, I32),
            (2, I32),
            (3, I32),
            (4, I32),
            (5, I32),
            (6, I32),
            (7, Bool),
            (8, Struct(STATISTICS)),
        ]),
    ),
];

/// Structures of which nothing is needed.
static ANY: &Fields = &[];

static SCHEMA_ELEMENT: &Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, Binary),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, Struct(LOGICAL_TYPE)),
];

static TIME: &Fields =
    &[(1, Bool), (2, Struct(&[(1, Struct(ANY)), (2, Struct(ANY)), (3, Struct(ANY))]))];

static LOGICAL_TYPE: &Fields = &[
    (1, Struct(ANY)),
    (2, Struct(ANY)),
    (3, Struct(ANY)),
    (4, Struct(ANY)),
    (5, Struct(&[(1, I32), (2, I32)])),
    (6, Struct(ANY)),
    (7, Struct(TIME)),
    (8, Struct(TIME)),
    (10, Struct(&[(1, Byte), (2, Bool)])),
    (11, Struct(ANY)),
    (12, Struct(ANY)),
    (13, Struct(ANY)),
    (14, Struct(ANY)),
    (15, Struct(ANY)),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, I32)])),
];

static ROW_GROUP: &Fields = &[
    (1, List(&Struct(COLUMN_CHUNK))),
    (2, I64),
    (3, I64),
    (4, List(&Struct(&[(1, I32), (2, Bool), (3, Bool)]))),
    (5, I64),
    (6, I64),
    (7, I16),
];

static COLUMN_CHUNK: &Fields = &[
    (1, Binary),
    (2, I64),
    (3, Struct(COLUMN)),
    (4, I64),
    (5, I32),
    (6, I64),
    (7, I32),
    (8, Struct(ANY)),
    (9, Binary),
];

static COLUMN: &Fields = &[
    (1, I32),
    (2, List(&I32)),
    (3, List(&Binary)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, List(&Struct(KEY_VALUE))),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, I32), (2, I32), (3, I32)]))),
    (14, I64),
    (15, I32),
    (16, Struct(&[(1, I64), (2, List(&I64)), (3, List(&I64))])),
    (17, Struct(GEOSPATIAL)),
];

static KEY_VALUE: &Fields = &[(1, Binary), (2, Binary)];

static STATISTICS: &Fields = &[
    (1, Binary),
    (2, Binary),
    (3, I64),
    (4, I64),
    (5, Binary),
    (6, Binary),
    (7, Bool),
    (8, Bool),
    (9, I64),
];

static GEOSPATIAL: &Fields = &[
    (
        1,
        Struct(&[
            (1, Double),
            (2, Double),
            (3, Double),
            (4, Double),
            (5, Double),
            (6, Double),
            (7, Double),
            (8, Double),
        ]),
    ),
    (2, List(&I32)),
];
