"""A figure with its interval, as every part of wirewatt gives it."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional


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
        text = f"{self.value:.4g} {self.unit}".rstrip()
        if self.low is not None and self.high is not None:
            text += f" [{self.low:.4g}, {self.high:.4g}]"
        return text if self.status == "ok" else f"{text} ({self.status})"
