"""A figure with its interval, as every part of wirewatt gives it."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Tuple


def _prefix(value: float, high: Optional[float]) -> Tuple[float, str]:
    """Factor and SI prefix with which a figure is easy to read, as the program's own texts have them."""
    largest = max(abs(value), abs(high or 0.0) / 1000)
    for least, factor, prefix in ((1, 1.0, ""), (1e-3, 1e3, "m"), (1e-6, 1e6, "u"), (1e-9, 1e9, "n")):
        if largest >= least or largest == 0:
            return factor, prefix
    return 1e12, "p"


@dataclasses.dataclass(frozen=True)
class Figure:
    """A value with its 95% interval. `value`, `low` and `high` are None where there is none, and
    `reason` says why. `status` is that of the JSON: ok, transferred, misfit, unavailable, ..."""

    value: Optional[float]
    low: Optional[float] = None
    high: Optional[float] = None
    unit: str = ""
    status: str = "ok"
    reason: str = ""
    name: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any], unit: str = "", status: str = "", reason: str = "") -> "Figure":
        """From a JSON object that has value, low and high."""
        return cls(
            value=row.get("value"),
            low=row.get("low"),
            high=row.get("high"),
            unit=row.get("unit", unit),
            status=row.get("status", status) or "ok",
            reason=row.get("reason", reason) or "",
            name=row.get("name", ""),
        )

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.name or 'the figure'} has no value: {self.status}: {self.reason}")
        return self.value

    def __str__(self) -> str:
        if self.value is None:
            return f"no value ({self.status}: {self.reason})"
        scale, prefix = _prefix(self.value, self.high) if self.unit[:1] in ("J", "W") else (1.0, "")
        text = f"{scale * self.value:.4g}"
        if self.low is not None and self.high is not None:
            text += f" ({scale * self.low:.4g}..{scale * self.high:.4g})"
        text = f"{text} {prefix}{self.unit}".rstrip()
        return text if self.status == "ok" else f"{text} ({self.status})"
