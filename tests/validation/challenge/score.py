"""Scores intervals against sealed truths: coverage at every level with a simultaneous band, the interval
score, errors, strata, and simpler methods beside. Pure functions; scripts/challenge reads the files.

A fit states a value and a 95% interval. The *level* of a campaign is the confidence at which the
interval, scaled as that of a normal distribution, would just reach the truth: 0 at the value, 0.95 at
the interval's end. If intervals are right, levels are uniform between 0 and 1, and the share of levels
below L is L. The band around that share holds for all L at once with 95% (Dvoretzky, Kiefer, Wolfowitz;
constant by Massart, Ann. Probab. 18 (1990) 1269): sqrt(ln(2 / 0.05) / 2n)."""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
from harness import binomial_p, median  # noqa: E402

TO_95 = 1.959963984540054


def level(truth, value, low, high):
    """Confidence at which the interval just holds the truth; 1 where the interval has no width."""
    half = (high - value) if truth >= value else (value - low)
    distance = abs(truth - value)
    if half <= 0:
        return 0.0 if distance == 0 else 1.0
    return math.erf(TO_95 * distance / half / math.sqrt(2))


def band_half_width(count, miss=0.05):
    """How far the share of levels below L may lie from L, for all L at once."""
    return math.sqrt(math.log(2 / miss) / (2 * count))


def departures(levels):
    """The most by which the share of levels below L exceeds L, and falls short of it."""
    ordered = sorted(levels)
    n = len(ordered)
    above = max(((i + 1) / n - x for i, x in enumerate(ordered)), default=0.0)
    below = max((x - i / n for i, x in enumerate(ordered)), default=0.0)
    return max(0.0, above), max(0.0, below)


def interval_score(truth, low, high, miss=0.05):
    """Width, and 2/miss times how far the truth lies outside (Gneiting and Raftery, JASA 102 (2007) 359, eq. 43)."""
    return high - low + 2 / miss * (max(0.0, low - truth) + max(0.0, truth - high))


def judge(rows):
    """`rows`: (truth, value, low, high) each. None without rows."""
    rows = list(rows)
    if not rows:
        return None
    n = len(rows)
    levels = [level(*row) for row in rows]
    above, below = departures(levels)
    band = band_half_width(n)
    covered = sum(low <= truth <= high for truth, _, low, high in rows)
    verdict = "within" if max(above, below) <= band else "too narrow" if below > band else "too wide"
    errors = [100 * (value / truth - 1) for truth, value, _, _ in rows]
    over = [2 * (value - truth) / (high - low) for truth, value, low, high in rows if high > low]
    return {
        "campaigns": n,
        "covered": covered,
        "binomial_p": binomial_p(n, covered),
        "band": band,
        "above": above,
        "below": below,
        "verdict": verdict,
        "median_error_percent": median([abs(e) for e in errors]),
        "mean_error_percent": sum(errors) / n,
        "worst_error_percent": max(errors, key=abs),
        "median_half_width_percent": median([50 * (high - low) / truth for truth, _, low, high in rows]),
        # 0.51 where the intervals are exact and errors are normal.
        "rms_error_over_half_width": math.sqrt(sum(z * z for z in over) / len(over)) if over else None,
        "interval_score_percent": sum(100 * interval_score(truth, low, high) / truth
                                      for truth, _, low, high in rows) / n,
        "levels": [sum(x <= (i + 1) / 10 for x in levels) for i in range(10)],
    }


def constant(model, name):
    return next((c for c in model.get("constants", []) if c["name"] == name), None)


def row_of(found, truth, sensed=False):
    low, high = ("sensed_low", "sensed_high") if sensed else ("low", "high")
    if found is None or found.get("value") is None or found.get(low) is None or found.get(high) is None:
        return None
    return truth, found["value"], found[low], found[high]


TARGETS = {
    "with switches": lambda model, truth: row_of(model["energy_fj_per_bit_mm"], truth["switches_included_fj_per_bit_mm"]),
    "saved by less traffic": lambda model, truth: row_of(model["energy_fj_per_bit_mm"], truth["saved_fj_per_bit_mm"]),
    "sensed": lambda model, truth: row_of(model["energy_fj_per_bit_mm"], truth["sensed_fj_per_bit_mm"], True),
    "wires alone": lambda model, truth: row_of(constant(model, "wire_energy_fj_per_bit_mm"),
                                               truth["wires_fj_per_bit_mm"]),
}


def outcome(campaign):
    """ended, refused, flagged, not_identified or ok."""
    if campaign["status"] != "fitted":
        return campaign["status"]
    if campaign["model"]["misfit"]["flagged"]:
        return "flagged"
    return "ok" if campaign["model"]["energy_fj_per_bit_mm"].get("value") is not None else "not_identified"


def score(campaigns):
    """`campaigns`: {name, status: ended|refused|fitted, reason, model, truth, baselines} each, opened."""
    outcomes = {}
    reasons = {}
    for campaign in campaigns:
        kind = outcome(campaign)
        outcomes[kind] = outcomes.get(kind, 0) + 1
        if kind in ("ended", "refused"):
            reasons.setdefault(campaign["reason"], []).append(campaign["name"])
        if kind == "flagged":
            reasons.setdefault("flagged: " + campaign["model"]["misfit"]["reason"].split(" by ")[0][:80],
                               []).append(campaign["name"])
    answered = [c for c in campaigns if outcome(c) == "ok"]
    result = {"campaigns": len(campaigns), "outcomes": outcomes, "reasons": reasons, "targets": {}, "strata": {}}
    for target, row in TARGETS.items():
        result["targets"][target] = judge(r for r in (row(c["model"], c["truth"]) for c in answered) if r)
        groups = {}
        for c in answered:
            found = row(c["model"], c["truth"])
            if found is None:
                continue
            for name, value in c["truth"]["strata"].items():
                groups.setdefault((name, value), []).append(found)
        result["strata"][target] = [{"stratum": f"{name}: {value}", **judge(rows)}
                                    for (name, value), rows in sorted(groups.items())]
    flagged = [c for c in campaigns if outcome(c) == "flagged"]
    result["flagged_outside"] = sum(
        not (r[2] <= r[0] <= r[3]) for r in (TARGETS["with switches"](c["model"], c["truth"]) for c in flagged) if r)
    swapped = [c for c in campaigns if c.get("truth") and c["truth"]["strata"].get("names") != "right"]
    result["swapped"] = {"campaigns": len(swapped), "answered": sum(outcome(c) == "ok" for c in swapped)}
    result["baselines"] = {"ours": result["targets"]["with switches"]}
    for name in ("two_plateaus", "iiswc16"):
        rows = []
        for c in answered:
            found = c["baselines"][name]
            if found["value_fj_per_bit_mm"] is None:
                continue
            value = found["value_fj_per_bit_mm"]
            rows.append((c["truth"]["switches_included_fj_per_bit_mm"], value,
                         found.get("low", value), found.get("high", value)))
        result["baselines"][name] = judge(rows)
    return result


def line(name, judged):
    if judged is None:
        return f"{name:<34} none"
    over = judged["rms_error_over_half_width"]
    return (f"{name:<34} {judged['campaigns']:>5} {judged['covered']:>7} {judged['binomial_p']:>8.3f} "
            f"{judged['above']:>6.3f} {judged['below']:>6.3f} {judged['band']:>6.3f}  {judged['verdict']:<10} "
            f"{judged['median_error_percent']:>7.2f} {judged['mean_error_percent']:>+7.2f} "
            f"{judged['worst_error_percent']:>+8.1f} {judged['median_half_width_percent']:>7.2f} "
            f"{'-' if over is None else format(over, '.2f'):>7} {judged['interval_score_percent']:>8.1f}")


HEAD = (f"{'':<34} {'n':>5} {'covered':>7} {'p':>8} {'above':>6} {'below':>6} {'band':>6}  {'verdict':<10} "
        f"{'|err|%':>7} {'mean%':>7} {'worst%':>8} {'half%':>7} {'rms/hw':>7} {'score%':>8}")


def notable(strata, count=3):
    """What lies outside of its band or is covered too seldom, and the strata with the worst interval scores."""
    worst = sorted(strata, key=lambda s: -s["interval_score_percent"])[:count]
    return [s for s in strata if s["verdict"] == "too narrow" or s["binomial_p"] < 0.05 or s in worst]


def text(result, all_strata=False):
    lines = [f"{result['campaigns']} campaigns: "
             + ", ".join(f"{count} {kind}" for kind, count in sorted(result["outcomes"].items())), ""]
    for reason, names in sorted(result["reasons"].items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(names):>4}  {reason} ({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})")
    lines += ["", HEAD] + [line(name, judged) for name, judged in result["targets"].items()]
    lines += ["", "Simpler methods on the campaigns that were answered, against the truth with switches:"]
    lines += [line(name, judged) for name, judged in result["baselines"].items()]
    for target, strata in result["strata"].items():
        shown = strata if all_strata else notable(strata)
        lines += ["", f"Strata, {target}{'' if all_strata else ' (outside of the band, or the worst by score)'}:"]
        lines += [line("  " + s["stratum"], s) for s in shown]
    lines += ["", f"flagged, and the truth outside of the interval: {result['flagged_outside']}",
              f"engines swapped in the floorplan: {result['swapped']['campaigns']}, "
              f"answered without a flag: {result['swapped']['answered']}"]
    return "\n".join(lines)
