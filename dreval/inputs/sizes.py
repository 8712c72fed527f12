"""Compute the uncompressed size of a file, or of a chunk of an array, before anything is allocated."""

from __future__ import annotations

import bz2
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

from dreval._check import (
    MAX_TEXT_LENGTH,
    MIN_UNPACKED_LIMIT_BYTES,
    check_npy,
    check_unpacked,
    max_unpacked_bytes,
    read_limit,
)
from dreval._inside import check_folder, hdf5_objects
from dreval.errors import InputError
from dreval.inputs.features import check_places

# The uncompressed sizes of the chunks of an array, from their headers or from their blocks.
#
# The description of an array says how large a chunk should be. Decoders do not read it: they allocate the size that a
# chunk states, or all output. Only the few chunks are checked that are large enough to exceed the limit of a file.

DEFLATE_RATIO = 1032  # largest ratio of output to input bytes of deflate, in HDF5, gzip and zlib
ANY_RATIO = 1 << 15  # nearly the largest ratio of all other codecs: zstd, 128 KiB out of 4 bytes
BZ2_RATIO = 1 << 21
STEP_BYTES = 1 << 20  # uncompressed bytes that are counted at once, and discarded
PIECE_BYTES = 1 << 14  # compressed bytes that are decoded at once
SHUFFLE = 2  # number of a filter of HDF5 that does not change the size
FLETCHER = 3  # number of a filter of HDF5 that appends a checksum
CHECKSUM_BYTES = 4
ZSTD_BLOCK_BYTES = 1 << 17  # largest uncompressed size of a block of zstd
ZSTD_HEADER_BYTES = 18  # of a frame of zstd
EMPTY_CHUNK = 2**64 - 1  # offset and length of a chunk that a shard does not have
ZSTD_MAGIC = 0xFD2FB528  # first 4 bytes of a frame
ZSTD_SKIPPABLE_MAGIC = 0x184D2A5  # first 4 bytes of a frame without data, without the last 4 bits
SHARDING_CODEC = "sharding_indexed"
ENTRY_BYTES = 16  # entry of a text in HDF5: its length, the address of its heap and its position there
METADATA_FILES = ("zarr.json", ".zarray", ".zattrs")
RATIOS = {"gzip": DEFLATE_RATIO, "zlib": DEFLATE_RATIO, "bz2": BZ2_RATIO, "lzma": ANY_RATIO}
RATIOS |= dict.fromkeys(("zstd", "blosc", "lz4"), ANY_RATIO)
SIZE_PRESERVING_CODECS = {"bytes", "endian", "transpose", "shuffle", "bitround", "vlen-utf8", "vlen-bytes"}
TEXT_CODECS = {"vlen-utf8", "vlen-bytes"}
CHECKSUM_CODECS = {"crc32c", "crc32", "adler32", "fletcher32", "jenkins_lookup3"}
CONVERTING_CODECS = {"delta", "fixedscaleoffset", "quantize", "astype"}  # from one type of numbers to another
PACKBITS_RATIO = 8  # numbers per byte of packbits
SHARD_INDEX_CODECS = {"bytes", "crc32c"}
Codec = dict[str, Any]


def count_inflated(
    blob: bytes, limit: float, new_decoder: Callable[[], Any] = lambda: zlib.decompressobj(zlib.MAX_WBITS | 32)
) -> int:
    """Count the uncompressed bytes of a compressed blob, up to a limit; the output is discarded.

    Everything behind the end of a stream is counted, too. ``new_decoder`` makes the decoder of a stream.
    """
    count, position, decoder = 0, 0, new_decoder()
    try:
        while position < len(blob) and count <= limit:
            piece = blob[position : position + PIECE_BYTES]
            if decoder.eof:
                stripped = piece.lstrip(b"\0")
                position += len(piece) - len(stripped)
                if not stripped:
                    continue
                piece, decoder = stripped, new_decoder()
            data, full = piece, True
            while full and not decoder.eof and count <= limit:
                part = decoder.decompress(data, STEP_BYTES)
                data, full = getattr(decoder, "unconsumed_tail", b""), len(part) == STEP_BYTES
                count += len(part)
            position += len(piece) - len(decoder.unused_data)
    except (zlib.error, OSError, lzma.LZMAError, EOFError):
        return count  # the reader fails at this position
    return count


def check_hdf5_chunks(dataset: Any) -> None:
    """Check that each chunk of a data set of HDF5 has the uncompressed size of a chunk.

    HDF5 reads this many bytes of any chunk. Behind a shorter chunk it reads other memory of the process. A chunk of
    this size must fit in memory.

    Raises
    ------
    ValueError
        If a chunk has another size, or is compressed by an unknown filter, or more than once.
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
    compressors = [number for number in filters if number not in (SHUFFLE, FLETCHER)]
    if unknown := set(compressors).difference(UNPACKED_SIZES):
        raise ValueError(f"{dataset.name!r} has the filter {unknown.pop()}; write it with gzip, lzf or zstd")
    if len(compressors) > 1:  # a small chunk could have any size
        raise ValueError(f"{dataset.name!r} is compressed {len(compressors)} times")
    size *= math.prod(dataset.chunks)
    chunks: list[Any] = []
    dataset.id.chunk_iter(chunks.append)
    for chunk in chunks:
        uncompressed_size = chunk.size
        active = [number for i, number in enumerate(filters) if not chunk.filter_mask >> i & 1]
        if set(compressors).intersection(active):
            uncompressed_size = _size_before(dataset.id.read_direct_chunk(chunk.chunk_offset)[1], active, size)
        else:
            uncompressed_size -= CHECKSUM_BYTES * active.count(FLETCHER)
        if uncompressed_size != size:
            received = f"{uncompressed_size:,}" if uncompressed_size < size else "more"
            raise ValueError(f"{dataset.name!r} has a chunk of {received} bytes where {size:,} belong")


def _size_before(blob: bytes, filters: list[int], size: int) -> int:
    """Compute the size of a chunk before the filters of HDF5, at most one of which compresses.

    The count ends a little above ``size``.
    """
    count = len(blob)
    for number in reversed(filters):
        if number == FLETCHER:
            count, blob = count - CHECKSUM_BYTES, blob[:-CHECKSUM_BYTES]
        elif number != SHUFFLE:
            count = int(UNPACKED_SIZES[number](blob, size + CHECKSUM_BYTES * len(filters)))
    return count


def _lzf_size(blob: bytes, limit: float) -> int:
    """Compute the uncompressed size of a blob of LZF, by its marks: literal copies, and references to the output."""
    count, position, end = 0, 0, len(blob)
    while position < end and count <= limit:
        mark = blob[position]
        if mark < 32:
            count, position = count + mark + 1, position + mark + 2
        elif mark < 224:
            count, position = count + (mark >> 5) + 2, position + 2
        else:
            count, position = count + 9 + (blob[position + 1] if position + 1 < end else 0), position + 3
    return count


UNPACKED_SIZES: dict[int, Callable[[bytes, float], float]] = {  # by the number of a filter of HDF5
    1: count_inflated,
    32000: _lzf_size,
    32015: lambda blob, _limit: _zstd_size(io.BytesIO(blob), len(blob)),
}


def _stored_size(kind: Any, address: int) -> int:
    """Return the bytes of an element in a file of HDF5; for one of variable length those of its length and address."""
    h5t = importlib.import_module("h5py").h5t
    if kind.get_class() == h5t.VLEN or (kind.get_class() == h5t.STRING and kind.is_variable_str()):
        return 8 + address  # including its number in a heap
    if kind.get_class() == h5t.ARRAY:
        elements: int = math.prod(kind.get_array_dims())
        return elements * _stored_size(kind.get_super(), address)
    members = [kind.get_member_type(i) for i in range(kind.get_nmembers())] if kind.get_class() == h5t.COMPOUND else []
    size: int = kind.get_size() + sum(_stored_size(member, address) - member.get_size() for member in members)
    return size


def text_lengths(dataset: Any, path: Path) -> int | None:
    """Return the total length in bytes of the texts in a data set of HDF5, from the entries with their addresses.

    None if they are not plain texts, or are compressed by a filter that is not read here.
    """
    h5py = importlib.import_module("h5py")
    string_type = h5py.check_string_dtype(dataset.dtype)
    if (
        string_type is None
        or string_type.length is not None
        or dataset.file.id.get_create_plist().get_sizes() != (8, 8)
    ):
        return None
    if dataset.file.userblock_size:  # offsets do not include it
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
        for number, filter_number in reversed(list(enumerate(filters))):
            if chunk.filter_mask >> number & 1:
                continue
            blob = _unfiltered(blob, filter_number, size)
        entries = np.frombuffer(blob[: len(blob) // ENTRY_BYTES * ENTRY_BYTES], "<u4").reshape(-1, 4)
        total += int(entries[:, 0].sum(dtype=np.int64))
    return total


def _contiguous_lengths(dataset: Any, path: Path) -> int:
    """Return the total length of texts whose entries are contiguous in the file; 0 if nothing was written."""
    start = dataset.id.get_offset()
    if start is None:
        return 0
    with path.open("rb") as file:
        file.seek(start)
        entries = np.fromfile(file, "<u4", 4 * dataset.size)
    return int(entries[::4].sum(dtype=np.int64))


def _unfiltered(blob: bytes, number: int, size: int) -> bytes:
    """Return the bytes of a chunk of entries before a filter of HDF5: deflate, or shuffle."""
    if number == 1:
        return zlib.decompressobj().decompress(blob, size)
    return np.frombuffer(blob[:size], np.uint8).reshape(ENTRY_BYTES, -1).T.tobytes()


def zarr_codecs(metadata: dict[str, Any]) -> list[Codec]:
    """Return the codecs of an array of zarr, of either format; each has a name and a configuration."""
    if metadata["zarr_format"] == 3:
        return _as_codecs(metadata["codecs"])
    listed = [*(metadata.get("filters") or []), *([metadata["compressor"]] if metadata.get("compressor") else [])]
    return [{"name": codec["id"], "configuration": codec} for codec in listed]


def _as_codecs(codecs: Any) -> list[Codec]:
    """Return codecs of version 3 as dictionaries; some of them are only names."""
    return [codec if isinstance(codec, dict) else {"name": codec} for codec in codecs]


def chunk_shape(metadata: dict[str, Any]) -> Any:
    """Return the shape of the chunks of an array of zarr, of either format, or of those in a shard."""
    for key in ("chunk_shape", "chunks"):
        if key in metadata:
            return metadata[key]
    return metadata["chunk_grid"]["configuration"]["chunk_shape"]


def unpacked_chunks(folder: Path, metadata: dict[str, Any], limit: float) -> Iterator[float]:
    """Yield the uncompressed size of each chunk of an array of zarr that may exceed a limit.

    Raises
    ------
    ValueError
        If a codec is unknown, or if chunks are compressed more than once or changed after compression.
    """
    codecs, shards = zarr_codecs(metadata), None
    if [_name(codec) for codec in codecs] == [SHARDING_CODEC]:
        shards = codecs[0]["configuration"]
        codecs = _as_codecs(shards["codecs"])
    names = [_name(codec) for codec in codecs]
    if unknown := sorted(
        set(names).difference(SIZE_PRESERVING_CODECS, CHECKSUM_CODECS, CONVERTING_CODECS, RATIOS, {"packbits"})
    ):
        raise ValueError(f"the codec {unknown[0][:60]!r}; use zstd, blosc, gzip, lz4, zlib, bz2 or lzma")
    growth = math.prod(map(_growth, codecs))
    compressors = [name for name in names if name in RATIOS]
    if len(compressors) > 1:
        raise ValueError(f"chunks that are compressed {len(compressors)} times ({', '.join(compressors)[:60]})")
    if compressors and set(names[names.index(compressors[0]) + 1 :]).difference({"crc32c", "fletcher32"}):
        raise ValueError(f"chunks that are changed after {compressors[0]}")
    texts = TEXT_CODECS.intersection(names)
    if texts and set(names[1:]).difference(compressors, {"crc32c"}):
        raise ValueError(f"texts that are changed by {names[1][:60]}")
    ratio = growth * (RATIOS[compressors[0]] if compressors else 1)
    for path in (Path(directory, name) for directory, _, names in os.walk(folder) for name in names):
        size = os.path.getsize(path)
        if path.name in METADATA_FILES or (size * ratio <= limit and not texts):
            continue
        with path.open("rb") as file:
            parts = [(0, size)] if shards is None else _parts_of_shard(file, size, metadata, shards)
            for offset, length in parts:
                if length * ratio > limit:
                    file.seek(offset)
                    size_of_chunk: float = length
                    if compressors:
                        codec = codecs[names.index(compressors[0])]
                        size_of_chunk = _uncompressed_size(file, length, codec, limit)
                    yield growth * size_of_chunk
                if texts:  # the number of texts is at the beginning of a chunk, and allocated
                    file.seek(offset)
                    blob = file.read(length - 4 * names.count("crc32c"))
                    _check_count(
                        blob,
                        [codec for codec in codecs if _name(codec) in compressors],
                        chunk_shape(shards or metadata),
                    )


def _check_count(blob: bytes, compressors: list[Codec], shape: list[int]) -> None:
    """Check that the number of texts that a chunk states is not larger than the number of elements of a chunk."""
    for codec in compressors:
        named = {"id": _name(codec)} | ({"format": codec["configuration"]["format"]} if _name(codec) == "lzma" else {})
        blob = importlib.import_module("numcodecs").get_codec(named).decode(blob)
    count = int.from_bytes(bytes(blob[:4]), "little")
    if count > math.prod(shape):
        raise ValueError(f"a chunk of {count:,} texts where {math.prod(shape):,} belong")


def _growth(codec: Codec) -> float:
    """Return the factor by which a filter that is not a compression makes a chunk longer.

    Raise ValueError for a conversion to anything but numbers.
    """
    name, configuration = _name(codec), codec.get("configuration") or {}
    if name == "packbits":
        return PACKBITS_RATIO
    if name not in CONVERTING_CODECS:
        return 1
    keys = ("decode_dtype", "encode_dtype") if name == "astype" else ("dtype", "astype")
    kinds = [np.dtype(configuration[key]) for key in keys if configuration.get(key) is not None]
    if not kinds or any(kind.kind not in "biufc" for kind in kinds):
        raise ValueError(f"the codec {name!r} of other types than numbers")
    growth: float = kinds[0].itemsize / kinds[-1].itemsize
    return max(1.0, growth)


def _name(codec: Codec) -> str:
    """Return the name of a codec without the library before it."""
    return str(codec.get("name")).lower().rpartition(".")[2]


def _parts_of_shard(file: BinaryIO, size: int, metadata: dict[str, Any], shards: dict[str, Any]) -> Any:
    """Return offset and length of the chunks in a shard, by its index; with another index the shard is one chunk."""
    outer = chunk_shape(metadata)
    count = math.prod(a // b for a, b in zip(outer, shards["chunk_shape"], strict=True))
    index_codecs = _as_codecs(shards["index_codecs"])
    order = {(codec.get("configuration") or {}).get("endian", "little") for codec in index_codecs}
    if not SHARD_INDEX_CODECS.issuperset(map(_name, index_codecs)) or order != {"little"}:
        raise ValueError("an index of a shard in another form than little-endian bytes")
    if not 0 < 16 * count <= size:
        return [(0, size)]
    sums = 4 * sum(_name(codec) == "crc32c" for codec in index_codecs)
    file.seek(0 if shards.get("index_location") == "start" else size - 16 * count - sums)
    index = np.frombuffer(file.read(16 * count), "<u8").reshape(-1, 2)
    parts = [(int(offset), int(length)) for offset, length in index[(index != EMPTY_CHUNK).any(axis=1)]]
    return [(offset, min(length, size - offset)) for offset, length in parts if offset < size]


def _uncompressed_size(file: BinaryIO, length: int, codec: Codec, limit: float) -> float:
    """Return the uncompressed size of a chunk: from its header, else counted."""
    name, configuration = _name(codec), codec.get("configuration") or {}
    if name in ("blosc", "lz4"):
        start = 4 if name == "blosc" else 0
        return int.from_bytes(file.read(8)[start : start + 4], "little")
    if name == "zstd":
        return _zstd_size(file, length)
    if name == "bz2":
        return count_inflated(file.read(length), limit, bz2.BZ2Decompressor)
    if name != "lzma":
        return count_inflated(file.read(length), limit)
    if configuration.get("format", lzma.FORMAT_XZ) == lzma.FORMAT_RAW:
        raise ValueError("raw LZMA, which does not state its size")
    return count_inflated(file.read(length), limit, lzma.LZMADecompressor)


def _zstd_size(file: BinaryIO, length: int) -> float:
    """Return the uncompressed size of all frames of zstd.

    The decoder allocates the size in a header, else the largest size of its blocks.
    """
    position, end, total = file.tell(), file.tell() + length, 0
    while position < end:
        file.seek(position)
        header = file.read(ZSTD_HEADER_BYTES)
        magic = int.from_bytes(header[:4], "little")
        if magic >> 4 == ZSTD_SKIPPABLE_MAGIC:
            position += 8 + int.from_bytes(header[4:8], "little")
            continue
        if magic != ZSTD_MAGIC or len(header) < 6:
            raise ValueError("a chunk that is not zstd")
        flags = header[4]
        is_single_segment, size_flag = bool(flags & 32), flags >> 6
        start = 5 + (not is_single_segment) + (0, 1, 2, 4)[flags & 3]
        width = (1 if is_single_segment else 0, 2, 4, 8)[size_flag]
        stated_size = int.from_bytes(header[start : start + width], "little") + (256 if width == 2 else 0)
        position, size_of_blocks, is_last = position + start + width, 0, 0
        while position < end and not is_last:
            file.seek(position)
            block = int.from_bytes(file.read(3), "little")
            is_last, kind, size = block & 1, (block >> 1) & 3, block >> 3
            size_of_blocks += size if kind < 2 else ZSTD_BLOCK_BYTES
            position += 3 + (1 if kind == 1 else size)
        position += 4 * (flags >> 2 & 1)  # a checksum
        total += stated_size if width else size_of_blocks
    return total


# The uncompressed size that the headers of a file state, checked before anything is allocated.

LIST_ELEMENT_NAMES = ("element", "item", "array", "array_element")  # in .parquet files of several writers
NUMBER_BYTES = 8
OBJECT_BYTES = 150  # about the size of an object, or of an array of a few numbers
MAX_SPARSE_SHAPE = 2**20  # largest sum of the numbers of rows and columns of a sparse matrix in any file
MAX_TEXT_BATCH_BYTES = 1 << 25  # texts that are read at once, to measure them
ZARR_KEYS = {  # keys of each file of metadata
    ".zgroup": {"zarr_format"},
    ".zarray": {"zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters"},
    "zarr.json": {"zarr_format", "node_type", "attributes", "consolidated_metadata", "shape", "data_type", "codecs"},
}
ZARR_KEYS[".zarray"] |= {"dimension_separator"}
ZARR_KEYS["zarr.json"] |= {"chunk_grid", "chunk_key_encoding", "fill_value", "dimension_names", "storage_transformers"}
ZARR_NUMBER_BYTES = {f"{kind}{8 * size}": size for kind in ("int", "uint", "float") for size in (1, 2, 4, 8)}
ZARR_NUMBER_BYTES |= {"bool": 1, "complex64": 8, "complex128": 16, "numpy.datetime64": 8, "numpy.timedelta64": 8}
ZARR_NUMBER_BYTES |= dict.fromkeys(("string", "bytes", "variable_length_utf8", "variable_length_bytes"), NUMBER_BYTES)
ZARR_TEXT_TYPES = {"fixed_length_utf32", "null_terminated_bytes", "raw_bytes"}
SPARSE_SHAPES = ("shape", "h5sparse_shape")  # attributes with the shape of a sparse matrix; the second one is older
HDF5_HEAP_MAGIC = b"GCOL\x01\x00\x00\x00"  # the first bytes of a heap in a file of HDF5


def check_npz(path: Path, argument: str, names: set[str]) -> bool:
    """Check these arrays of a .npz file; return whether one of them holds objects."""
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.removesuffix(".npy") in names]
        check_unpacked(sum(info.file_size for info in members), path, argument)
        objects = False
        for info in members:
            with archive.open(info) as file:
                objects |= check_npy(file, info.file_size)  # type: ignore[arg-type]
    return objects


def check_sparse(matrix: Any, path: Path, argument: str) -> Any:
    """Check that the shape of a sparse matrix is plausible for its file, and that its entries are within the shape."""
    _check_shape(matrix.shape, path, argument)
    check_places(matrix, argument)
    return matrix


def _check_shape(shape: Any, path: Path, argument: str) -> None:
    """Check that the rows and columns of a sparse matrix are not more than the bytes of its file.

    Small files may have up to ``MAX_SPARSE_SHAPE``. An entry takes more than a byte, and most rows or columns have an
    entry. A shape itself takes no space in a file, but each row and column of it takes memory, and each row is a point.
    """
    limit, rows_and_columns = read_limit(), sum(map(int, shape))
    max_size = max(MAX_SPARSE_SHAPE, path.stat().st_size) if limit is None else limit / NUMBER_BYTES
    if rows_and_columns > max_size:
        shape_text, needed = " x ".join(f"{float(size):,.0f}" for size in shape), 2.0 * NUMBER_BYTES * rows_and_columns
        requirement = f"must have at most {max_size:,.0f} rows and columns together"
        received = f"{str(path)!r}, {path.stat().st_size:,} bytes of a matrix of {shape_text}"
        hint = f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={needed:.2g}."
        raise InputError(argument, requirement, received, hint)


def check_mtx(path: Path, argument: str) -> None:
    """Check the sizes in the second line of a .mtx file."""
    from scipy.io import mminfo

    rows, columns, entries, kind, _, symmetry = mminfo(path)
    if symmetry != "general" and rows != columns:
        raise ValueError(f"a {symmetry} matrix of {rows:,} rows and {columns:,} columns")
    if kind != "array":
        _check_shape((rows, columns), path, argument)
    check_unpacked(NUMBER_BYTES * (rows * columns if kind == "array" else entries), path, argument)


def check_parquet(file: Any, path: Path, argument: str) -> int:
    """Check the sizes in the footer of an open .parquet file, and return the number of bytes."""
    metadata = file.metadata
    groups = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    size = max(groups, NUMBER_BYTES * metadata.num_rows * metadata.num_columns)
    check_unpacked(size, path, argument)
    text, limit, total = 0, max_unpacked_bytes(path), 0
    for j in range(metadata.num_columns):
        column = file.schema.column(j)
        parts = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups)]
        total += _parquet_column(column, metadata.num_rows, sum(part.num_values for part in parts))
        check_unpacked(total, path, argument)
        if (
            column.physical_type == "BYTE_ARRAY"
            and sum(part.num_values * part.total_uncompressed_size for part in parts) > MIN_UNPACKED_LIMIT_BYTES
        ):
            for i in range(metadata.num_row_groups):
                text += _parquet_text(path, i, column.path)
                check_texts(text, sum(part.num_values for part in parts), limit, path, argument, column.path)
    return int(size)


def _parquet_column(column: Any, rows: int, values: int) -> int:
    """Return the bytes of a column of a .parquet file in a frame, without its texts of any length.

    Each list becomes an array, and each struct, decimal number or time an object. Lists may have more values than the
    table has rows.
    """
    of_objects = column.logical_type.type in ("DECIMAL", "TIME", "DATE")
    nested = column.path != column.name
    of_lists = nested and column.max_repetition_level == 1 and column.name in LIST_ELEMENT_NAMES and not of_objects
    size = max(column.length, NUMBER_BYTES) if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else NUMBER_BYTES
    return size * values + OBJECT_BYTES * (rows if of_lists else values if nested or of_objects else 0)


def _parquet_text(path: Path, group: int, name: str) -> int:
    """Return the bytes of the texts of a column in a group of rows of a .parquet file; each text is read once.

    The file holds repeated texts once, and the sizes in its footer count them once.
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
    """Check that a .zarr folder is complete, that its arrays have plausible shapes, and that nothing is unpickled.

    Unknown metadata raise an error: zarr could allocate more for them than was checked.
    """
    check_folder(path, argument)
    sizes, limit, parts = [], max_unpacked_bytes(path), dict[str, dict[str, Any]]()
    for folder, subfolders, files in os.walk(path):
        attributes: list[Any] = []
        for name in ZARR_KEYS.keys() & set(files):
            metadata = json.loads(Path(folder, name).read_bytes())
            attributes.append(metadata.get("attributes") if name == "zarr.json" else {})
            if "pickle" in _codecs(metadata):
                hint = "Save plain numbers: zarr.save_array(path, array.astype(float))."
                received = f"{str(path)!r} with pickled objects, which are never loaded"
                raise InputError(argument, "must hold plain numbers", received, hint)
            if metadata["zarr_format"] != (3 if name == "zarr.json" else 2):
                raise ValueError(f"{name} of version {metadata['zarr_format']}")
            if unknown := sorted(metadata.keys() - ZARR_KEYS[name]):
                raise ValueError(f"{name} with {unknown[0][:60]!r}, which is not known")
            if name == "zarr.json":
                parts[Path(folder).relative_to(path).as_posix()] = metadata
            if name == ".zarray" or metadata.get("node_type") == "array":
                sizes.append(_size_of_zarr(Path(folder), metadata, path, argument))
                for uncompressed_size in unpacked_chunks(Path(folder), metadata, limit):
                    check_unpacked(int(uncompressed_size), path, argument)
        if ".zattrs" in files:
            attributes.append(json.loads(Path(folder, ".zattrs").read_bytes()))
        for metadata in attributes if "indptr" in subfolders else ():
            sizes += [NUMBER_BYTES * sum(lengths(metadata[key])) for key in SPARSE_SHAPES if key in (metadata or {})]
    _check_copies(parts)
    check_unpacked(sum(sizes), path, argument)


def _size_of_zarr(folder: Path, metadata: dict[str, Any], path: Path, argument: str) -> int:
    """Return the bytes of an array of zarr, by its description, or the bytes of one chunk if that is more."""
    is_version_3 = metadata["zarr_format"] == 3
    if is_version_3 and (metadata["chunk_grid"]["name"] != "regular" or metadata.get("storage_transformers")):
        raise ValueError("chunks in another form than a regular grid")
    count = max(math.prod(lengths(metadata["shape"])), math.prod(lengths(chunk_shape(metadata))))
    item = _item_size(metadata["data_type"]) if is_version_3 else _item_size_of_numpy(metadata["dtype"])
    fill = metadata.get("fill_value")  # the value of elements that were never written
    if item > MAX_TEXT_LENGTH or (isinstance(fill, str) and len(fill) > MAX_TEXT_LENGTH):
        item = max(item, len(fill)) if isinstance(fill, str) else item
        check_texts(item * count, count, max_unpacked_bytes(path), path, argument, os.path.relpath(folder, path))
    for part in (metadata, (metadata.get("chunk_key_encoding") or {}).get("configuration") or {}):
        for separator in (part.get("dimension_separator"), part.get("separator")):
            if separator not in (None, "/", "."):  # it is part of the path of a chunk
                raise ValueError(f"chunks whose numbers are separated by {separator!r}")
    return item * count


def _item_size_of_numpy(kind: Any) -> int:
    """Return the bytes of an element of an array of zarr of version 2, by its type or its fields."""
    if isinstance(kind, list):
        return sum(
            _item_size_of_numpy(field[1]) * math.prod(lengths(field[2]) if len(field) > 2 else ()) for field in kind
        )
    size: int = np.dtype(kind).itemsize
    return max(size, 1)


def _item_size(kind: Any) -> int:
    """Return the bytes of an element of an array of zarr of version 3, by the description of its type."""
    name, configuration = (kind["name"], kind.get("configuration") or {}) if isinstance(kind, dict) else (kind, {})
    if name in ZARR_NUMBER_BYTES:
        return ZARR_NUMBER_BYTES[name]
    if name in ZARR_TEXT_TYPES:
        return max(*lengths(configuration["length_bytes"]), 1)
    if name in ("structured", "struct"):
        fields = [field["data_type"] if isinstance(field, dict) else field[1] for field in configuration["fields"]]
        return sum(map(_item_size, fields))
    raise ValueError(f"the type {str(kind)[:60]}, which is not known")


def _check_copies(parts: dict[str, dict[str, Any]]) -> None:
    """Check that the copies of metadata that groups of a zarr folder hold are equal to the metadata of their parts.

    Copies in the folder itself are not used.
    """
    for location, metadata in parts.items():
        copies = (metadata.get("consolidated_metadata") or {}).get("metadata") or {}
        for name, copy in copies.items() if location != "." else ():
            left, right = (
                json.dumps(item and {key: item[key] for key in item if key != "consolidated_metadata"}, sort_keys=True)
                for item in (parts.get(f"{location}/{name}"), copy)
            )
            if left != right:
                raise ValueError(f"a copy of the metadata of {location}/{name} that differs")


def _codecs(metadata: Any) -> set[str]:
    """Return the names of all codecs in the description of a zarr array, without the library before them."""
    if isinstance(metadata, list):
        return set().union(*map(_codecs, metadata))
    if not isinstance(metadata, dict):
        return set()
    names = {str(metadata[key]).lower().rpartition(".")[2] for key in ("id", "name") if key in metadata}
    return names.union(*map(_codecs, metadata.values()))


def check_hdf5(path: Path, argument: str) -> int:
    """Check that a .h5ad file is complete and has plausible shapes, and return the number of bytes of its arrays.

    Parts that were never written take no space in the file.
    """
    h5py = importlib.import_module("h5py")
    size, texts, limit = 0, [], max_unpacked_bytes(path)
    with h5py.File(path, "r") as file:
        for _, item in hdf5_objects(file, repr(str(path)), argument):
            check_unpacked(_size_of_attributes(item, path), path, argument)
            if isinstance(item, h5py.Dataset):
                count = max(math.prod(item.shape or ()), math.prod(item.chunks or ()))
                size += count * max(item.dtype.itemsize, 1)
                if item.dtype.itemsize > MAX_TEXT_LENGTH:
                    check_texts(count * item.dtype.itemsize, count, limit, path, argument, item.name)
                texts += [item] if item.dtype.hasobject and item.shape is not None else []
            elif "indptr" in item:
                size += NUMBER_BYTES * sum(sum(lengths(item.attrs[key])) for key in SPARSE_SHAPES if key in item.attrs)
            check_unpacked(size, path, argument)
            if isinstance(item, h5py.Dataset):
                check_hdf5_chunks(item)
        text_bytes, max_text_bytes = (
            0,
            max(MIN_UNPACKED_LIMIT_BYTES, path.stat().st_size),
        )  # more only if an address repeats
        for item in texts:
            text_bytes += _size_of_texts(item, path, argument)
            check_texts(text_bytes, 1, max_text_bytes, path, argument, item.name)
    return size + text_bytes


def lengths(value: Any) -> list[int]:
    """Return the lengths of a shape as integers of any size; raise ValueError for anything else."""
    sizes = np.asarray(value, dtype=object).ravel().tolist()
    if not all(isinstance(size, int | np.integer) and size >= 0 for size in sizes):
        raise ValueError(f"a shape of {str(sizes)[:60]}")
    return list(map(int, sizes))


def _size_of_attributes(item: Any, path: Path) -> int:
    """Return the largest size in bytes of texts and lists of any length in the attributes of an object.

    An attribute is read as a whole, and many of its texts may have the same address in the file. A text is no longer
    than the largest heap in the file.
    """
    h5a, size = importlib.import_module("h5py").h5a, 0
    for i in range(h5a.get_num_attrs(item.id)):
        attribute = h5a.open(item.id, index=i)
        count = math.prod(attribute.shape) if attribute.dtype.hasobject else 0
        may_be_large = count * path.stat().st_size > max_unpacked_bytes(path)
        size += count * (_largest_heap(path, path.stat().st_mtime_ns) if may_be_large else 0)
    return size


@lru_cache(maxsize=1)
def _largest_heap(path: Path, _changed: int) -> int:
    """Return the bytes of the largest heap of texts in an HDF5 file; each heap begins with ``HDF5_HEAP_MAGIC``."""
    largest, position = 0, -1
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        while (position := content.find(HDF5_HEAP_MAGIC, position + 1)) >= 0:
            largest = max(largest, min(int.from_bytes(content[position + 8 : position + 16], "little"), len(content)))
    return largest


def _size_of_texts(dataset: Any, path: Path, argument: str) -> int:
    """Return the bytes of texts and lists of any length in a data set of HDF5; many of them may have the same address.

    Each entry of 16 bytes with an address also has the length of the text: entries are read in place of the texts. If
    they cannot be read, no text is longer than the largest heap in the file, and as many texts are read at once as take
    32 MiB.
    """
    max_bytes = max(MIN_UNPACKED_LIMIT_BYTES, path.stat().st_size)
    size = text_lengths(dataset, path)
    if size is not None:
        check_texts(size, dataset.size, max_bytes, path, argument, dataset.name)
        return size
    longest = path.stat().st_size
    if dataset.size * longest > MAX_TEXT_BATCH_BYTES:
        longest = max(_largest_heap(path, path.stat().st_mtime_ns), 1)
    if not dataset.shape:
        return longest
    size, rows = 0, max(1, MAX_TEXT_BATCH_BYTES // longest // max(math.prod(dataset.shape[1:]), 1))
    for start in range(0, len(dataset), rows):
        size += _length(dataset[start : start + rows])
        check_texts(size, dataset.size, max_bytes, path, argument, dataset.name)
    return size


def check_texts(size: int, count: int, max_bytes: float, path: Path, argument: str, name: str) -> None:
    """Check that the total length of the texts of an array is not above a limit.

    Texts that are longer on average than a label or an id may be cannot be used; their limit is the limit of a small
    file.
    """
    user_limit = read_limit()
    limit = max_bytes
    if user_limit is not None:
        limit = user_limit
    elif count > 1 and size > count * MAX_TEXT_LENGTH:
        limit = min(max_bytes, MIN_UNPACKED_LIMIT_BYTES)
    if size > limit:
        requirement = f"must have texts of at most {limit:.3g} bytes in an array"
        received = f"{str(path)!r}, whose array {name.lstrip('/')!r} has {count:,} texts of {size:,} bytes or more"
        hint = f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={2.0 * size:.2g}."
        raise InputError(argument, requirement, received, hint)


def _length(value: Any) -> int:
    """Return the bytes of objects of any length in an array."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return sum(_length(value[name]) for name in value.dtype.names)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return sum(map(_length, value.ravel().tolist()))
    if isinstance(value, np.ndarray):
        return value.nbytes
    return len(value) if isinstance(value, str | bytes) else NUMBER_BYTES
