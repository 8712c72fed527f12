"""Tensors, arrays and tables of other libraries, brought to numpy and pandas; nothing of them is imported here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dreval._check import describe
from dreval.errors import InputError

__all__ = ["as_numpy", "as_pandas", "is_table"]

MAIN = (1, 3, 11, 13)  # devices of DLPack that numpy reads: main memory, and what CUDA and ROCm pin or manage in it
_REFUSED = (TypeError, ValueError, RuntimeError, NotImplementedError, BufferError, AttributeError)


def as_numpy(value: Any, argument: str) -> Any:
    """A tensor, or an array of another library, as numpy has it; a sparse tensor as scipy has it; all else as it is.

    Gradients are left behind, tensors of torch are copied from their device, half precision (bfloat16 and float8, which
    numpy has not) is widened exactly. What cannot be brought to main memory is refused.
    """
    if isinstance(value, np.ndarray | list | tuple | pd.Series | pd.DataFrame | pd.Index):
        return value
    try:
        if hasattr(value, "detach") and hasattr(value, "numpy"):
            return _from_tensor(value)
        if hasattr(value, "__dlpack_device__"):
            return _from_dlpack(value)
    except _REFUSED as error:
        why = " ".join(str(error).split())[:100]
        cure = "Copy it to main memory as a plain array first, for instance with .cpu() or .to_dense()."
        raise InputError(argument, "must become an array of numpy", f"{describe(value)} ({why})", cure) from error
    return value


def _from_tensor(value: Any) -> Any:
    """A tensor of torch."""
    value = value.detach()
    if getattr(value, "is_quantized", False):
        value = value.dequantize()
    if getattr(value, "is_sparse", False) or str(getattr(value, "layout", "")).startswith("torch.sparse"):
        return _sparse_tensor(value.to_sparse().coalesce())
    value = value.cpu()
    for view in ("resolve_conj", "resolve_neg"):
        value = getattr(value, view)() if hasattr(value, view) else value
    narrow = "float8" in str(getattr(value, "dtype", "")) or "bfloat16" in str(getattr(value, "dtype", ""))
    return (value.float() if narrow else value).numpy()


def _sparse_tensor(value: Any) -> Any:
    """A sparse tensor by its places, as a matrix of scipy."""
    from scipy.sparse import coo_array

    return coo_array((_from_tensor(value.values()), tuple(_from_tensor(value.indices()))), shape=tuple(value.shape))


def _from_dlpack(value: Any) -> Any:
    """An array that others may read in place, by its own conversion where it has one."""
    device = int(value.__dlpack_device__()[0])
    if device not in MAIN:
        raise BufferError(f"it lies on a device of DLPack's type {device}, not in main memory")
    array = np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    return array.astype(np.float32) if array.dtype.kind == "V" and "float" in array.dtype.name else array


def is_table(value: Any) -> bool:
    """Whether a value looks like a table of polars or Arrow, or one of their columns."""
    return (hasattr(value, "to_pandas") or _is_lazy(value)) and not isinstance(value, np.ndarray)


def _is_lazy(value: Any) -> bool:
    """Whether a value is a query of polars that has not been run."""
    return type(value).__name__ == "LazyFrame" and hasattr(value, "collect")


def as_pandas(value: Any, argument: str) -> Any:
    """A table of polars or Arrow as pandas has it, a column as a series; both need pyarrow."""
    if _is_lazy(value):
        raise InputError(argument, "must be a table", "a query that has not been run", "Pass frame.collect().")
    try:
        return value.to_pandas()
    except ImportError as error:
        got, cure = f"{type(value).__name__} without pyarrow installed", 'Run: pip install "dreval[parquet]"'
        raise InputError(argument, "needs pyarrow to read such a table", got, cure) from error
    except (TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:100]
        cure = "Pass an array or a DataFrame with a row for each point."
        raise InputError(argument, "must be a table of rows and columns", f"{describe(value)} ({why})", cure) from error
