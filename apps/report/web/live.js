// The page of `wirewatt top --web`: it asks for the newest line once a second and keeps the history that it draws.
(() => {
  "use strict";
  const kKept = 600;  // refreshes of history
  const kSvg = "http://www.w3.org/2000/svg";
  const at = (id) => document.getElementById(id);
  const prefixes = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  const shown = (value, unit) => {
    const [size, prefix] = prefixes.find(([least]) => Math.abs(value) >= least) ?? [1e-12, "p"];
    return value === 0 ? `0 ${unit}` : `${Number((value / size).toPrecision(3))} ${prefix}${unit}`;
  };
  const figure = (of, unit) => (of ? `${shown(of.value, unit)} (${shown(of.low, unit)}..${shown(of.high, unit)})` : "–");
  const rows = new Map();  // by name: cells and history
  const rowOf = (name) => {
    if (rows.has(name)) return rows.get(name);
    const row = at("rows").insertRow();
    const cells = ["name", "value", "history", "status"].map(() => row.insertCell());
    cells[0].textContent = name;
    cells[1].className = "n";
    const svg = document.createElementNS(kSvg, "svg");
    svg.setAttribute("viewBox", `0 0 ${kKept} 60`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    const line = document.createElementNS(kSvg, "polyline");
    line.setAttribute("class", `line c${rows.size % 8 + 1}`);
    svg.append(line);
    const scale = document.createElement("small");
    scale.className = "mut";
    cells[2].append(svg, scale);
    const made = { cells, svg, line, scale, history: [] };
    rows.set(name, made);
    return made;
  };
  const draw = (name, value, text, status, unit) => {
    const row = rowOf(name);
    row.cells[1].textContent = text;
    row.cells[3].textContent = status;
    row.history.push(value);
    if (row.history.length > kKept) row.history.shift();
    const most = Math.max(...row.history.filter(Number.isFinite), 0);
    const points = row.history.map((one, i) => [i + kKept - row.history.length, one])
      .filter(([, one]) => Number.isFinite(one))
      .map(([x, one]) => `${x},${58 - 54 * (most > 0 ? one / most : 0)}`);
    row.line.setAttribute("points", points.join(" "));
    row.scale.textContent = most > 0 ? `0 to ${shown(most, unit)}` : "";
    row.svg.setAttribute("aria-label", `${name}: ${text}`);
  };
  const show = (now) => {
    document.title = `wirewatt top: ${now.device ?? ""}`;
    at("device").textContent = now.device ?? "";
    at("source").textContent = now.source ?? "";
    at("virtual").hidden = !now.virtual;
    at("misfit").hidden = now.status !== "misfit";
    at("misfit").textContent = now.status === "misfit" ? `Misfit, rely on no figure of a segment: ${now.reason}` : "";
    if (Number.isFinite(now.device_w)) draw("device", now.device_w, shown(now.device_w, "W"), "", "W");
    for (const one of now.segments ?? []) {
      draw(one.segment, one.power_w?.value ?? NaN, figure(one.power_w, "W"), one.status, "W");
    }
    at("energy").textContent = now.energy_j
      ? `${figure(now.energy_j, "J")} in ${Math.round(now.seconds)} s, by ${now.energy_by}`
      : now.energy_reason ?? "";
    at("state").textContent = now.running === false ? "The program has ended." : "";
  };
  const ask = async () => {
    try {
      const reply = await fetch("now.json", { cache: "no-store" });
      if (reply.status === 200) show(await reply.json());
      setTimeout(ask, 1000);
    } catch {
      at("state").textContent = "wirewatt top has ended; the history stays.";
    }
  };
  ask();
})();
