"""Kernels for the cells of pages that begin with the imports done: copies (forks) of one process.

A page spends two seconds of its process on imports, and there are fifty pages. The process imports, and computes
nothing, so that a copy is as good as a new process: no thread, no seed and no warning is carried over.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from jupyter_client.manager import AsyncKernelManager

IMPORTS = (
    "IPython.core.interactiveshell",
    "dreval.evaluation.evaluation",
    "dreval.report",
    "ipykernel.kernelapp",
    "matplotlib.figure",
    "pandas",
    "scipy.stats",
    "sklearn.manifold",
)


class Copy:
    """A process that another one has forked, with the methods of ``subprocess.Popen`` that managers of kernels use."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """Return 0 if the process has ended."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self) -> int:
        """Wait for the end of the process."""
        while self.poll() is None:
            time.sleep(0.05)
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal to the process."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """End the process."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)


class Template:
    """The process that is copied."""

    def __init__(self) -> None:
        backend = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        code = "from _site._kernels import copy_on_request; copy_on_request()"
        self._process: Any = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | backend,
            start_new_session=True,
        )
        self._lock = threading.Lock()

    def copy(self, connection_file: str, folder: str) -> Copy:
        """Start a kernel in a folder."""
        with self._lock:
            print(json.dumps([connection_file, folder]), file=self._process.stdin, flush=True)
            return Copy(int(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def copy_on_request() -> None:
    """Import, then fork for every line of standard input, and print the number of the process."""
    if sys.path[0] == "":
        del sys.path[0]
    for name in IMPORTS:
        __import__(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended copies are not waited for
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _run_kernel(*json.loads(line))
        print(pid, flush=True)


def _run_kernel(connection_file: str, folder: str) -> None:
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # with it, the kernel ends
    try:
        IPKernelApp.launch_instance(argv=["-f", connection_file, "--HistoryManager.hist_file=:memory:", parent])
    finally:
        os._exit(0)  # never back into the loop of the template


def manager_of(template: Template) -> type[AsyncKernelManager]:
    """Return a class of managers whose kernels are copies of a process."""

    class CopyManager(AsyncKernelManager):
        """Starts a kernel as a copy."""

        async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
            provisioner: Any = self.provisioner
            provisioner.process = template.copy(self.connection_file, options["cwd"])
            provisioner.pid = provisioner.process.pid
            self._reconcile_connection_info(provisioner.connection_info)

    return CopyManager
