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
