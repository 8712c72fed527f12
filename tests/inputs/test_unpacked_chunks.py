"""The size of compressed chunks is known before they are unpacked: bombs raise errors, usual codecs are read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import resource
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import led_outside
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.sizes import _zstd_size, check_hdf5_chunks, count_inflated, text_lengths

pytestmark = [pytest.mark.doors, pytest.mark.filterwarnings("ignore")]
SIZE = 300 * 2**20  # above 256 MiB, that any file may unpack to
GROWTH = 100  # MiB of the peak of memory, at most
NUMBERS = np.arange(90.0).reshape(30, 3)
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def assert_error(path: Path, match: str = "must unpack to at most") -> None:
    """Check that the file raises an error without taking the memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=match):
        as_data(path)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < GROWTH


def deflated() -> bytes:
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(2**20)) for _ in range(SIZE // 2**20)) + packer.flush()


def with_chunk(folder: Path, blob: bytes, version: int, **about: Any) -> Path:
    """AnnData in zarr with another chunk of a layer."""
    import anndata

    anndata.settings.zarr_write_format = version
    path = folder / "cells.zarr"
    led_outside.cells().write_zarr(path)
    part = path / "layers" / "counts"
    name = part / ("zarr.json" if version == 3 else ".zarray")
    name.write_text(json.dumps({**json.loads(name.read_text()), **about}))
    for file in part.rglob("*"):
        if file.is_file() and file.name not in ("zarr.json", ".zarray", ".zattrs"):
            file.write_bytes(blob)
    return path


def test_counting() -> None:
    """The count is that of the output, up to the limit; truncated or invalid data count their partial output."""
    blob = zlib.compress(bytes(5 * 2**20))
    assert count_inflated(blob, 10**9) == count_inflated(gzip.compress(bytes(5 * 2**20)), 10**9) == 5 * 2**20
    assert 2**20 < count_inflated(blob, 2**20) <= 2 * 2**20
    assert count_inflated(bz2.compress(bytes(5 * 2**20)), 10**9, bz2.BZ2Decompressor) == 5 * 2**20
    assert count_inflated(lzma.compress(bytes(5 * 2**20))[:-9], 10**9, lzma.LZMADecompressor) <= 5 * 2**20
    assert count_inflated(b"no deflate", 10**9) == 0


@given(st.lists(st.binary(max_size=300).map(lambda part: part * 50), min_size=1, max_size=5), st.integers(0, 9))
def test_counting_all_streams(parts: list[bytes], zeros: int) -> None:
    """As many bytes as the decoders of the formats give; without sizes in the frames of zstd, no less."""
    from numcodecs import Zstd

    output = b"".join(parts)
    packed = bytes(zeros).join(map(gzip.compress, parts))
    assert gzip.decompress(packed) == output
    assert count_inflated(packed, 10**9) == len(output)
    for module, new in ((bz2, bz2.BZ2Decompressor), (lzma, lzma.LZMADecompressor)):
        packed = b"".join(map(module.compress, parts))
        assert module.decompress(packed) == output
        assert count_inflated(packed, 10**9, new) == len(output)
    for checked in (False, True):
        frames = [Zstd(1, checked).encode(part) for part in parts if part]
        file = io.BytesIO(b"before" + SKIPPED.join(frames) + b"behind")
        file.seek(6)
        assert _zstd_size(file, len(file.getvalue()) - 12) == len(output)
        joined = b"".join(map(unsized, frames))
        assert len(output) <= _zstd_size(io.BytesIO(joined), len(joined)) <= 2**17 * len(parts)


FORMS = ["zstd 3", "zstd of no size 3", "gzip 3", "zlib 2", "bz2 2", "lzma 2", "blosc 2", "lz4 2"]


@pytest.mark.parametrize("form", FORMS)
def test_a_bomb_in_a_chunk_of_zarr(form: str, tmp_path: Path) -> None:
    from numcodecs import LZ4, Blosc, Zstd

    zeros = np.zeros(SIZE if form != "lz4 2" else 4 * SIZE, np.uint8)
    codecs = {"codecs": [BYTES, {"name": "zstd", "configuration": {"level": 0, "checksum": False}}]}
    frame = bytes(Zstd(3).encode(zeros)) if "zstd" in form else b""
    frame = unsized(frame) if "no size" in form else frame
    result: dict[str, Callable[[], Path]] = {
        "zstd 3": lambda: with_chunk(tmp_path, frame, 3, **codecs),
        "zstd of no size 3": lambda: with_chunk(tmp_path, frame, 3, **codecs),
        "gzip 3": lambda: with_chunk(
            tmp_path,
            gzip.compress(zeros.tobytes(), 9),
            3,
            codecs=[BYTES, {"name": "gzip", "configuration": {"level": 5}}],
        ),
        "zlib 2": lambda: with_chunk(tmp_path, deflated(), 2, compressor={"id": "zlib", "level": 1}),
        "bz2 2": lambda: with_chunk(tmp_path, bz2.compress(zeros.tobytes()), 2, compressor={"id": "bz2", "level": 1}),
        "lzma 2": lambda: with_chunk(
            tmp_path,
            lzma.compress(zeros.tobytes(), preset=0),
            2,
            compressor={"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
        ),
        "blosc 2": lambda: with_chunk(tmp_path, Blosc("zstd", 9).encode(zeros), 2),
        "lz4 2": lambda: with_chunk(tmp_path, LZ4().encode(zeros), 2, compressor={"id": "lz4", "acceleration": 1}),
    }
    path = result[form]()
    assert_error(path)


LIMIT = 2e6  # bytes that a file may unpack to, in tests of small files
PACKED_ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
SKIPPED = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"  # an empty frame of zstd
LZMA = {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None}


def unsized(blob: bytes) -> bytes:
    """The blocks of a frame of zstd behind a header without a size: a window of 128 KiB."""
    flags = blob[4]
    return (
        blob[:4]
        + bytes([flags & 4, 0x38])
        + blob[5 + (not flags & 32) + (1 if flags & 32 else 0, 2, 4, 8)[flags >> 6] :]
    )


def shard(*blobs: bytes, change: int = 0) -> bytes:
    """Return a shard of these chunks, whose lengths are changed in its index."""
    import google_crc32c

    starts = np.cumsum([0, *map(len, blobs)])[:-1]
    index = np.array(
        [(at, (len(blob) + change) % 2**64) for at, blob in zip(starts, blobs, strict=True)], "<u8"
    ).tobytes()
    return b"".join(blobs) + index + int(google_crc32c.value(index)).to_bytes(4, "little")


def sharding(*codecs: Any, endian: str = "little") -> dict[str, Any]:
    index = [{"name": "bytes", "configuration": {"endian": endian}}, {"name": "crc32c"}]
    about = {"chunk_shape": [30, 3], "codecs": codecs, "index_codecs": index, "index_location": "end"}
    return {"name": "sharding_indexed", "configuration": about}


def behind(name: str) -> tuple[bytes, int, dict[str, Any]]:
    """Return a chunk whose oversized part is not at its beginning, the version, and the metadata."""
    from numcodecs import Zstd

    plain_bytes, bomb = NUMBERS.tobytes(), bytes(5 * 2**20)
    zstd = Zstd(1).encode(bomb)
    second: dict[str, tuple[bytes, dict[str, Any]]] = {
        "two frames of zstd": (Zstd().encode(plain_bytes) + zstd, {"id": "zstd", "level": 1}),
        "a skipped frame of zstd": (SKIPPED + zstd, {"id": "zstd", "level": 1}),
        "a skipped frame of zstd, no size": (SKIPPED + unsized(zstd), {"id": "zstd", "level": 1}),
        "a frame of zstd with a checksum": (Zstd(1, True).encode(plain_bytes) + zstd, {"id": "zstd", "level": 1}),
        "two streams of gzip": (gzip.compress(plain_bytes) + gzip.compress(bomb), {"id": "gzip", "level": 1}),
        "gzip behind zeros": (
            gzip.compress(plain_bytes) + bytes(40_000) + gzip.compress(bomb),
            {"id": "gzip", "level": 1},
        ),
        "two streams of bz2": (bz2.compress(plain_bytes) + bz2.compress(bomb), {"id": "bz2", "level": 1}),
        "two streams of lzma": (lzma.compress(plain_bytes) + lzma.compress(bomb), LZMA),
        "many streams of lzma": (lzma.compress(bytes(10**5)) * 40, LZMA),
    }
    if name in second:
        blob, compressor = second[name]
        return blob, 2, {"compressor": compressor, "filters": None}
    packed = gzip.compress(bomb)
    shards = {
        "a shard longer than its file": shard(packed, change=10**6),
        "a shard of any length": shard(packed, change=-1 - len(packed)),
    }
    return shards[name], 3, {"codecs": [sharding(BYTES, {"name": "gzip", "configuration": {"level": 5}})]}


PLACES = [f"{place} of zstd" for place in ("two frames", "a skipped frame")]
PLACES += ["a skipped frame of zstd, no size", "a frame of zstd with a checksum", "gzip behind zeros"]
PLACES += [f"two streams of {codec}" for codec in ("gzip", "bz2", "lzma")]
PLACES += ["many streams of lzma", "a shard longer than its file", "a shard of any length"]


@pytest.mark.parametrize("name", PLACES)
def test_a_bomb_that_is_not_first(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREVAL_READ_LIMIT", str(LIMIT))
    blob, version, about = behind(name)
    assert_error(with_chunk(tmp_path, blob, version, **about))


CODECS: dict[str, tuple[int, dict[str, Any], str]] = {
    "astype": (2, {"filters": [{"id": "astype", "encode_dtype": "|i1", "decode_dtype": "<U2000000"}]}, "other types"),
    "delta": (2, {"filters": [{"id": "delta", "dtype": "<f8", "astype": "<U9"}]}, "other types than numbers"),
    "scale": (
        2,
        {"filters": [{"id": "fixedscaleoffset", "offset": 0, "scale": 1, "dtype": "<U2000000", "astype": "|u1"}]},
        "other types than numbers",
    ),
    "no type": (2, {"filters": [{"id": "quantize", "digits": 3}]}, "other types than numbers"),
    "categorize": (
        2,
        {"filters": [{"id": "categorize", "labels": ["a"], "dtype": "<U2000000", "astype": "|u1"}]},
        "the codec 'categorize'",
    ),
    "json": (2, {"filters": [{"id": "json2"}]}, "the codec 'json2'"),
    "unknown": (3, {"codecs": [BYTES, {"name": "numcodecs.pcodec"}]}, "the codec 'pcodec'"),
    "shards in a shard": (3, {"codecs": [sharding(sharding(BYTES, PACKED_ZSTD))]}, "the codec 'sharding_indexed'"),
    "shards and more": (3, {"codecs": [sharding(BYTES), PACKED_ZSTD]}, "the codec 'sharding_indexed'"),
    "changed": (
        2,
        {"filters": [{"id": "zlib", "level": 1}, {"id": "delta", "dtype": "|u1"}], "compressor": None},
        "changed after zlib",
    ),
}


@pytest.mark.parametrize("name", CODECS)
def test_unknown_codecs(name: str, tmp_path: Path) -> None:
    version, about, match = CODECS[name]
    assert_error(with_chunk(tmp_path, bytes(250), version, **about), match)


def test_codecs_whose_chunks_cannot_be_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only large chunks are checked."""
    monkeypatch.setenv("DREVAL_READ_LIMIT", str(LIMIT))
    assert_error(with_chunk(tmp_path, bytes(10**4), 2, compressor=LZMA | {"format": lzma.FORMAT_RAW}), "raw LZMA")
    assert_error(with_chunk(tmp_path, bytes(10**4), 3, codecs=[BYTES, PACKED_ZSTD]), "not zstd")
    about = {"codecs": [sharding(BYTES, PACKED_ZSTD, endian="big")]}
    assert_error(with_chunk(tmp_path, bytes(10**4), 3, **about), "an index of a shard")
    packbits = [{"id": "packbits"}] * 4
    assert_error(with_chunk(tmp_path, bytes(10**4), 2, filters=packbits, compressor=None), "unpack to at most")


METADATA: dict[str, tuple[int, dict[str, Any], str]] = {
    "a negative length": (2, {"shape": [-(10**15)], "chunks": [3]}, "a shape of"),
    "a negative chunk": (2, {"shape": [30, 3], "chunks": [-(10**15), 3]}, "a shape of"),
    "a negative length of version 3": (3, {"shape": [-(10**15), 3]}, "a shape of"),
    "a length beyond 64 bits": (2, {"shape": [2**62, 2**62], "chunks": [3, 3]}, "unpack to at most"),
    "a fraction": (2, {"shape": [30.5, 3]}, "a shape of"),
    "another type": (3, {"dtype": {"must_understand": False}}, "zarr.json with 'dtype'"),
    "other chunks": (3, {"chunks": {"must_understand": False}}, "zarr.json with 'chunks'"),
    "codecs of version 3": (2, {"codecs": []}, ".zarray with 'codecs'"),
    "another version": (3, {"zarr_format": 2}, "zarr.json of version 2"),
    "a type that is not known": (3, {"data_type": "r64000000"}, "the type r64000000"),
    "another grid": (3, {"chunk_grid": {"name": "rectilinear", "configuration": {}}}, "another form"),
    "a long text": (
        3,
        {"data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8_000_000}}},
        "must have texts of at most",
    ),
    "a negative text": (3, {"data_type": {"name": "raw_bytes", "configuration": {"length_bytes": -8}}}, "a shape of"),
    "a long text in fields": (
        3,
        {
            "data_type": {
                "name": "structured",
                "configuration": {
                    "fields": [["a", {"name": "null_terminated_bytes", "configuration": {"length_bytes": 8_000_000}}]]
                },
            }
        },
        "must have texts of at most",
    ),
}


@pytest.mark.parametrize("name", METADATA)
def test_metadata_of_zarr(name: str, tmp_path: Path) -> None:
    """Shapes must be sizes, and unknown keys and types raise errors."""
    version, about, match = METADATA[name]
    assert_error(with_chunk(tmp_path, bytes(720), version, **about), match)


@pytest.mark.parametrize("version", [2, 3])
def test_shapes_of_sparse_matrices_in_zarr(version: int, tmp_path: Path) -> None:
    path = with_chunk(tmp_path, bytes(720), version)
    part = path / "layers"
    (part / "indptr").mkdir()
    for shape, match in (([-(10**15), 0], "a shape of"), ([2**62, 2**62], "unpack to at most")):
        name = part / ("zarr.json" if version == 3 else ".zattrs")
        about = json.loads(name.read_text())
        if version == 3:
            about["attributes"]["shape"] = shape
        else:
            about["shape"] = shape
        name.write_text(json.dumps(about))
        assert_error(path, match)


def test_copies_of_metadata(tmp_path: Path) -> None:
    """Zarr uses copies of a group within the folder: they must equal the metadata of their parts."""
    import anndata
    import zarr

    anndata.settings.zarr_write_format = 3
    path, cells = tmp_path / "cells.zarr", led_outside.cells()
    cells.write_zarr(path)
    zarr.consolidate_metadata(str(path / "obs"))
    zarr.consolidate_metadata(str(path))
    assert np.array_equal(np.asarray(as_data(path).dense()), cells.X)
    name = path / "obs" / "zarr.json"
    about = json.loads(name.read_text())
    about["consolidated_metadata"]["metadata"]["score"]["shape"] = [10**9]
    name.write_text(json.dumps(about))
    assert_error(path, "a copy of the metadata of obs/score that differs")
    about["consolidated_metadata"]["metadata"] = {"../obs/score": about["consolidated_metadata"]["metadata"]["score"]}
    name.write_text(json.dumps(about))
    assert_error(path, r"a copy of the metadata of obs/\.\./obs/score that differs")
    anndata.settings.zarr_write_format = 2
    cells.write_zarr(tmp_path / "second.zarr")
    copy = {"consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": {}}}
    (tmp_path / "second.zarr" / "obs" / ".zgroup").write_text(json.dumps({"zarr_format": 2, **copy}))
    assert_error(tmp_path / "second.zarr", r"\.zgroup with 'consolidated_metadata'")


def test_a_bomb_in_a_shard(tmp_path: Path) -> None:
    import google_crc32c
    import zarr
    from numcodecs import Zstd

    array = zarr.create_array(str(tmp_path / "x.zarr"), shape=(30, 3), chunks=(15, 3), shards=(30, 3), dtype="f8")
    array[:] = np.random.default_rng(0).normal(size=(30, 3))
    assert as_data(tmp_path / "x.zarr").n == 30
    file = next(path for path in (tmp_path / "x.zarr").rglob("*") if path.is_file() and path.name != "zarr.json")
    blob = Zstd(3).encode(np.zeros(SIZE, np.uint8))
    index = np.array([0, len(blob), 0, len(blob)], "<u8").tobytes()
    file.write_bytes(blob + index + int(google_crc32c.value(index)).to_bytes(4, "little"))
    assert_error(tmp_path / "x.zarr")


def test_compressed_twice(tmp_path: Path) -> None:
    """A small chunk could have any size."""
    import h5py

    packed = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
    assert_error(with_chunk(tmp_path, b"", 3, codecs=[BYTES, packed, packed]), "compressed 2 times")
    path = hdf5_chunk(tmp_path / "cells.h5ad", zlib.compress(deflated()), 2)
    assert_error(path, "compressed 2 times")
    assert h5py.is_hdf5(path)


def hdf5_chunk(path: Path, blob: bytes, times: int) -> Path:
    """AnnData with another chunk of a layer, compressed so many times."""
    import h5py

    led_outside.cells().write_h5ad(path)
    with h5py.File(path, "r+") as file:
        about = dict(file["layers/counts"].attrs)
        del file["layers/counts"]
        settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        settings.set_chunk((30, 3))
        for _ in range(times):
            settings.set_deflate(9)
        space = h5py.h5s.create_simple((30, 3))
        result = h5py.h5d.create(file["layers"].id, b"counts", h5py.h5t.NATIVE_DOUBLE, space, settings)
        result.write_direct_chunk((0, 0), blob)
        h5py.Dataset(result).attrs.update(about)
    return path


def test_a_bomb_in_a_chunk_of_hdf5(tmp_path: Path) -> None:
    assert_error(hdf5_chunk(tmp_path / "cells.h5ad", deflated(), 1), "has a chunk of more bytes where 720 belong")


SHORT_CHUNKS: dict[str, tuple[dict[str, Any], bytes]] = {  # how a data set is written, and a chunk that is too short
    "gzip": ({"compression": "gzip"}, zlib.compress(bytes(16))),
    "gzip, one number less": ({"compression": "gzip"}, zlib.compress(bytes(712))),
    "gzip, one number more": ({"compression": "gzip"}, zlib.compress(bytes(728))),
    "gzip, cut": ({"compression": "gzip"}, zlib.compress(NUMBERS.tobytes())[:-40]),
    "shuffle and gzip": ({"compression": "gzip", "shuffle": True}, zlib.compress(bytes(16))),
    "gzip and a checksum": ({"compression": "gzip", "fletcher32": True}, b"ab"),
    "lzf": ({"compression": "lzf"}, b"\x02abc\xe0\x10\x00"),
    "lzf, more": ({"compression": "lzf"}, b"\x02abc" + b"\xe0\xff\x00" * 3),
    "no filter": ({}, bytes(16)),
    "no filter, more": ({}, bytes(800)),
    "shuffle": ({"shuffle": True}, bytes(16)),
    "a checksum": ({"fletcher32": True}, b"ab"),
    "scale and offset": ({"scaleoffset": 3}, bytes(30)),
    "texts": ({"dtype": "str"}, bytes(30 * 3 * 8)),
}


@pytest.mark.parametrize("kind", SHORT_CHUNKS)
def test_chunks_of_another_size(kind: str, tmp_path: Path) -> None:
    """HDF5 would return the memory behind them, or crash; it is not called."""
    import h5py

    options, blob = SHORT_CHUNKS[kind]
    options = {"dtype": "f8"} | options
    dtype = h5py.string_dtype() if options["dtype"] == "str" else options["dtype"]
    led_outside.cells().write_h5ad(tmp_path / "cells.h5ad")
    with h5py.File(tmp_path / "cells.h5ad", "r+") as file:
        result = file["uns"].create_dataset("short", shape=(30, 3), chunks=(30, 3), **(options | {"dtype": dtype}))
        result.id.write_direct_chunk((0, 0), blob)
    assert_error(tmp_path / "cells.h5ad", "has a chunk of .* bytes where|has the filter 6; write")


def test_filters_of_other_packages(tmp_path: Path) -> None:
    """Sizes are those in the headers of zstd; for other filters, such as Blosc, the size is unknown."""
    import h5py
    from numcodecs import Blosc, Zstd

    for number, blob, size in (
        (32015, Zstd().encode(NUMBERS), 720),
        (32015, Zstd().encode(NUMBERS[1:]), 696),
        (32001, Blosc().encode(NUMBERS), None),
        (32008, b"a", None),
    ):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            settings.set_chunk((30, 3))
            settings.set_filter(number, h5py.h5z.FLAG_OPTIONAL, ())
            space = h5py.h5s.create_simple((30, 3))
            result = h5py.Dataset(h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_DOUBLE, space, settings))
            result.id.write_direct_chunk((0, 0), blob)
            if size == 720:
                check_hdf5_chunks(result)
                continue
            match = f"the filter {number}" if size is None else f"a chunk of {size} bytes where 720 belong"
            with pytest.raises(ValueError, match=match):
                check_hdf5_chunks(result)


VALID_FORMATS: dict[str, dict[str, Any]] = {
    "one behind the other": {},
    "chunks": {"chunks": (7, 2)},
    "shuffle": {"chunks": (7, 2), "shuffle": True},
    "gzip": {"chunks": (7, 2), "compression": "gzip"},
    "all that goes with gzip": {"chunks": (7, 2), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "lzf": {"chunks": (7, 2), "compression": "lzf"},
    "all that goes with lzf": {"chunks": (7, 2), "compression": "lzf", "shuffle": True, "fletcher32": True},
    "a checksum": {"chunks": (7, 2), "fletcher32": True},
    "any length": {"maxshape": (None, None), "compression": "gzip"},
}


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.parametrize("layout", VALID_FORMATS)
def test_files_of_h5py_are_read(layout: str, latest: bool, tmp_path: Path) -> None:
    """Numbers that compress well and badly, texts, lists and fields are read; also chunks that were never written.

    HDF5 has no checksums for data of variable length.
    """
    import h5py

    rng = np.random.default_rng(0)
    lists = np.empty((30, 3), object)
    for location in np.ndindex(30, 3):
        lists[location] = rng.integers(0, 9, 3)
    fields = np.dtype(
        [("a", "i4"), ("text", h5py.string_dtype()), ("two", "f4", (2,)), ("list", h5py.vlen_dtype("i2"))]
    )
    values = {
        "zeros": np.zeros((30, 3)),
        "normal": rng.normal(size=(30, 3)),
        "small": rng.integers(0, 3, (30, 3)).astype(np.int8),
        "fixed": np.full((30, 3), b"text"),
        "truth": np.ones((30, 3), bool),
    }
    with h5py.File(tmp_path / "x.h5", "w", libver="latest" if latest else "earliest") as file:
        for name, value in values.items():
            file.create_dataset(name, data=value, **VALID_FORMATS[layout])
        texts = np.full((30, 3), "text", object)
        if "fletcher32" not in VALID_FORMATS[layout]:
            file.create_dataset("texts", data=texts, dtype=h5py.string_dtype(), **VALID_FORMATS[layout])
            file.create_dataset("lists", (30, 3), h5py.vlen_dtype("i8"), **VALID_FORMATS[layout])[...] = lists
            result = file.create_dataset("fields", (30, 3), fields, **VALID_FORMATS[layout])
            result[0, 0] = (1, "text", (1, 2), np.array([1, 2], "i2"))
            references = np.full((30, 3), result.ref)
            file.create_dataset("references", data=references, dtype=h5py.ref_dtype, **VALID_FORMATS[layout])
        file.create_dataset("none", shape=(30, 3), dtype="f8", **VALID_FORMATS[layout])[:7] = 1.0
        file.create_dataset("empty", shape=(0, 3), dtype="f8", maxshape=(None, 3))
        file["null"], file["one"], file["text"] = h5py.Empty("f8"), 1.0, "text"
    with h5py.File(tmp_path / "x.h5") as file:
        for name in file:
            check_hdf5_chunks(file[name])


@pytest.mark.parametrize("compression", [None, "gzip", "lzf"])
def test_files_of_anndata_are_read(compression: Any, tmp_path: Path) -> None:
    import scipy.sparse

    cells = led_outside.cells()
    cells.layers["sparse"] = scipy.sparse.random(30, 3, 0.5, "csr", random_state=0)
    cells.write_h5ad(tmp_path / "cells.h5ad", compression=compression)
    assert np.array_equal(np.asarray(as_data(tmp_path / "cells.h5ad").dense()), cells.X)


def repeated(path: Path, name: str, count: int, text: str) -> None:
    """Texts that all are the same place in the file."""
    import h5py

    with h5py.File(path, "r+") as file:
        result = file.create_dataset(name, (count,), dtype=h5py.string_dtype())
        result[0], result[count - 1] = text, "x"
        result.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
        location = result.id.get_offset()
    with path.open("r+b") as file:
        file.seek(location)
        header = file.read(16)
        file.seek(location)
        file.write(header * count)


def test_one_text_many_times(tmp_path: Path) -> None:
    """In an array and in an attribute; many short texts, and a long one, are valid."""
    import h5py

    path = tmp_path / "cells.h5ad"
    led_outside.cells().write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file["uns/texts"] = np.array([f"text {i}" for i in range(20_000)], dtype=object)
        file["uns/texts"].attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
        file["uns/long"] = "a" * 2**16
        file["uns/long"].attrs.update({"encoding-type": "string", "encoding-version": "0.2.0"})
        file["uns"].attrs["names"] = np.array([f"name {i}" for i in range(2000)], dtype=object)
    assert as_data(path).n == 30
    repeated(path, "uns/bomb", 3000, "a" * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match="must unpack to at most"):
        as_data(path)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 400

    led_outside.cells().write_h5ad(path)
    with h5py.File(path, "r+") as file:
        texts = np.array(["a" * 2**20, *["b" * 40] * 2999], dtype=object)
        file["obs"].attrs.create("more", texts, dtype=h5py.string_dtype())
    raw = bytearray(path.read_bytes())
    at, key = 0, (2**20).to_bytes(4, "little")
    while (at := raw.find(key, at)) >= 0:
        if raw[at + 16 : at + 20] == (40).to_bytes(4, "little"):
            raw[at : at + 16 * 3000] = bytes(raw[at : at + 16]) * 3000
        at += 1
    path.write_bytes(raw)
    assert_error(path)


@pytest.mark.parametrize("version", [2, 3])
def test_usual_codecs_are_read(version: int, tmp_path: Path) -> None:
    """Constant numbers, which all codecs pack best, in every usual codec."""
    import numcodecs
    import zarr
    from zarr import codecs as third

    X = np.zeros((4000, 50))
    X[:, 0] = np.arange(4000)
    second = [getattr(numcodecs, name)() for name in ("Blosc", "Zstd", "Zlib", "GZip", "BZ2", "LZMA", "LZ4")]
    packed = second if version == 2 else [third.ZstdCodec(), third.GzipCodec(), third.BloscCodec()]
    for i, chunk in enumerate([None, *packed]):  # other tests cover the defaults
        path = tmp_path / f"{i}.zarr"
        options = {"zarr_format": version, "compressors": chunk}
        result = zarr.create_array(str(path), shape=X.shape, chunks=(1000, 50), dtype="f8", **options)
        result[:] = X
        assert np.array_equal(np.asarray(as_data(path).dense()), X), chunk


def test_usual_filters_are_read(tmp_path: Path) -> None:
    """Numbers with the default compression are read, also in shards."""
    import numcodecs
    import zarr
    from zarr import codecs as third

    X = np.arange(3000.0).reshape(1000, 3)
    filters = [
        numcodecs.Delta("<f8"),
        numcodecs.FixedScaleOffset(0, 1, "<f8", "<i2"),
        numcodecs.AsType("<f4", "<f8"),
        numcodecs.Quantize(3, "<f8"),
        numcodecs.Shuffle(8),
    ]
    options: list[dict[str, Any]] = [{"zarr_format": 2, "filters": [codec]} for codec in filters]
    options += [{}, {"shards": (500, 3)}, {"filters": [third.TransposeCodec(order=(1, 0))]}]
    options += [{"compressors": [third.ZstdCodec(), third.Crc32cCodec()]}]
    for i, option in enumerate(options):
        path = tmp_path / f"{i}.zarr"
        result = zarr.create_array(str(path), shape=X.shape, chunks=(100, 3), dtype="f8", **option)
        result[:] = X
        assert np.array_equal(np.asarray(as_data(path).dense()), X), option


@pytest.mark.parametrize("version", [2, 3])
def test_files_of_anndata_in_zarr_are_read(version: int, tmp_path: Path) -> None:
    """Every type of column, fields, sparse matrices and values without a shape."""
    import anndata
    import pandas as pd
    import scipy.sparse

    anndata.settings.zarr_write_format = version
    cells = led_outside.cells()
    cells.layers["sparse"] = scipy.sparse.random(30, 3, 0.5, "csr", random_state=0)
    cells.obsm["frame"] = pd.DataFrame({"a": np.arange(30.0), "b": ["x", "y", "z"] * 10}, index=cells.obs_names)
    cells.obs["count"] = pd.array([1, 2, None] * 10, dtype="Int64")
    cells.obs["truth"] = pd.array([True, False, None] * 10, dtype="boolean")
    cells.uns["fields"] = np.zeros(5, [("a", "f4"), ("b", "S3"), ("c", "i8")])
    cells.uns["more"] = {"text": "a", "number": 3, "texts": np.array(["a", "bc"]), "fixed": np.array([b"a"], "S1")}
    cells.uns["more"] |= {"complex": np.ones(3, complex), "half": np.ones(3, np.float16), "none": None, "empty": {}}
    cells.write_zarr(tmp_path / "cells.zarr")
    data = as_data(tmp_path / "cells.zarr", labels="kind")
    assert np.array_equal(np.asarray(data.dense()), cells.X)


@pytest.mark.parametrize("packed", [None, "zstd", "gzip", "lzma"])
@pytest.mark.parametrize("version", [2, 3])
def test_the_number_of_texts_in_a_chunk(version: int, packed: str | None, tmp_path: Path) -> None:
    """It is allocated before they are read."""
    import numcodecs

    blob = (2**28).to_bytes(4, "little") + bytes(8)
    blob = numcodecs.get_codec({"id": packed}).encode(blob) if packed else blob
    if version == 2:
        about: dict[str, Any] = {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "fill_value": ""}
        about["compressor"] = {"id": packed, **({"format": 1} if packed == "lzma" else {})} if packed else None
    else:
        name = "numcodecs.lzma" if packed == "lzma" else packed
        codecs = [{"name": name, "configuration": {"format": 1} if packed == "lzma" else {}}] if packed else []
        about = {"data_type": "string", "codecs": [{"name": "vlen-utf8"}, *codecs], "fill_value": ""}
    assert_error(with_chunk(tmp_path, blob, version, **about), "a chunk of 268,435,456 texts where 90 belong")


@pytest.mark.parametrize("version", [2, 3])
def test_texts_in_zarr_are_read(version: int, tmp_path: Path) -> None:
    """Texts in several chunks, the last of them partial, and in shards, with all compressors, are read."""
    import numcodecs
    import zarr
    from zarr import codecs as third

    options: list[dict[str, Any]] = [{}, {"compressors": None}]
    if version == 2:
        names = ("Blosc", "Zstd", "Zlib", "GZip", "BZ2", "LZMA", "LZ4")
        options += [{"compressors": getattr(numcodecs, name)()} for name in names]
    else:
        options += [{"shards": (20,)}, {"compressors": third.BloscCodec()}, {"compressors": third.GzipCodec()}]
        options += [{"compressors": [third.ZstdCodec(), third.Crc32cCodec()]}]
    texts = np.array(list("abc") * 10, dtype=object)
    path = with_chunk(tmp_path, bytes(720), version)
    obs = zarr.open_group(str(path), mode="r+", use_consolidated=False)["obs"]
    for option in options:
        result = obs.create_array("kind", shape=(30,), chunks=(4,), dtype=str, overwrite=True, **option)
        result[:] = texts
        result.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
        labels = as_data(path, labels="kind").labels
        assert labels is not None
        assert labels.values.tolist() == texts.tolist(), option


LAYOUTS: dict[str, dict[str, Any]] = {
    "one behind the other": {},
    "chunks": {"chunks": (7,)},
    "gzip": {"chunks": (7,), "compression": "gzip"},
    "shuffle and gzip": {"chunks": (7,), "compression": "gzip", "shuffle": True},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lengths_of_texts(layout: str, tmp_path: Path) -> None:
    """Without reading the texts; those that were never written have none."""
    import h5py

    texts = ["a" * size for size in np.random.default_rng(0).integers(0, 9000, 40)]
    with h5py.File(tmp_path / "x.h5", "w") as file:
        result = file.create_dataset("x", (50,), h5py.string_dtype(), **LAYOUTS[layout])
        result[:40] = texts
        file.create_dataset("none", (50,), h5py.string_dtype(), **LAYOUTS[layout])
        file.create_dataset("lzf", data=texts, dtype=h5py.string_dtype(), compression="lzf")
        file.create_dataset("fixed", data=np.array(texts, "S9000"))
    with h5py.File(tmp_path / "x.h5") as file:
        assert text_lengths(file["x"], tmp_path / "x.h5") == sum(map(len, texts))
        assert text_lengths(file["none"], tmp_path / "x.h5") == 0
        assert text_lengths(file["lzf"], tmp_path / "x.h5") is None
        assert text_lengths(file["fixed"], tmp_path / "x.h5") is None


@pytest.mark.parametrize("kind", ["plain", "lzf"])
def test_long_labels(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts longer than any label, in a file of such a size, raise an error before they are read."""
    import h5py

    monkeypatch.setattr("dreval.inputs.sizes.MIN_UNPACKED_LIMIT_BYTES", 2**22)

    path = tmp_path / "cells.h5ad"
    led_outside.cells().write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["obs/kind"]
        options = {} if kind == "plain" else {"compression": "lzf", "chunks": (1,)}
        result = file["obs"].create_dataset("kind", (30,), h5py.string_dtype(), **options)
        for i in range(30):
            result[i] = "abc"[i % 3] * 3 * 10**5
        result.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
    assert_error(path, "must have texts of at most")


def test_many_texts_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a label may have, together no longer than the file."""
    monkeypatch.setattr("dreval.inputs.sizes.MIN_UNPACKED_LIMIT_BYTES", 2**16)
    cells = led_outside.cells()
    cells.obs["free"] = [chr(97 + i) * 5000 for i in range(30)]
    cells.write_h5ad(tmp_path / "cells.h5ad", convert_strings_to_categoricals=False)
    labels = as_data(tmp_path / "cells.h5ad", labels="free").labels
    assert labels is not None
    assert labels.values.tolist() == cells.obs["free"].tolist()


def test_many_columns_of_the_same_text(tmp_path: Path) -> None:
    """Each column alone may be read; all of them are more than the file has."""
    import h5py

    path = tmp_path / "cells.h5ad"
    led_outside.cells().write_h5ad(path)
    repeated(path, "obs/first", 30, "a" * 90_000)
    with h5py.File(path, "r+") as file:
        for i in range(100):
            file[f"uns/{i}"] = file["obs/first"]  # the same object, which is counted once
    assert as_data(path).n == 30
    for i in range(100):
        repeated(path, f"uns/other{i}", 30, "a" * 90_000)
    assert_error(path, "must have texts of at most")


@pytest.mark.parametrize("version", [2, 3])
def test_a_long_fill_value(version: int, tmp_path: Path) -> None:
    """The fill value of elements without a written chunk is a long text."""
    import anndata

    anndata.settings.zarr_write_format = version
    cells = led_outside.cells()
    cells.obs["free"] = [f"text {i}" for i in range(30)]
    anndata.settings.allow_write_nullable_strings = False
    cells.write_zarr(tmp_path / "cells.zarr", convert_strings_to_categoricals=False)
    part = tmp_path / "cells.zarr" / "obs" / "free"
    name = part / ("zarr.json" if version == 3 else ".zarray")
    name.write_text(json.dumps({**json.loads(name.read_text()), "fill_value": "a" * 10_000_000}))
    for file in part.rglob("*"):
        if file.is_file() and file.name not in ("zarr.json", ".zarray", ".zattrs"):
            file.unlink()
    assert_error(tmp_path / "cells.zarr", "must have texts of at most")


@pytest.mark.parametrize("key", ["shape", "h5sparse_shape"])
@pytest.mark.parametrize("shape", [[-(10**15), 0], [2**62, 2**62], [2.5, 3.0], ["a", "b"]])
def test_shapes_of_sparse_matrices(key: str, shape: list[Any], tmp_path: Path) -> None:
    """Sums of integers of 64 bits would pass zero."""
    import h5py

    path = tmp_path / "cells.h5ad"
    led_outside.cells().write_h5ad(path)
    with h5py.File(path, "r+") as file:
        result = file["uns"].create_group("sparse")
        result["indptr"] = [0]
        result.attrs[key] = shape
    assert_error(path, "unpack to at most" if shape[0] == 2**62 else "a shape of")
