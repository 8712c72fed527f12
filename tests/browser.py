"""One tab of headless Chromium, driven through its DevTools protocol by the standard library alone."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def _pipe() -> tuple[int, int]:
    """Return a pipe with ends above 9, since Chromium reads and writes 3 and 4."""
    ends = os.pipe()
    duplicates = fcntl.fcntl(ends[0], fcntl.F_DUPFD_CLOEXEC, 10), fcntl.fcntl(ends[1], fcntl.F_DUPFD_CLOEXEC, 10)
    for end in ends:
        os.close(end)
    return duplicates


class Browser:
    """One tab of headless Chromium, driven through a pair of pipes (its DevTools protocol)."""

    def __init__(self, profile: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self.count = 0
        parent_read, child_write = _pipe()
        child_read, parent_write = _pipe()
        self.process = subprocess.Popen(
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{child_read} 4>&{child_write}',
                "_",
                CHROMIUM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=(child_read, child_write),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(child_read)
        os.close(child_write)
        self.reader, self.writer = os.fdopen(parent_read, "rb", 0), os.fdopen(parent_write, "wb", 0)
        self.buffer = b""
        self.session = ""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer; events received meanwhile are stored."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def next_message(self) -> dict[str, Any]:
        """Return the next message of the browser."""
        while b"\0" not in self.buffer:
            chunk = self.reader.read(1 << 16)
            assert chunk, "the browser went away"
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width: int, dark: bool = False) -> None:
        """Open a file in a window of this width, and wait until it is loaded."""
        self.events.clear()
        self.resize(width, dark)
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.next_message())

    def resize(self, width: int, dark: bool = False) -> None:
        """Give the window this width, and light or dark paper."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def await_value(self, script: str) -> Any:
        """Return the value of a promise in the page."""
        response = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in response, response
        return response["result"].get("value")

    def point(self, x: float, y: float) -> None:
        """Move the pointer to a position."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float, count: int = 1) -> None:
        """Click ``count`` times at a position."""
        self.point(x, y)
        for clicks in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=clicks)

    def drag(self, x: float, y: float, u: float, v: float) -> None:
        """Drag the pointer from one place to another."""
        self.point(x, y)
        for kind, *point in (("mousePressed", x, y), ("mouseMoved", u, v), ("mouseReleased", u, v)):
            position = {"x": point[0], "y": point[1]}
            self.call("Input.dispatchMouseEvent", type=kind, **position, button="left", buttons=1, clickCount=1)

    def tap(self, x: float, y: float) -> None:
        """Touch the screen at a position for a moment."""
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS.get(key, 0))

    def pdf(self) -> bytes:
        """Save the page as a PDF file."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def picture(self, path: Path) -> None:
        """Save an image of the whole page."""
        screenshot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(screenshot["data"]))

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.reader.close()
        self.writer.close()
        self.process.terminate()
        self.process.wait(timeout=20)
