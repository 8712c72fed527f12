"""Read what a file, or a chunk of an array, says that it unpacks to, before anything is allocated."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import json
import lzma
import math
import mmap
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dreval._check import LONGEST_TEXT, SMALL, check_npy, check_unpacked, read_limit, unpack_limit
from dreval._inside import check_folder, hdf5_objects
from dreval.errors import InputError
from dreval.inputs.features import check_places

# What the compressed chunks of an array unpack to, which their headers or a look at their blocks tell.
#
# The description of an array says how large a chunk should be. Decoders do not read it: they allocate what a chunk says
# of itself, or all that comes out of it. Only chunks are looked at that are large enough to unpack to more than a file
# may: there are few of them.

DEFLATE_RATIO = 1032  # bytes out of one, at most: of deflate in HDF5, gzip and zlib
ANY_RATIO = 1 << 15  # at most, or nearly, of all other codecs: zstd, of 128 KiB out of 4 bytes
BZ2_RATIO = 1 << 21
STEP_BYTES, PIECE_BYTES = 1 << 20, 1 << 14  # that are unpacked at once, and given up; that are looked at for it
SHUFFLE, FLETCHER, CHECKSUM = 2, 3, 4  # filters of HDF5 that compress nothing, and the bytes that the second one adds
BLOCK_BYTES = 1 << 17  # that a block of zstd unpacks to at most
HEADER_BYTES = 18  # of a frame of zstd
EMPTY = 2**64 - 1  # offset and length of a chunk that a shard does not have
ZSTD, SKIPPABLE = (
    0xFD2FB528,
    0x184D2A5,
)  # first bytes of a frame, and of one that holds nothing, without their last 4 bits
SHARDS = "sharding_indexed"
ENTRY_BYTES = 16  # of a text in HDF5: its length, the address of its heap and its place there
METADATA = ("zarr.json", ".zarray", ".zattrs")
RATIOS = {"gzip": DEFLATE_RATIO, "zlib": DEFLATE_RATIO, "bz2": BZ2_RATIO, "lzma": ANY_RATIO}
RATIOS |= dict.fromkeys(("zstd", "blosc", "lz4"), ANY_RATIO)
PASSED = {"bytes", "endian", "transpose", "shuffle", "bitround", "vlen-utf8", "vlen-bytes"}
TEXTS = {"vlen-utf8", "vlen-bytes"}
CHECKSUMS = {"crc32c", "crc32", "adler32", "fletcher32", "jenkins_lookup3"}
CONVERTED = {"delta", "fixedscaleoffset", "quantize", "astype"}  # from one type of numbers to another
MOST_BITS = 8  # numbers out of a byte of packbits
INDEX = {"bytes", "crc32c"}
Codec = dict[str, Any]


def inflated(
    blob: bytes, limit: float, new: Callable[[], Any] = lambda: zlib.decompressobj(zlib.MAX_WBITS | 32)
) -> int:
    """Return the bytes that a compressed blob unpacks to, counted up to a limit; nothing is kept of them.

    All that lies behind the end of a stream is counted, too. ``new`` makes the decoder of a stream.
    """
    made, at, decoder = 0, 0, new()
    try:
        while at < len(blob) and made <= limit:
            piece = blob[at : at + PIECE_BYTES]
            if decoder.eof:
                stripped = piece.lstrip(b"\0")
                at += len(piece) - len(stripped)
                if not stripped:
                    continue
                piece, decoder = stripped, new()
            given, full = piece, True
            while full and not decoder.eof and made <= limit:
                part = decoder.decompress(given, STEP_BYTES)
                given, full = getattr(decoder, "unconsumed_tail", b""), len(part) == STEP_BYTES
                made += len(part)
            at += len(piece) - len(decoder.unused_data)
    except (zlib.error, OSError, lzma.LZMAError, EOFError):
        return made  # its reader fails there
    return made


def check_hdf5_chunks(dataset: Any) -> None:
    """Check that each chunk of a data set of HDF5 unpacks to the bytes of a chunk: HDF5 reads so many, wherever it is.

    What is behind a shorter one is other memory of the process, or none. A chunk of the size must fit in memory.

    Raises
    ------
    ValueError
        If a chunk has another size, or it is compressed by a filter that is not known, or more than once.
    """
    if dataset.shape is None:
        return
    layout, h5d = dataset.id.get_create_plist(), importlib.import_module("h5py").h5d
    size = _stored_size(dataset.id.get_type(), dataset.file.id.get_create_plist().get_sizes()[0])
    if layout.get_layout() != h5d.CHUNKED:
        stored = dataset.id.get_storage_size()
        if layout.get_layout() != h5d.VIRTUAL and stored not in (0, size * dataset.size):
            raise ValueError(f"{dataset.name!r} has {stored:,} bytes where {size * dataset.size:,} belong")
        return
    filters = [layout.get_filter(i)[0] for i in range(layout.get_nfilters())]
    packing = [one for one in filters if one not in (SHUFFLE, FLETCHER)]
    if unknown := set(packing).difference(UNPACKED_SIZES):
        raise ValueError(f"{dataset.name!r} has the filter {unknown.pop()}; write it with gzip, lzf or zstd")
    if len(packing) > 1:  # what is small could be anything
        raise ValueError(f"{dataset.name!r} is compressed {len(packing)} times")
    size *= math.prod(dataset.chunks)
    chunks: list[Any] = []
    dataset.id.chunk_iter(chunks.append)
    for chunk in chunks:
        made = chunk.size
        active = [one for i, one in enumerate(filters) if not chunk.filter_mask >> i & 1]
        if set(packing).intersection(active):
            made = _size_before(dataset.id.read_direct_chunk(chunk.chunk_offset)[1], active, size)
        else:
            made -= CHECKSUM * active.count(FLETCHER)
        if made != size:
            got = f"{made:,}" if made < size else "more"
            raise ValueError(f"{dataset.name!r} has a chunk of {got} bytes where {size:,} belong")


def _size_before(blob: bytes, filters: list[int], size: int) -> int:
    """Bytes of a chunk before the filters of HDF5, of which one compresses, counted to a little more than a size."""
    made = len(blob)
    for one in reversed(filters):
        if one == FLETCHER:
            made, blob = made - CHECKSUM, blob[:-CHECKSUM]
        elif one != SHUFFLE:
            made = int(UNPACKED_SIZES[one](blob, size + CHECKSUM * len(filters)))
    return made


def _lzf_size(blob: bytes, limit: float) -> int:
    """Bytes that a blob of LZF unpacks to, by its marks: of what is copied from it, or from what was made of it."""
    made, at, end = 0, 0, len(blob)
    while at < end and made <= limit:
        mark = blob[at]
        if mark < 32:
            made, at = made + mark + 1, at + mark + 2
        elif mark < 224:
            made, at = made + (mark >> 5) + 2, at + 2
        else:
            made, at = made + 9 + (blob[at + 1] if at + 1 < end else 0), at + 3
    return made


UNPACKED_SIZES: dict[int, Callable[[bytes, float], float]] = {  # by the number of a filter of HDF5
    1: inflated,
    32000: _lzf_size,
    32015: lambda blob, _limit: _zstd_size(io.BytesIO(blob), len(blob)),
}


def _stored_size(kind: Any, address: int) -> int:
    """Bytes of an element in a file of HDF5: of one of any length, its length and where it lies."""
    h5t = importlib.import_module("h5py").h5t
    if kind.get_class() == h5t.VLEN or (kind.get_class() == h5t.STRING and kind.is_variable_str()):
        return 8 + address  # and its number in a heap
    if kind.get_class() == h5t.ARRAY:
        elements: int = math.prod(kind.get_array_dims())
        return elements * _stored_size(kind.get_super(), address)
    members = [kind.get_member_type(i) for i in range(kind.get_nmembers())] if kind.get_class() == h5t.COMPOUND else []
    size: int = kind.get_size() + sum(_stored_size(one, address) - one.get_size() for one in members)
    return size


def text_lengths(dataset: Any, path: Path) -> int | None:
    """Return the bytes of the texts in a data set of HDF5, by the entries that say where each lies.

    None where they are no plain texts, or are packed by a filter that is not read here.
    """
    h5py = importlib.import_module("h5py")
    about = h5py.check_string_dtype(dataset.dtype)
    if about is None or about.length is not None or dataset.file.id.get_create_plist().get_sizes() != (8, 8):
        return None
    if dataset.file.userblock_size:  # before which nothing is counted
        return None
    layout = dataset.id.get_create_plist()
    filters = [layout.get_filter(i)[0] for i in range(layout.get_nfilters())]
    if layout.get_layout() == h5py.h5d.CONTIGUOUS:
        return _contiguous_lengths(dataset, path)
    if layout.get_layout() != h5py.h5d.CHUNKED or not {1, 2}.issuperset(filters):
        return None
    size, total, chunks = ENTRY_BYTES * math.prod(dataset.chunks), 0, list[Any]()
    dataset.id.chunk_iter(chunks.append)
    for chunk in chunks:
        blob = dataset.id.read_direct_chunk(chunk.chunk_offset)[1]
        for number, one in reversed(list(enumerate(filters))):
            if chunk.filter_mask >> number & 1:
                continue
            blob = _unfiltered(blob, one, size)
        entries = np.frombuffer(blob[: len(blob) // ENTRY_BYTES * ENTRY_BYTES], "<u4").reshape(-1, 4)
        total += int(entries[:, 0].sum(dtype=np.int64))
    return total


def _contiguous_lengths(dataset: Any, path: Path) -> int:
    """The bytes of texts whose entries lie one behind the other in the file; none where nothing was written."""
    start = dataset.id.get_offset()
    if start is None:
        return 0
    with path.open("rb") as file:
        file.seek(start)
        entries = np.fromfile(file, "<u4", 4 * dataset.size)
    return int(entries[::4].sum(dtype=np.int64))


def _unfiltered(blob: bytes, number: int, size: int) -> bytes:
    """The bytes of a chunk of entries before a filter of HDF5: deflate, or shuffle."""
    if number == 1:
        return zlib.decompressobj().decompress(blob, size)
    return np.frombuffer(blob[:size], np.uint8).reshape(ENTRY_BYTES, -1).T.tobytes()


def zarr_codecs(about: dict[str, Any]) -> list[Codec]:
    """Return the codecs of an array of zarr, of either format; each has a name and a configuration."""
    if about["zarr_format"] == 3:
        return _named(about["codecs"])
    listed = [*(about.get("filters") or []), *([about["compressor"]] if about.get("compressor") else [])]
    return [{"name": one["id"], "configuration": one} for one in listed]


def _named(codecs: Any) -> list[Codec]:
    """Codecs of version 3, of which some are names only."""
    return [one if isinstance(one, dict) else {"name": one} for one in codecs]


def chunk_shape(about: dict[str, Any]) -> Any:
    """Return the shape of the chunks of an array of zarr, of either format, or of those in a shard."""
    for key in ("chunk_shape", "chunks"):
        if key in about:
            return about[key]
    return about["chunk_grid"]["configuration"]["chunk_shape"]


def unpacked_chunks(folder: Path, about: dict[str, Any], limit: float) -> Iterator[float]:
    """Yield what each chunk of an array of zarr unpacks to that may be more than a limit.

    Raises
    ------
    ValueError
        If a codec is not known, chunks are compressed more than once, or what was compressed was changed after that.
    """
    codecs, shards = zarr_codecs(about), None
    if [_name(one) for one in codecs] == [SHARDS]:
        shards = codecs[0]["configuration"]
        codecs = _named(shards["codecs"])
    names = [_name(one) for one in codecs]
    if unknown := sorted(set(names).difference(PASSED, CHECKSUMS, CONVERTED, RATIOS, {"packbits"})):
        raise ValueError(f"the codec {unknown[0][:60]!r}; use zstd, blosc, gzip, lz4, zlib, bz2 or lzma")
    growth = math.prod(map(_growth, codecs))
    packing = [name for name in names if name in RATIOS]
    if len(packing) > 1:
        raise ValueError(f"chunks that are compressed {len(packing)} times ({', '.join(packing)[:60]})")
    if packing and set(names[names.index(packing[0]) + 1 :]).difference({"crc32c", "fletcher32"}):
        raise ValueError(f"chunks that are changed after {packing[0]}")
    texts = TEXTS.intersection(names)
    if texts and set(names[1:]).difference(packing, {"crc32c"}):
        raise ValueError(f"texts that are changed by {names[1][:60]}")
    ratio = growth * (RATIOS[packing[0]] if packing else 1)
    for path in (Path(place, name) for place, _, names in os.walk(folder) for name in names):
        size = os.path.getsize(path)
        if path.name in METADATA or (size * ratio <= limit and not texts):
            continue
        with path.open("rb") as file:
            parts = [(0, size)] if shards is None else _parts_of_shard(file, size, about, shards)
            for at, length in parts:
                if length * ratio > limit:
                    file.seek(at)
                    made = _unpacked(file, length, codecs[names.index(packing[0])], limit) if packing else length
                    yield growth * made
                if texts:  # their number in a chunk is at its beginning, and allocated
                    file.seek(at)
                    blob = file.read(length - 4 * names.count("crc32c"))
                    _check_count(blob, [one for one in codecs if _name(one) in packing], chunk_shape(shards or about))


def _check_count(blob: bytes, packing: list[Codec], shape: list[int]) -> None:
    """Check that a chunk of texts says of itself that it has no more of them than there are in a chunk."""
    for codec in packing:
        named = {"id": _name(codec)} | ({"format": codec["configuration"]["format"]} if _name(codec) == "lzma" else {})
        blob = importlib.import_module("numcodecs").get_codec(named).decode(blob)
    made = int.from_bytes(bytes(blob[:4]), "little")
    if made > math.prod(shape):
        raise ValueError(f"a chunk of {made:,} texts where {math.prod(shape):,} belong")


def _growth(codec: Codec) -> float:
    """By how much a filter that is no compression makes a chunk longer; ValueError where it makes no numbers of it."""
    name, about = _name(codec), codec.get("configuration") or {}
    if name == "packbits":
        return MOST_BITS
    if name not in CONVERTED:
        return 1
    keys = ("decode_dtype", "encode_dtype") if name == "astype" else ("dtype", "astype")
    kinds = [np.dtype(about[key]) for key in keys if about.get(key) is not None]
    if not kinds or any(kind.kind not in "biufc" for kind in kinds):
        raise ValueError(f"the codec {name!r} of other types than numbers")
    growth: float = kinds[0].itemsize / kinds[-1].itemsize
    return max(1.0, growth)


def _name(codec: Codec) -> str:
    """The name of a codec without the library before it."""
    return str(codec.get("name")).lower().rpartition(".")[2]


def _parts_of_shard(file: BinaryIO, size: int, about: dict[str, Any], shards: dict[str, Any]) -> Any:
    """Offset and length of the chunks in a shard, by its index, up to its end; what has another index is one chunk."""
    outer = chunk_shape(about)
    count = math.prod(a // b for a, b in zip(outer, shards["chunk_shape"], strict=True))
    index_codecs = _named(shards["index_codecs"])
    order = {(one.get("configuration") or {}).get("endian", "little") for one in index_codecs}
    if not INDEX.issuperset(map(_name, index_codecs)) or order != {"little"}:
        raise ValueError("an index of a shard in another form than little-endian bytes")
    if not 0 < 16 * count <= size:
        return [(0, size)]
    sums = 4 * sum(_name(one) == "crc32c" for one in index_codecs)
    file.seek(0 if shards.get("index_location") == "start" else size - 16 * count - sums)
    index = np.frombuffer(file.read(16 * count), "<u8").reshape(-1, 2)
    found = [(int(at), int(length)) for at, length in index[(index != EMPTY).any(axis=1)]]
    return [(at, min(length, size - at)) for at, length in found if at < size]


def _unpacked(file: BinaryIO, length: int, codec: Codec, limit: float) -> float:
    """Bytes that a chunk unpacks to: by its header, else counted."""
    name, about = _name(codec), codec.get("configuration") or {}
    if name in ("blosc", "lz4"):
        start = 4 if name == "blosc" else 0
        return int.from_bytes(file.read(8)[start : start + 4], "little")
    if name == "zstd":
        return _zstd_size(file, length)
    if name == "bz2":
        return inflated(file.read(length), limit, bz2.BZ2Decompressor)
    if name != "lzma":
        return inflated(file.read(length), limit)
    if about.get("format", lzma.FORMAT_XZ) == lzma.FORMAT_RAW:
        raise ValueError("raw LZMA, which says nothing of itself")
    return inflated(file.read(length), limit, lzma.LZMADecompressor)


def _zstd_size(file: BinaryIO, length: int) -> float:
    """Bytes of all frames of zstd: their decoder allocates what a header says, else what its blocks may hold."""
    at, end, made = file.tell(), file.tell() + length, 0
    while at < end:
        file.seek(at)
        head = file.read(HEADER_BYTES)
        mark = int.from_bytes(head[:4], "little")
        if mark >> 4 == SKIPPABLE:
            at += 8 + int.from_bytes(head[4:8], "little")
            continue
        if mark != ZSTD or len(head) < 6:
            raise ValueError("a chunk that is no zstd")
        flags = head[4]
        single, sized = bool(flags & 32), flags >> 6
        start = 5 + (not single) + (0, 1, 2, 4)[flags & 3]
        width = (1 if single else 0, 2, 4, 8)[sized]
        stated = int.from_bytes(head[start : start + width], "little") + (256 if width == 2 else 0)
        at, held, last = at + start + width, 0, 0
        while at < end and not last:
            file.seek(at)
            block = int.from_bytes(file.read(3), "little")
            last, kind, size = block & 1, (block >> 1) & 3, block >> 3
            held += size if kind < 2 else BLOCK_BYTES
            at += 3 + (1 if kind == 1 else size)
        at += 4 * (flags >> 2 & 1)  # a checksum
        made += stated if width else held
    return made


# What a file says it unpacks to, read from its headers and checked before anything is allocated.

ELEMENT = ("element", "item", "array", "array_element")  # names of what is in a list of a .parquet file, by its writer
NUMBER, OBJECT = 8, 150  # bytes of a number, and about those of an object or of an array of a few numbers
ANY_SHAPE = 2**20  # rows and columns together that a sparse matrix in any file may have
TEXTS_BYTES = 1 << 25  # of texts that are read at once, to measure them
WIDEST, PER_FIELD = 2**20, 64  # fields in a line of text, and bytes in a field of it on average
PER_LINE = 100  # bytes that a line of text takes about while it is read, beside its numbers
ZARR_KEYS = {  # of each file of metadata
    ".zgroup": {"zarr_format"},
    ".zarray": {"zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters"},
    "zarr.json": {"zarr_format", "node_type", "attributes", "consolidated_metadata", "shape", "data_type", "codecs"},
}
ZARR_KEYS[".zarray"] |= {"dimension_separator"}
ZARR_KEYS["zarr.json"] |= {"chunk_grid", "chunk_key_encoding", "fill_value", "dimension_names", "storage_transformers"}
NUMBERS_OF_ZARR = {f"{kind}{8 * size}": size for kind in ("int", "uint", "float") for size in (1, 2, 4, 8)}
NUMBERS_OF_ZARR |= {"bool": 1, "complex64": 8, "complex128": 16, "numpy.datetime64": 8, "numpy.timedelta64": 8}
NUMBERS_OF_ZARR |= dict.fromkeys(("string", "bytes", "variable_length_utf8", "variable_length_bytes"), NUMBER)
TEXTS_OF_ZARR = {"fixed_length_utf32", "null_terminated_bytes", "raw_bytes"}
SPARSE_SHAPES = ("shape", "h5sparse_shape")  # attributes of a sparse matrix, of which the second one is older
HEAP = b"GCOL\x01\x00\x00\x00"  # the first bytes of a heap in a file of HDF5
LINE_ENDS, SEPARATORS = (b"\n", b"\r"), (b",", b";", b"\t")


def check_npz(path: Path, argument: str, names: set[str]) -> bool:
    """Whether one of these arrays of a .npz file holds objects; all of them are checked."""
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.removesuffix(".npy") in names]
        check_unpacked(sum(info.file_size for info in members), path, argument)
        objects = False
        for info in members:
            with archive.open(info) as file:
                objects |= check_npy(file, info.file_size)  # type: ignore[arg-type]
    return objects


def check_sparse(matrix: Any, path: Path, argument: str) -> Any:
    """A sparse matrix of no more rows and columns than its file can be of, and whose places lie within its shape."""
    _check_shape(matrix.shape, path, argument)
    check_places(matrix, argument)
    return matrix


def _check_shape(shape: Any, path: Path, argument: str) -> None:
    """Check that a sparse matrix has no more rows and columns together than its file has bytes, or than ``ANY_SHAPE``.

    An entry takes more than a byte, and most rows or columns have one. A shape itself takes no room in a file: each row
    and column of it is counted in memory, and each row is a point.
    """
    given, rows_and_columns = read_limit(), sum(map(int, shape))
    most = max(ANY_SHAPE, path.stat().st_size) if given is None else given / NUMBER
    if rows_and_columns > most:
        named, needed = " x ".join(f"{float(size):,.0f}" for size in shape), 2.0 * NUMBER * rows_and_columns
        rule = f"must have at most {most:,.0f} rows and columns together"
        got = f"{str(path)!r}, {path.stat().st_size:,} bytes of a matrix of {named}"
        cure = f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={needed:.2g}."
        raise InputError(argument, rule, got, cure)


def check_mtx(path: Path, argument: str) -> None:
    """Check what the second line of a .mtx file declares."""
    from scipy.io import mminfo

    rows, columns, entries, kind, _, symmetry = mminfo(path)
    if symmetry != "general" and rows != columns:
        raise ValueError(f"a {symmetry} matrix of {rows:,} rows and {columns:,} columns")
    if kind != "array":
        _check_shape((rows, columns), path, argument)
    check_unpacked(NUMBER * (rows * columns if kind == "array" else entries), path, argument)


def check_parquet(file: Any, path: Path, argument: str) -> int:
    """Check what the footer of an open .parquet file declares; the bytes are returned."""
    about = file.metadata
    groups = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    size = max(groups, NUMBER * about.num_rows * about.num_columns)
    check_unpacked(size, path, argument)
    text, limit, total = 0, unpack_limit(path), 0
    for j in range(about.num_columns):
        column = file.schema.column(j)
        parts = [about.row_group(i).column(j) for i in range(about.num_row_groups)]
        total += _parquet_column(column, about.num_rows, sum(part.num_values for part in parts))
        check_unpacked(total, path, argument)
        if (
            column.physical_type == "BYTE_ARRAY"
            and sum(part.num_values * part.total_uncompressed_size for part in parts) > SMALL
        ):
            for i in range(about.num_row_groups):
                text += _parquet_text(path, i, column.path)
                check_texts(text, sum(part.num_values for part in parts), limit, path, argument, column.path)
    return int(size)


def _parquet_column(column: Any, rows: int, values: int) -> int:
    """Bytes that a column of a .parquet file takes in a frame, without its texts of any length.

    A list is an array for itself, and a struct, a decimal number or a time an object. Lists may have more values than
    the table has rows.
    """
    of_objects = column.logical_type.type in ("DECIMAL", "TIME", "DATE")
    nested = column.path != column.name
    of_lists = nested and column.max_repetition_level == 1 and column.name in ELEMENT and not of_objects
    size = max(column.length, NUMBER) if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else NUMBER
    return size * values + OBJECT * (rows if of_lists else values if nested or of_objects else 0)


def _parquet_text(path: Path, group: int, name: str) -> int:
    """Bytes of the texts of a column in a group of rows of a .parquet file, of which each different one is read once.

    Of texts that repeat the file has one, whatever their number: the sizes in its footer are of what it has.
    """
    parquet, compute = map(importlib.import_module, ("pyarrow.parquet", "pyarrow.compute"))
    with parquet.ParquetFile(path, read_dictionary=[name]) as file:
        chunks = file.read_row_group(group, columns=[name]).column(0).chunks
    size = 0
    for chunk in chunks:
        while hasattr(chunk, "offsets"):  # lists
            chunk = chunk.flatten()
        if hasattr(chunk, "dictionary"):
            lengths = compute.binary_length(chunk.dictionary)
            size += compute.sum(compute.take(lengths, chunk.indices)).as_py() or 0
    return size


def check_zarr(path: Path, argument: str) -> None:
    """Check that a .zarr folder holds all of its data, the shapes of its arrays, and that nothing is unpickled.

    What is not known in the metadata is refused: zarr could make more of it than was checked.
    """
    check_folder(path, argument)
    sizes, limit, parts = [], unpack_limit(path), dict[str, dict[str, Any]]()
    for folder, groups, files in os.walk(path):
        attributes: list[Any] = []
        for name in ZARR_KEYS.keys() & set(files):
            about = json.loads(Path(folder, name).read_bytes())
            attributes.append(about.get("attributes") if name == "zarr.json" else {})
            if "pickle" in _codecs(about):
                cure = "Save plain numbers: zarr.save_array(path, array.astype(float))."
                got = f"{str(path)!r} with pickled objects, which are never loaded"
                raise InputError(argument, "must hold plain numbers", got, cure)
            if about["zarr_format"] != (3 if name == "zarr.json" else 2):
                raise ValueError(f"{name} of version {about['zarr_format']}")
            if unknown := sorted(about.keys() - ZARR_KEYS[name]):
                raise ValueError(f"{name} with {unknown[0][:60]!r}, which is not known")
            if name == "zarr.json":
                parts[Path(folder).relative_to(path).as_posix()] = about
            if name == ".zarray" or about.get("node_type") == "array":
                sizes.append(_size_of_zarr(Path(folder), about, path, argument))
                for unpacked in unpacked_chunks(Path(folder), about, limit):
                    check_unpacked(int(unpacked), path, argument)
        if ".zattrs" in files:
            attributes.append(json.loads(Path(folder, ".zattrs").read_bytes()))
        for about in attributes if "indptr" in groups else ():
            sizes += [NUMBER * sum(lengths(about[key])) for key in SPARSE_SHAPES if key in (about or {})]
    _check_copies(parts)
    check_unpacked(sum(sizes), path, argument)


def _size_of_zarr(folder: Path, about: dict[str, Any], path: Path, argument: str) -> int:
    """Bytes of an array of zarr, by its description, or of one chunk of it where that is more."""
    third = about["zarr_format"] == 3
    if third and (about["chunk_grid"]["name"] != "regular" or about.get("storage_transformers")):
        raise ValueError("chunks in another form than a regular grid")
    count = max(math.prod(lengths(about["shape"])), math.prod(lengths(chunk_shape(about))))
    item = _item_size(about["data_type"]) if third else _item_size_of_numpy(about["dtype"])
    fill = about.get("fill_value")  # of each element that was never written
    if item > LONGEST_TEXT or (isinstance(fill, str) and len(fill) > LONGEST_TEXT):
        item = max(item, len(fill)) if isinstance(fill, str) else item
        check_texts(item * count, count, unpack_limit(path), path, argument, os.path.relpath(folder, path))
    for separator in _separators(about):
        if separator not in ("/", "."):  # the place of a chunk is made of it
            raise ValueError(f"chunks whose numbers are separated by {separator!r}")
    return item * count


def _item_size_of_numpy(kind: Any) -> int:
    """Bytes of an element of an array of zarr of version 2, by its type or the fields of it."""
    if isinstance(kind, list):
        return sum(_item_size_of_numpy(one[1]) * math.prod(lengths(one[2]) if len(one) > 2 else ()) for one in kind)
    size: int = np.dtype(kind).itemsize
    return max(size, 1)


def _item_size(kind: Any) -> int:
    """Bytes of an element of an array of zarr of version 3, by the description of its type."""
    name, about = (kind["name"], kind.get("configuration") or {}) if isinstance(kind, dict) else (kind, {})
    if name in NUMBERS_OF_ZARR:
        return NUMBERS_OF_ZARR[name]
    if name in TEXTS_OF_ZARR:
        return max(*lengths(about["length_bytes"]), 1)
    if name in ("structured", "struct"):
        fields = [one["data_type"] if isinstance(one, dict) else one[1] for one in about["fields"]]
        return sum(map(_item_size, fields))
    raise ValueError(f"the type {str(kind)[:60]}, which is not known")


def _check_copies(parts: dict[str, dict[str, Any]]) -> None:
    """Check that the copies of metadata that groups in a folder of zarr hold are those of their parts.

    Copies in the folder itself are not used.
    """
    for place, about in parts.items():
        copies = (about.get("consolidated_metadata") or {}).get("metadata") or {}
        for name, copy in copies.items() if place != "." else ():
            own = [json.dumps(_alone(one), sort_keys=True) for one in (parts.get(f"{place}/{name}"), copy)]
            if own[0] != own[1]:
                raise ValueError(f"a copy of the metadata of {place}/{name} that differs")


def _alone(about: Any) -> Any:
    """The metadata of a part of a folder of zarr without the copies of others."""
    return about and {key: value for key, value in about.items() if key != "consolidated_metadata"}


def _separators(about: dict[str, Any]) -> Iterator[Any]:
    """What separates the numbers in the names of chunks, where an array of zarr says it."""
    for part in (about, (about.get("chunk_key_encoding") or {}).get("configuration") or {}):
        yield from (part[key] for key in ("dimension_separator", "separator") if part.get(key) is not None)


def _codecs(about: Any) -> set[str]:
    """The names of all codecs in the description of an array of zarr, without the library before them."""
    if isinstance(about, list):
        return set().union(*map(_codecs, about))
    if not isinstance(about, dict):
        return set()
    own = {str(about[key]).lower().rpartition(".")[2] for key in ("id", "name") if key in about}
    return own.union(*map(_codecs, about.values()))


def check_hdf5(path: Path, argument: str) -> int:
    """Check that a .h5ad file holds all of its data, and the shapes that its arrays declare; the bytes are returned.

    Parts that were never written take no room in the file.
    """
    h5py = importlib.import_module("h5py")
    size, texts, limit = 0, [], unpack_limit(path)
    with h5py.File(path, "r") as file:
        for _, item in hdf5_objects(file, repr(str(path)), argument):
            check_unpacked(_size_of_attributes(item, path), path, argument)
            if isinstance(item, h5py.Dataset):
                count = max(math.prod(item.shape or ()), math.prod(item.chunks or ()))
                size += count * max(item.dtype.itemsize, 1)
                if item.dtype.itemsize > LONGEST_TEXT:
                    check_texts(count * item.dtype.itemsize, count, limit, path, argument, item.name)
                texts += [item] if item.dtype.hasobject and item.shape is not None else []
            elif "indptr" in item:
                size += NUMBER * sum(sum(lengths(item.attrs[key])) for key in SPARSE_SHAPES if key in item.attrs)
            check_unpacked(size, path, argument)
            if isinstance(item, h5py.Dataset):
                check_hdf5_chunks(item)
        text, most = 0, max(SMALL, path.stat().st_size)  # only a repeated place makes more texts than the file has
        for item in texts:
            text += _size_of_texts(item, path, argument)
            check_texts(text, 1, most, path, argument, item.name)
    return size + text


def lengths(value: Any) -> list[int]:
    """The lengths of a shape as integers of any size; ValueError where one is none."""
    found = np.asarray(value, dtype=object).ravel().tolist()
    if not all(isinstance(one, int | np.integer) and one >= 0 for one in found):
        raise ValueError(f"a shape of {str(found)[:60]}")
    return list(map(int, found))


def _size_of_attributes(item: Any, path: Path) -> int:
    """Bytes that texts and lists of any length in the attributes of an object take at most.

    An attribute is read as a whole, and many of its texts may be the same place in the file: a text is no longer than
    the largest heap in the file.
    """
    h5a, size = importlib.import_module("h5py").h5a, 0
    for i in range(h5a.get_num_attrs(item.id)):
        found = h5a.open(item.id, index=i)
        count = math.prod(found.shape) if found.dtype.hasobject else 0
        many = count * path.stat().st_size > unpack_limit(path)
        size += count * (_largest_heap(path, path.stat().st_mtime_ns) if many else 0)
    return size


@lru_cache(maxsize=1)
def _largest_heap(path: Path, _changed: int) -> int:
    """Bytes of the largest heap of texts in a file of HDF5, each of which begins with the same letters."""
    largest, at = 0, -1
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        while (at := content.find(HEAP, at + 1)) >= 0:
            largest = max(largest, min(int.from_bytes(content[at + 8 : at + 16], "little"), len(content)))
    return largest


def _size_of_texts(dataset: Any, path: Path, argument: str) -> int:
    """Bytes of texts and lists of any length in a data set of HDF5: many of them may be the same place in the file.

    What says where a text lies says how long it is: 16 bytes each, which are read in place of the texts. Where they are
    not plain to see, no text is longer than the largest heap in the file: as many are read at once as take 32 MiB.
    """
    most = max(SMALL, path.stat().st_size)
    size = text_lengths(dataset, path)
    if size is not None:
        check_texts(size, dataset.size, most, path, argument, dataset.name)
        return size
    longest = path.stat().st_size
    longest = longest if dataset.size * longest <= TEXTS_BYTES else max(_largest_heap(path, path.stat().st_mtime_ns), 1)
    if not dataset.shape:
        return longest
    size, rows = 0, max(1, TEXTS_BYTES // longest // max(math.prod(dataset.shape[1:]), 1))
    for start in range(0, len(dataset), rows):
        size += _length(dataset[start : start + rows])
        check_texts(size, dataset.size, most, path, argument, dataset.name)
    return size


def check_texts(size: int, count: int, most: float, path: Path, argument: str, name: str) -> None:
    """Check that the texts of an array, together so long, are no more than a limit.

    Where they are longer on average than a label or an id may be, they cannot be used, and the limit is that of a small
    file.
    """
    given = read_limit()
    limit = given if given is not None else min(most, SMALL) if count > 1 and size > count * LONGEST_TEXT else most
    if size > limit:
        rule = f"must have texts of at most {limit:.3g} bytes in an array"
        got = f"{str(path)!r}, of which {name.lstrip('/')!r} has {count:,} texts of {size:,} bytes or more"
        cure = f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={2.0 * size:.2g}."
        raise InputError(argument, rule, got, cure)


def _length(value: Any) -> int:
    """Bytes of objects of any length in an array."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return sum(_length(value[name]) for name in value.dtype.names)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return sum(map(_length, value.ravel().tolist()))
    return value.nbytes if isinstance(value, np.ndarray) else len(value) if isinstance(value, str | bytes) else NUMBER


def read_lines(path: Path, compressed: bool, argument: str) -> bytes:
    """The bytes of a text file, of a .gz file read no further than the limit; no line is longer than a table needs."""
    fields = max(WIDEST, (read_limit() or 0) / PER_FIELD)
    raw, line, total, parsed = io.BytesIO(), 0, 0, 0
    with gzip.open(path) if compressed else path.open("rb") as file:
        while part := file.read(WIDEST):
            raw.write(part)
            total += len(part)
            parsed += NUMBER * max(map(part.count, SEPARATORS)) + PER_LINE * max(map(part.count, LINE_ENDS))
            if compressed:
                check_unpacked(max(total, parsed), path, argument)
            ends = [part.rfind(end) for end in LINE_ENDS]
            line = line + len(part) if max(ends) < 0 else len(part) - 1 - max(ends)
            if line > PER_FIELD * fields:
                raise _too_wide(f"a line of {line:,} bytes or more", fields, PER_FIELD * fields, path, argument)
    text = raw.getvalue()
    start = 0
    while start < len(text) - WIDEST:  # a shorter line has fewer fields
        end = max(text.rfind(end, start, start + WIDEST) for end in LINE_ENDS)
        if end < 0:
            ends = [found for end in LINE_ENDS if (found := text.find(end, start)) >= 0]
            end = min(ends, default=len(text))
            found = 1 + max(text.count(separator, start, end) for separator in SEPARATORS)
            if found > fields:
                raise _too_wide(f"a line of {found:,} fields", fields, found * PER_FIELD, path, argument)
        start = end + 1
    return text


def _too_wide(got: str, fields: float, needed: float, path: Path, argument: str) -> InputError:
    """The error for a line that no table needs, of which each field takes memory."""
    more = 2.0 * max(needed, unpack_limit(path))
    return InputError(
        argument,
        f"must have at most {fields:,.0f} fields in a line, of {PER_FIELD} bytes on average",
        f"{got} in {str(path)!r}",
        f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={more:.2g}.",
    )
