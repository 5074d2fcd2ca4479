"""Windows by name around parts of a program, as energy monitors for training have them:

    monitor = WindowMonitor(model="first-run")
    monitor.begin_window("epoch")
    ...
    print(monitor.end_window("epoch").interconnect)

Windows may not overlap: one session measures one stretch at a time.
"""

from typing import Optional

import wirewatt


class WindowMonitor:
    def __init__(self, device: str = "", model: str = "") -> None:
        self._session = wirewatt.Session(device, model)
        self._open: Optional[str] = None

    def begin_window(self, name: str) -> None:
        if self._open is not None:
            raise wirewatt.UsageError(f"window '{self._open}' is open; end it before '{name}' begins")
        self._session.begin()
        self._open = name

    def end_window(self, name: str) -> wirewatt.Bracket:
        if self._open != name:
            raise wirewatt.UsageError(f"window '{name}' is not open")
        self._open = None
        return self._session.end()
