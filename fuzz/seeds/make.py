"""Writes the seeds of this folder that need no other program than Python; those that lehr itself
writes come from `cargo test -p lehr --test hostile -- --ignored`. Names that start with ok- are read,
those that start with bad- are refused: crates/lehr/tests/hostile holds them to it. Run it here; the
files are checked in."""

import gzip
import os
import struct
import zlib


def seed(name, content):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


seed("uci/ok-small.txt", "3\n4\n4\n1 1 2\n1 3 1\n3 4 7\n3 1 0.5\n")
seed("uci/ok-any_order.txt", "2\n2\n3\n2 2 1\n1 1 1\n1 1 2\n")
seed("uci/bad-more_words_than_entries.txt", "1\n4294967295\n1\n1 1 1\n")
seed("uci/bad-more_docs_than_entries.txt", "4294967295\n1\n1\n1 1 1\n")
seed("uci/bad-more_entries_than_lines.txt", "1\n1\n9999999999999999999\n1 1 1\n")
seed("uci/bad-word_0.txt", "1\n1\n1\n1 0 1\n")
seed("ldac/ok-small.dat", "2 0:1 3:2\n0\n1 1:4\n")
seed("ldac/bad-word_too_high.dat", "1 4294967294:1\n")
seed("ldac/bad-promise.dat", "18446744073709551615 0:1\n")
seed("svmlight/ok-small.svm", "1 1:2 4:0.5 # comment\n-1 qid:3 2:1\n+1\n")
seed("svmlight/bad-word_too_high.svm", "1 4294967294:1\n")
seed("matrix_market/ok-small.mtx", "%%MatrixMarket matrix coordinate integer general\n% c\n3 4 2\n1 1 2\n3 4 1\n")
seed("matrix_market/bad-sizes.mtx", "%%MatrixMarket matrix coordinate real general\n9999999 9999999 1\n1 1 2\n")
seed("text/ok-small.txt", "The bank raised its rates.\nRates fell; the bank's shares fell.\n\nÜber naïve cafés\n")
seed("text/bad-only_stop_words.txt", "the and of\n")
seed("text/bad-utf8.txt", b"bank \xff\xfe rates\n")
seed("jsonl/ok-small.jsonl", '{"text": "the bank rates", "id": 3}\n{"id": 4, "text": "goal goal match"}\n')
seed("jsonl/bad-nested.jsonl", '{"text": ' + "[" * 300 + "]" * 300 + "}\n")
seed("jsonl/bad-no_field.jsonl", '{"body": "the bank", "title": "rates"}\n')
seed("jsonl/ok-nested_field.jsonl", '{"a": {"b": "bank rates"}, "id": "x"}\n["goal", "match"]\nnull\n')
seed("json/ok-objects.json", '[{"id": 3, "text": "the bank rates"},\n {"text": null}, {"text": ["goal", "match"]}]')
seed("json/ok-texts.json", '["the bank rates", "goal \\u00e9t\\u00e9 match"]')
seed("json/bad-deep.json", "[" * 300 + "]" * 300)
seed("json/bad-object.json", '{\n"docs": ["bank rates"]}')
seed("json/bad-cut.json", '["bank rates", "go')
seed("json/bad-surrogate.json", '["bank \\ud800 rates"]')
seed("csv_docs/ok-quoted.csv", 'id,text\n7,"the bank, its\n""rates"" fell"\n8,\n9,goal match\n')
seed("csv_docs/ok-only_text.csv", "n;when;body\n1;2020-01-01;the bank\n2;2020-01-02;goal match\n")
seed("csv_docs/bad-two_texts.csv", "title,body\none,the bank\ntwo,goal match\n")
seed("csv_docs/bad-numbers.csv", "a,b\n1,2\n3,4\n")
seed("csv_docs/bad-quote.csv", 'id,text\n1,"bank\n2,goal\n')
seed("csv_docs/bad-ragged.csv", "id,text\n1,bank,goal\n")
seed("matrix/ok-names.csv", 'user,Up,"Alien, 1979"\nann,5,\nbob,NA,2.5\n')
seed("matrix/ok-marks.csv", "74,4.08,99\n12,99,-0.29\n")
seed("matrix/bad-words.csv", "user,a,b\nann,5,good\n")
seed("matrix/bad-twice.csv", "user,a\nann,5\nann,3\n")
seed("matrix/bad-empty.csv", ",,,\n,,,\n")
seed("csv/ok-names.csv", 'name;x;"y;z"\n1;2.5;-3\n4;5e-3;6\n')
seed("csv/ok-blanks.txt", "# comment\n1 2 3\n\n4  5\t6\n")
seed("csv/ok-one_column.csv", "1\n2\n3\n")
seed("csv/bad-quote.csv", 'x,y\n"1,2\n3,4\n')
seed("csv/bad-ragged.csv", "1,2\n3\n")
seed("csv/bad-infinite.csv", "1,2\n1e999,3\n")
seed("ratings/ok-movielens.dat", "1::1193::5::978300760\n1::661::3::978302109\n2::1193::4.5::0\n")
seed("ratings/ok-names.csv", 'userId,movieId,rating\n7,"Up, up",4.5\nx,Brazil,5\n')
seed("ratings/ok-tabs.tsv", "196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
seed("ratings/bad-no_number.csv", "1,2,x\n3,4,y\n")
seed("titles/ok-movies.dat", b"1::Toy Story (1995)::Animation\n73::Mis\xe9rables, Les (1995)::Drama\n")
seed("titles/ok-u.item", "1|Toy Story|x\n2|GoldenEye|y\n")
seed("titles/ok-netflix.txt", "1,2003,Dinosaur Planet\n2,NULL,Isle of Man, TT\n")
seed("titles/ok-movies.csv", 'movieId,title\n1,"Story, Toy"\n')
seed("words/ok-three.txt", "bank\nrates\ngoal\n")
seed("words/bad-twice.txt", "bank\nrates\nbank\n")
seed("words/bad-four.txt", "a\nb\nc\nd\n")
seed("gzip/ok-table.csv.gz", gzip.compress(b"x,y\n1,2\n3,4\n", mtime=0))
seed("gzip/bad-cut.csv.gz", gzip.compress(b"x,y\n1,2\n3,4\n" * 50, mtime=0)[:-12])
seed(
    "config/ok-mixture.toml",
    '[fit]\nbatch = 20\neffective = "geometric:10:150"\nseed = 7\n\n[model]\ncomponents = 3\nweights = "dirichlet"\n'
    'covariance = "diagonal"\n\n[data]\ndrop = ["label"]\n',
)
seed("config/ok-lda.toml", '[model]\ntopics = 10\nalpha = 0.1\n\n[data]\nfield = "text"\nmin_docs = 3\n')
seed("config/ok-pmf.toml", '[fit]\nstep_size = "0.5,1"\n\n[model]\ndims = 10\nard = false\n\n[data]\nuser = "who"\n')
seed("config/bad-nested.toml", "[model]\nx = " + "[" * 500 + "]" * 500 + "\n")
seed("config/many-threads.toml", "[fit]\nthreads = 9223372036854775807\n[model]\ntopics = 3\n")
seed("ids/bad-twice.jsonl", '"a"\n1\n"a"\n')
seed("trace/bad-line.jsonl", '{"restart": 0}\n')
seed("vocabulary/bad-count.tsv", "nan\tbank\n")
seed("run_config/bad-version.json", '{"format": 4294967296, "model": "gmm"}\n')


def npy(descr, shape, data):
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


seed("npy/ok-row.npy", npy("<f8", (1, 2), struct.pack("<2d", 1.5, -2)))
seed("npy/bad-shape.npy", npy("<f8", (1 << 40, 1 << 20), struct.pack("<2d", 1.5, -2)))
seed("npy/bad-columns.npy", npy("<f4", (1, 1 << 60), b"\0" * 64))
seed("npy/bad-infinite.npy", npy("<f8", (1, 1), struct.pack("<d", float("inf"))))

members = [
    npy("|S3", (), b"csr"),
    npy("<i8", (2,), struct.pack("<2q", 2, 3)),
    npy("<i4", (3,), struct.pack("<3i", 0, 1, 3)),
    npy("<i4", (3,), struct.pack("<3i", 2, 0, 1)),
    npy("<f8", (3,), struct.pack("<3d", 1, 2, 0.5)),
]


def packed(members):
    return b"".join(struct.pack("<H", len(member)) + member for member in members)


seed("npz_members/ok-csr", packed(members))
seed("npz_members/ok-csc", packed([npy("|S3", (), b"csc"), npy("<i8", (2,), struct.pack("<2q", 3, 2))] + members[2:]))
many = npy("<i8", (2,), struct.pack("<2q", (1 << 32) - 1, 3))
seed("npz_members/bad-rows", packed([members[0], many] + members[2:]))
narrow = npy("|i1", (3,), bytes([0, 1, 3]))
seed("npz_members/bad-narrow", packed(members[:2] + [narrow] + members[3:]))


def archive(name, member, claimed):
    """A zip file of one deflated member that claims to unpack to `claimed` bytes."""
    compressor = zlib.compressobj(wbits=-15)
    data = compressor.compress(member) + compressor.flush()
    crc = zlib.crc32(member)
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, crc, len(data), claimed, len(name), 0)
    local = b"PK\x03\x04" + common + name + data
    entry = b"PK\x01\x02\x14\0" + common + b"\0" * 10 + struct.pack("<I", 0) + name
    end = b"PK\x05\x06\0\0\0\0" + struct.pack("<HHIIH", 1, 1, len(entry), len(local), 0)
    return local + entry + end


seed("npz/bad-one_member.npz", archive(b"format.npy", members[0], len(members[0])))
seed("npz/bad-claim.npz", archive(b"format.npy", members[0], (1 << 32) - 2))


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def integer(number):
    return varint(number * 2)


def text(value):
    return varint(len(value)) + value


def element(name, children=None, kind=None):
    """An element of a Parquet schema: its type, repetition, name and number of children."""
    last, out = 0, b""
    for field, wire, value in [(1, 5, kind), (3, 5, 0), (4, 8, name), (5, 5, children)]:
        if value is not None:
            out += bytes([(field - last) << 4 | wire]) + (text(value) if wire == 8 else integer(value))
            last = field
    return out + b"\0"


def listed(elements):
    n = len(elements)
    head = bytes([n << 4 | 12]) if n < 15 else bytes([0xF0 | 12]) + varint(n)
    return head + b"".join(elements)


def parquet(schema, groups=(), rows=1, pages=b""):
    footer = b"\x15" + integer(1) + b"\x19" + listed(schema) + b"\x16" + integer(rows)
    footer += b"\x19" + listed(list(groups)) + b"\0"
    return b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1"


DOUBLE, BYTES = 5, 6


def column(name, kind, encoding, codec, start, size, values):
    """A column chunk: where its pages are and what they hold."""
    data = b"\x15" + integer(kind) + b"\x19" + bytes([0x15]) + integer(encoding)
    data += b"\x19" + bytes([0x18]) + text(name) + b"\x15" + integer(codec)
    data += b"\x16" + integer(values) + b"\x16" + integer(size) + b"\x16" + integer(size)
    data += b"\x26" + integer(start) + b"\0"
    return b"\x26" + integer(start) + b"\x1c" + data + b"\0"


def group(columns, size, rows):
    return b"\x19" + listed(columns) + b"\x16" + integer(size) + b"\x16" + integer(rows) + b"\0"


def page(unpacked, packed, values, encoding):
    """The header of a data page of the first version."""
    inner = b"\x15" + integer(values) + b"\x15" + integer(encoding) + b"\x15" + integer(3) + b"\x15" + integer(3) + b"\0"
    return b"\x15" + integer(0) + b"\x15" + integer(unpacked) + b"\x15" + integer(packed) + b"\x2c" + inner + b"\0"


def one_column(kind, encoding, codec, header, body, values):
    pages = header + body
    chunk = column(b"x", kind, encoding, codec, 4, len(pages), values)
    schema = [element(b"m", children=1), element(b"x", kind=kind)]
    return parquet(schema, [group([chunk], len(pages), values)], values, pages)


two = struct.pack("<2d", 1.5, -2)
seed("parquet_points/ok-plain.parquet", one_column(DOUBLE, 0, 0, page(16, 16, 2, 0), two, 2))
# The version is a boolean instead of a number, and the schema is that of bad-wide_schema.
seed("parquet_points/bad-other_type.parquet", parquet([element(b"m", children=(1 << 31) - 1), element(b"x", kind=DOUBLE)]).replace(b"PAR1\x15", b"PAR1\x11"))
# Each of these made the reader recurse or allocate as the file says.
seed("parquet_points/bad-deep_schema.parquet", parquet([element(b"g", children=1)] * 500 + [element(b"x", kind=DOUBLE)]))
seed("parquet_points/bad-wide_schema.parquet", parquet([element(b"m", children=(1 << 31) - 1), element(b"x", kind=DOUBLE)]))
seed("parquet_points/bad-page_size.parquet", one_column(DOUBLE, 0, 1, page((1 << 31) - 1, 16, 2, 0), two, 2))
runs = varint(((1 << 31) - 1) << 1) + b"\0"
boolean = struct.pack("<I", len(runs)) + runs
seed("parquet_points/bad-run_of_rows.parquet", one_column(0, 3, 0, page(len(boolean), len(boolean), (1 << 31) - 1, 3), boolean, (1 << 31) - 1))
seed("parquet_points/ok-promised_rows.parquet", one_column(DOUBLE, 0, 0, page(16, 16, 2, 0), two, (1 << 40)))


# Block size 128, 4 miniblocks, then a number of lengths that the library makes room for.
lengths = varint(128) + varint(4) + varint(1 << 33) + varint(0)
numbers = struct.pack("<2d", 1, 2)


def parquet_triples(names, body, values, encoding):
    """Two columns of text that share one page, and one of numbers."""
    text_page = page(len(body), len(body), values, encoding) + body
    count_page = page(16, 16, values, 0) + numbers
    columns = [
        column(names[0], BYTES, encoding, 0, 4, len(text_page), values),
        column(names[1], BYTES, encoding, 0, 4, len(text_page), values),
        column(names[2], DOUBLE, 0, 0, 4 + len(text_page), len(count_page), values),
    ]
    kinds = zip(names, [BYTES, BYTES, DOUBLE])
    schema = [element(b"m", children=3)] + [element(name, kind=kind) for name, kind in kinds]
    pages = text_page + count_page
    return parquet(schema, [group(columns, len(pages), values)], values, pages)


plain = b"".join(struct.pack("<I", len(word)) + word for word in [b"ab", b"cde"])
for reader, names in [
    ("parquet_docs", [b"document", b"term", b"count"]),
    ("parquet_ratings", [b"user", b"item", b"rating"]),
]:
    seed(f"{reader}/bad-lengths_of_text.parquet", parquet_triples(names, lengths, 2, 6))
    seed(f"{reader}/ok-texts.parquet", parquet_triples(names, plain, 2, 0))
