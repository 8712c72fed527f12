"""What the compressed chunks of an array unpack to, which their headers or a look at their blocks tell.

The description of an array says how large a chunk should be. Decoders do not read it: they allocate what a chunk says
of itself, or all that comes out of it. Only chunks are looked at that are large enough to unpack to more than a file
may: there are few of them.
"""

from __future__ import annotations

import bz2
import importlib
import io
import lzma
import math
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

DEFLATE_RATIO = 1032  # bytes out of one, at most: of deflate in HDF5, gzip and zlib
ANY_RATIO = 1 << 15  # at most, or nearly, of all other codecs: zstd, of 128 KiB out of 4 bytes
BZ2_RATIO = 1 << 21
STEP_BYTES = 1 << 20  # that are unpacked at once, and given up
SHUFFLE, FLETCHER, CHECKSUM = 2, 3, 4  # filters of HDF5 that compress nothing, and the bytes that the second one adds
BLOCK_BYTES = 1 << 17  # that a block of zstd unpacks to at most
HEADER_BYTES = 18  # of a frame of zstd
EMPTY = 2**64 - 1  # offset and length of a chunk that a shard does not have
ZSTD, SKIPPED = 0xFD2FB528, 3  # first bytes of a frame; type of a block that does not exist
SHARDS = "sharding_indexed"
ENTRY_BYTES = 16  # of a text in HDF5: its length, the address of its heap and its place there
METADATA = ("zarr.json", ".zarray", ".zattrs")
DEFLATE = {"gzip", "zlib"}
PASSED = {"bytes", "endian", "transpose", "crc32c", "crc32", "adler32", "fletcher32", "shuffle", "vlen-utf8"}
PASSED |= {"vlen-bytes", "vlen-array", "delta", "fixedscaleoffset", "astype", "quantize", "bitround", "packbits"}
PASSED |= {"categorize", "json2", "msgpack2", "jenkins_lookup3"}
Codec = dict[str, Any]


def inflated(blob: bytes, limit: float, decoder: Any = None) -> float:
    """Return the bytes that a compressed blob unpacks to, counted up to a limit; nothing is kept of them."""
    made, decoder = 0, decoder or zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        if hasattr(decoder, "unconsumed_tail"):
            while blob and made <= limit and not decoder.eof:
                made += len(decoder.decompress(blob, STEP_BYTES))
                blob = decoder.unconsumed_tail
            return made
        while made <= limit and not decoder.eof:
            part = decoder.decompress(blob, STEP_BYTES)
            made, blob = made + len(part), b""
            if not part and decoder.needs_input:
                break
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
        return math.prod(map(int, kind.get_array_dims())) * _stored_size(kind.get_super(), address)
    members = [kind.get_member_type(i) for i in range(kind.get_nmembers())] if kind.get_class() == h5t.COMPOUND else []
    size: int = kind.get_size()
    return size + sum(_stored_size(one, address) - one.get_size() for one in members)


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
    if "codecs" in about:
        return [one if isinstance(one, dict) else {"name": one} for one in about["codecs"]]
    listed = [*(about.get("filters") or []), *([about["compressor"]] if about.get("compressor") else [])]
    return [{"name": one["id"], "configuration": one} for one in listed]


def unpacked_chunks(folder: Path, about: dict[str, Any], limit: float) -> Iterator[float]:
    """Yield what each chunk of an array of zarr unpacks to that may be more than a limit.

    Raises
    ------
    ValueError
        If chunks are compressed more than once.
    """
    codecs, shards = zarr_codecs(about), None
    if codecs and _name(codecs[0]) == SHARDS:
        shards = codecs[0].get("configuration") or {}
        codecs = [*(one if isinstance(one, dict) else {"name": one} for one in shards.get("codecs", ())), *codecs[1:]]
    packing = [name for name in map(_name, codecs) if name not in PASSED]
    if len(packing) > 1:
        raise ValueError(f"chunks that are compressed {len(packing)} times ({', '.join(packing)[:60]})")
    if not packing:
        return
    ratio = DEFLATE_RATIO if packing[0] in DEFLATE else BZ2_RATIO if packing[0] == "bz2" else ANY_RATIO
    for path in (Path(place, name) for place, _, names in os.walk(folder) for name in names):
        if (size := os.path.getsize(path)) * ratio <= limit or path.name in METADATA:
            continue
        with path.open("rb") as file:
            parts = [(0, size)] if shards is None else _parts_of_shard(file, size, about, shards)
            for at, length in parts:
                if length * ratio > limit and at + length <= size:
                    file.seek(at)
                    yield _unpacked(file, length, packing[0], limit)


def _name(codec: Codec) -> str:
    """The name of a codec without the library before it."""
    return str(codec.get("name")).lower().rpartition(".")[2]


def _parts_of_shard(file: BinaryIO, size: int, about: dict[str, Any], shards: dict[str, Any]) -> Any:
    """Offset and length of the chunks in a shard, by its index; what has another index is one chunk."""
    outer = about["chunk_grid"]["configuration"]["chunk_shape"]
    count = math.prod(a // b for a, b in zip(outer, shards["chunk_shape"], strict=True))
    if not 0 < 16 * count <= size:
        return [(0, size)]
    sums = sum(4 for one in shards.get("index_codecs", ()) if isinstance(one, dict) and _name(one) == "crc32c")
    file.seek(0 if shards.get("index_location") == "start" else size - 16 * count - sums)
    index = np.frombuffer(file.read(16 * count), "<u8").reshape(-1, 2)
    return [(int(at), int(length)) for at, length in index[index[:, 1] != EMPTY]]


def _unpacked(file: BinaryIO, length: int, codec: str, limit: float) -> float:
    """Bytes that a chunk unpacks to: by its header, else counted."""
    if codec in ("blosc", "lz4"):
        start = 4 if codec == "blosc" else 0
        return int.from_bytes(file.read(8)[start : start + 4], "little")
    if codec == "zstd":
        return _zstd_size(file, length)
    if codec in DEFLATE:
        return inflated(file.read(length), limit)
    if codec in ("bz2", "lzma"):
        return inflated(file.read(length), limit, bz2.BZ2Decompressor() if codec == "bz2" else lzma.LZMADecompressor())
    return 0.0  # a codec that dreval does not know


def _zstd_size(file: BinaryIO, length: int) -> float:
    """Bytes of a frame of zstd: its decoder allocates what its header says, else what its blocks may hold."""
    start = file.tell()
    head = file.read(HEADER_BYTES)
    if int.from_bytes(head[:4], "little") != ZSTD or len(head) < 6:
        return 0.0  # its decoder fails
    flags = head[4]
    single, sized, marked = bool(flags & 32), flags >> 6, (0, 1, 2, 4)[flags & 3]
    at = 5 + (not single) + marked
    width = (1 if single else 0, 2, 4, 8)[sized]
    if width:
        return int.from_bytes(head[at : at + width], "little") + (256 if width == 2 else 0)
    file.seek(start + at)
    made = 0
    while file.tell() < start + length:
        block = int.from_bytes(file.read(3), "little")
        kind, size = (block >> 1) & 3, block >> 3
        made += size if kind < 2 else BLOCK_BYTES
        if block & 1 or kind == SKIPPED:
            break
        file.seek(1 if kind == 1 else size, os.SEEK_CUR)
    return made
