// What makes a page interactive. Each figure.chart holds a drawn SVG (for print, and for readers
// without scripts) and its data as JSON; here it becomes a Chart.js chart with hover values, zoom,
// a legend that toggles, keys, and the data as a table. Tables sort and copy as CSV. Each chart and
// drawing can be saved as SVG and PNG.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const live = document.getElementById("live");
  const charts = [];
  window.wirewatt = { charts };

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const digits = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(5))) : "–");
  const wholeName = (bar) => bar.hint ?? bar.name;
  const say = (text) => { live.textContent = text; };

  // Colours as the page resolves them now; a canvas knows no CSS variables.
  const probe = make("span", { hidden: "" });
  document.body.append(probe);
  const palette = new Map();  // emptied when the theme changes
  const colour = (name) => {
    if (!palette.has(name)) {
      probe.style.color = `var(--${name})`;
      palette.set(name, getComputedStyle(probe).color);
    }
    return palette.get(name);
  };
  const faded = (css, alpha) => css.replace(/^rgba?\(([^)]*)\)$/, (_, parts) => {
    const [r, g, b] = parts.split(/[ ,/]+/);
    return `rgba(${r},${g},${b},${alpha})`;
  });
  const seriesColour = (number) => colour(`c${(number - 1) % 8 + 1}`);
  // A series has a marker and a dash of its own besides its colour, the dash as page.css draws it.
  const markers = ["circle", "triangle", "rect", "rectRot", "circle", "star", "crossRot", "cross"];
  const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [], [1, 2], [4, 4], [12, 3]];
  const ofSeries = (list, number) => list[(number - 1) % list.length];

  // Error bars, shaded spans, zero line, intervals and marks of bars.
  const extras = {
    id: "extras",
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales } = chart;
      const data = chart.wirewatt.data;
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.width, area.height);
      ctx.clip();
      for (const [from, to, number] of data.bands || []) {
        const left = scales.x.getPixelForValue(from);
        ctx.fillStyle = faded(seriesColour(number), 0.2);
        ctx.fillRect(left, area.top, Math.max(0.5, scales.x.getPixelForValue(to) - left), area.height);
      }
      if (data.zero) {
        ctx.strokeStyle = colour("mut");
        const y = scales.y.getPixelForValue(0);
        ctx.beginPath();
        ctx.moveTo(area.left, y);
        ctx.lineTo(area.right, y);
        ctx.stroke();
      }
      ctx.restore();
    },
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales } = chart;
      const data = chart.wirewatt.data;
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.width, area.height);
      ctx.clip();
      ctx.lineWidth = 1.3;
      const stroke = (x1, y1, x2, y2) => {
        ctx.beginPath();
        ctx.moveTo(x1, y1);
        ctx.lineTo(x2, y2);
        ctx.stroke();
      };
      if (data.kind === "bars") {
        ctx.strokeStyle = colour("fg");
        data.bars.forEach((bar, index) => {
          const y = scales.y.getPixelForValue(index);
          if (bar.interval) {
            const [low, high] = bar.interval.map((v) => scales.x.getPixelForValue(v));
            stroke(low, y, high, y);
            stroke(low, y - 4, low, y + 4);
            stroke(high, y - 4, high, y + 4);
          }
          if (bar.mark !== undefined) {
            const x = scales.x.getPixelForValue(bar.mark);
            ctx.setLineDash([3, 2]);
            stroke(x, y - 10, x, y + 10);
            ctx.setLineDash([]);
          }
        });
      } else {
        chart.data.datasets.forEach((set, index) => {
          if (!set.wwErrors || !chart.isDatasetVisible(index)) return;
          ctx.strokeStyle = seriesColour(data.series[index].colour);
          set.data.forEach((point) => {
            if (!(point.e > 0)) return;
            const x = scales.x.getPixelForValue(point.x);
            stroke(x, scales.y.getPixelForValue(point.y - point.e), x, scales.y.getPixelForValue(point.y + point.e));
          });
        });
      }
      ctx.restore();
    },
  };

  const plotDatasets = (data) => data.series.map((series) => ({
    label: series.name,
    data: series.x.map((x, i) => ({ x, y: series.y[i], e: series.e ? series.e[i] : 0 })),
    wwErrors: Boolean(series.e),
    wwHints: series.hint,
    borderColor: () => seriesColour(series.colour),
    backgroundColor: () => faded(seriesColour(series.colour), 0.75),
    pointStyle: ofSeries(markers, series.colour),
    borderDash: ofSeries(dashes, series.colour),
    showLine: Boolean(series.line),
    pointRadius: series.line && !series.dots ? 0 : Math.max(2, series.radius),
    pointHitRadius: 6,
    pointHoverRadius: 6,
    borderWidth: 1.4,
    order: series.line ? 0 : 1,
  }));
  const barDatasets = (data) => data.legend.map((name, part) => ({
    label: name,
    data: data.bars.map((bar) => bar.parts[part]),
    backgroundColor: () => seriesColour(part + 1),
    maxBarThickness: 18,
  }));
  const swatches = (chart) => {
    const { data, legend } = chart.wirewatt;
    chart.canvas.closest("figure").querySelectorAll("button i").forEach((swatch, place) => {
      const index = legend[place];
      swatch.style.background = seriesColour(data.kind === "bars" ? index + 1 : data.series[index].colour);
    });
  };

  // A bar's name takes at most two fifths of the chart: what does not fit goes from its middle.
  function barName(index) {
    const name = String(this.getLabelForValue(index));
    const letters = Math.max(8, Math.floor((0.4 * this.chart.width) / 6.7));
    if (name.length <= letters) return name;
    const head = Math.ceil((letters - 1) / 2);
    return `${name.slice(0, head)}…${name.slice(name.length - (letters - 1 - head))}`;
  }
  const scaleOf = (title, names) => ({
    type: "linear",
    title: { display: Boolean(title), text: title, color: () => colour("mut") },
    grid: { color: () => colour("rule") },
    ticks: { color: () => colour("mut"), ...(names && names.length
      ? { stepSize: 1, autoSkip: false, callback: (value) => names[value] ?? "" }
      : { callback: digits }) },
    ...(names && names.length ? { min: -0.5, max: names.length - 0.5,
      afterBuildTicks: (axis) => { axis.ticks = names.map((_, value) => ({ value })); } } : {}),
  });
  // From the least to the most with error bars, and 0 where a line is drawn there.
  const spanOf = (data) => {
    const ends = data.series.flatMap((series) => series.y.flatMap((y, i) => {
      const e = series.e ? series.e[i] : 0;
      return [y - e, y + e];
    }));
    if (data.zero) ends.push(0);
    return ends.length ? { suggestedMin: Math.min(...ends), suggestedMax: Math.max(...ends) } : {};
  };
  const mostX = (data) => Math.max(...data.series.flatMap((series) => series.x));  // what lies above the axis, too
  const configure = (data) => {
    const bars = data.kind === "bars";
    const hint = (item) => {
      if (bars) return `${item.dataset.label}: ${digits(item.parsed.x)} ${data.unit}`;
      const point = item.raw;
      const told = item.dataset.wwHints?.[item.dataIndex];
      const x = data.xNames?.[Math.round(point.x)] ?? digits(point.x);
      return (told ? [told] : []).concat(
        `${item.dataset.label ? item.dataset.label + ": " : ""}${digits(point.y)}${point.e ? " ± " + digits(point.e) : ""} at ${x}`);
    };
    return {
      type: bars ? "bar" : "scatter",
      data: bars
        ? { labels: data.bars.map((bar) => bar.name), datasets: barDatasets(data) }
        : { datasets: plotDatasets(data) },
      plugins: [extras],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: bars ? "y" : "x",
        interaction: bars ? { mode: "index", axis: "y", intersect: false } : { mode: "nearest", intersect: true },
        scales: bars
          ? { x: { ...scaleOf(data.unit), stacked: true, beginAtZero: true, suggestedMax: 1.03 * data.most },
              y: { stacked: true, grid: { color: () => colour("rule") }, ticks: { color: () => colour("mut"), callback: barName } } }
          : { x: { ...scaleOf(data.x, data.xNames), ...(data.yMost ? { suggestedMax: mostX(data) } : {}) }, y: { ...scaleOf(data.y), ...spanOf(data), ...(data.yMost ? { max: data.yMost } : {}) } },
        plugins: {
          legend: { display: false },
          tooltip: {
            callbacks: {
              title: (items) => (bars ? wholeName(data.bars[items[0].dataIndex]) : ""),
              label: hint,
              footer: (items) => {
                if (!bars) return "";
                const bar = data.bars[items[0].dataIndex];
                const lines = [];
                if (bar.parts.length > 1) lines.push(`together: ${digits(bar.parts.reduce((a, b) => a + b, 0))} ${data.unit}`);
                if (bar.interval) lines.push(`95%: ${digits(bar.interval[0])} to ${digits(bar.interval[1])}`);
                if (bar.mark !== undefined) lines.push(`${data.markName}: ${digits(bar.mark)}`);
                return lines;
              },
            },
          },
        },
      },
    };
  };

  // Zoom: null means all of it.
  const zoomTo = (chart, ranges) => {
    for (const name of ["x", "y"]) {
      const options = chart.options.scales[name];
      const all = chart.wirewatt.whole[name];
      const range = ranges?.[name];
      if (range === undefined && ranges) continue;
      options.min = range ? range[0] : all[0];
      options.max = range ? range[1] : all[1];
    }
    chart.update("none");
  };
  const zoomable = (chart) => (chart.wirewatt.data.kind === "bars" ? ["x"] : ["x", "y"]);
  const zoomBy = (chart, factor, at) => {
    const ranges = {};
    for (const name of zoomable(chart)) {
      const scale = chart.scales[name];
      const centre = at ? scale.getValueForPixel(at[name]) : (scale.min + scale.max) / 2;
      ranges[name] = [centre - (centre - scale.min) / factor, centre + (scale.max - centre) / factor];
    }
    zoomTo(chart, ranges);
  };
  const addDrag = (plot, chart) => {
    let from = null;
    let box = null;
    const place = (event) => {
      const rect = chart.canvas.getBoundingClientRect();
      return { x: event.clientX - rect.left, y: event.clientY - rect.top };
    };
    plot.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      from = place(event);
      box = make("div", { class: "box" });
      plot.append(box);
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", (event) => {
      if (!from) return;
      const to = place(event);
      const flat = chart.wirewatt.data.kind === "bars" || Math.abs(to.y - from.y) < 12;
      const area = chart.chartArea;
      Object.assign(box.style, {
        left: `${Math.min(from.x, to.x)}px`,
        width: `${Math.abs(to.x - from.x)}px`,
        top: `${flat ? area.top : Math.min(from.y, to.y)}px`,
        height: `${flat ? area.height : Math.abs(to.y - from.y)}px`,
      });
    });
    const end = (event) => {
      if (!from) return;
      const start = from;
      const to = place(event);
      from = null;
      box.remove();
      if (event.type === "pointercancel" || Math.abs(to.x - start.x) < 6) return;
      const flat = chart.wirewatt.data.kind === "bars" || Math.abs(to.y - start.y) < 12;
      const range = (name) => [start[name], to[name]]
        .map((pixel) => chart.scales[name].getValueForPixel(pixel)).sort((a, b) => a - b);
      zoomTo(chart, flat ? { x: range("x") } : { x: range("x"), y: range("y") });
    };
    plot.addEventListener("pointerup", end);
    plot.addEventListener("pointercancel", end);
    plot.addEventListener("dblclick", () => zoomTo(chart, null));
    plot.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomBy(chart, event.deltaY < 0 ? 1.25 : 0.8, place(event));
    }, { passive: false });
  };

  // Arrow keys walk through the points, plus and minus zoom, 0 shows all.
  const addKeys = (plot, chart) => {
    let set = -1;
    let index = 0;
    const filled = () => chart.data.datasets.map((_, i) => i)
      .filter((i) => chart.isDatasetVisible(i) && chart.data.datasets[i].data.length > 0);
    const show = () => {
      const meta = chart.getDatasetMeta(set);
      const bars = chart.wirewatt.data.kind === "bars";
      const active = bars
        ? filled().map((datasetIndex) => ({ datasetIndex, index }))
        : [{ datasetIndex: set, index }];
      chart.setActiveElements(active);
      chart.tooltip.setActiveElements(active, meta.data[index].getCenterPoint?.() ?? meta.data[index]);
      chart.update("none");
      const { title, body, footer } = chart.tooltip;
      say([...(title || []), ...(body || []).flatMap((part) => part.lines), ...(footer || [])].join(", "));
    };
    plot.addEventListener("keydown", (event) => {
      const sets = filled();
      if (sets.length === 0) return;
      if (event.key === "+" || event.key === "=") zoomBy(chart, 1.5);
      else if (event.key === "-") zoomBy(chart, 1 / 1.5);
      else if (event.key === "0") zoomTo(chart, null);
      else if (event.key.startsWith("Arrow")) {
        const bars = chart.wirewatt.data.kind === "bars";
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!sets.includes(set)) {
          set = sets[0];
          index = 0;
        } else if (!bars && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
          set = sets[(sets.indexOf(set) + step + sets.length) % sets.length];
          index = Math.min(index, chart.data.datasets[set].data.length - 1);
        } else {
          const count = chart.data.datasets[set].data.length;
          index = (index + step + count) % count;
        }
        show();
      } else return;
      event.preventDefault();
    });
  };

  const dataRows = (data) => {
    if (data.kind === "bars") {
      const head = ["", ...data.legend.map((name) => `${name} [${data.unit}]`)];
      if (data.bars.some((bar) => bar.interval)) head.push("95% low", "95% high");
      if (data.markName) head.push(data.markName);
      return [head, ...data.bars.map((bar) => [wholeName(bar), ...bar.parts.map(digits),
        ...(head.includes("95% low") ? (bar.interval || [NaN, NaN]).map(digits) : []),
        ...(data.markName ? [digits(bar.mark ?? NaN)] : [])])];
    }
    const withErrors = data.series.some((series) => series.e);
    const head = ["series", data.x || "", data.y, ...(withErrors ? ["±"] : [])];
    const rows = data.series.flatMap((series) => series.x.map((x, i) => [series.name,
      data.xNames?.[Math.round(x)] ?? digits(x), digits(series.y[i]),
      ...(withErrors ? [series.e ? digits(series.e[i]) : ""] : [])]));
    return [head, ...rows];
  };

  const csv = (rows) => rows.map((row) => row.map((cell) =>
    (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\n") + "\n";
  const copy = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say(`Copied ${what} as CSV.`);
  };

  // A drawing as a picture for papers: with the light theme's colours, and without the page's style.
  const drawnStyle = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
    "opacity", "font-size", "font-family", "font-weight", "paint-order"];
  const standalone = (svg) => {
    const theme = root.dataset.theme;
    root.dataset.theme = "light";
    const copy = svg.cloneNode(true);
    const drawn = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
      const style = getComputedStyle(drawn[i]);
      for (const name of drawnStyle) element.setAttribute(name, style.getPropertyValue(name));
      element.removeAttribute("class");
    });
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    const { width, height } = svg.viewBox.baseVal;
    const scale = Math.max(1, 720 / width);  // maps are drawn in millimetres
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", String(width * scale));
    copy.setAttribute("height", String(height * scale));
    return { text: new XMLSerializer().serializeToString(copy), width: width * scale, height: height * scale };
  };
  const save = (blob, name) => {
    const url = URL.createObjectURL(blob);
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    say(`Saved ${name}.`);
  };
  const savePng = (picture, name) => {
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = make("canvas", { width: String(2 * picture.width), height: String(2 * picture.height) });
      const context = canvas.getContext("2d");
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name), "image/png");
    });
    image.src = `data:image/svg+xml,${encodeURIComponent(picture.text)}`;
  };
  const pictureButtons = (svg) => {
    const title = svg.querySelector("title")?.textContent || document.title;
    const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    return [
      make("button", { type: "button", "aria-label": `Save as SVG: ${title}`, onclick: () =>
        save(new Blob([standalone(svg).text], { type: "image/svg+xml" }), `${name}.svg`) }, "SVG"),
      make("button", { type: "button", "aria-label": `Save as PNG: ${title}`, onclick: () =>
        savePng(standalone(svg), `${name}.png`) }, "PNG"),
    ];
  };

  const dressTable = (table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const cellsOf = (row) => [...row.cells].map((cell) => cell.textContent.trim().replaceAll("\u00a0", " "));
    const caption = table.caption?.textContent || "table";
    const number = (text) => parseFloat(text.replaceAll("−", "-"));
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = make("button", { type: "button", onclick: () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows];
        const text = (row) => row.cells[column]?.textContent.trim() ?? "";
        const numeric = rows.some((row) => /^[-+−.\d]/.test(text(row))) &&
          rows.every((row) => /^[-+−.\d]|^–?$/.test(text(row)));
        const sign = up ? 1 : -1;
        rows.sort((a, b) => {
          if (!numeric) return sign * text(a).localeCompare(text(b), undefined, { numeric: true });
          const [x, y] = [number(text(a)), number(text(b))];
          if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
          return sign * (x - y);
        });
        body.append(...rows);
        say(`${caption}, sorted by ${button.textContent}, ${up ? "ascending" : "descending"}.`);
      } }, ...head.childNodes);
      head.replaceChildren(button);
    });
    const bar = make("div", { class: "bar" }, make("span", { class: "space" }),
      make("button", { type: "button", "aria-label": `Copy as CSV: ${caption}`, onclick: () =>
        copy(csv([heads.map((head) => head.textContent.trim()), ...[...body.rows].map(cellsOf)]), caption) }, "Copy as CSV"));
    table.parentElement.before(bar);
  };
  // Tables that are too wide for a narrow screen become cards, a row each. What is printed stays a table.
  const narrow = matchMedia("screen and (max-width: 44rem)");
  const stack = () => {
    for (const table of document.querySelectorAll(".scroll > table")) {
      table.classList.remove("stacked");
      if (!narrow.matches || table.scrollWidth <= table.parentElement.clientWidth + 1) continue;
      const names = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
      for (const row of table.tBodies[0].rows) {
        [...row.cells].forEach((cell, i) => { cell.dataset.label = names[i] ?? ""; });
      }
      table.classList.add("stacked");
    }
  };
  const tableOf = (rows, caption) => {
    const cells = (tag, row) => row.map((cell, i) => make(tag, i && tag === "td" ? { class: "n" } : tag === "th" ? { scope: "col" } : {}, cell));
    return make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...cells("th", rows[0]))),
      make("tbody", {}, ...rows.slice(1).map((row) => make("tr", {}, ...cells("td", row)))));
  };

  for (const figure of document.querySelectorAll("figure.chart")) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    if (data.kind === "bars") {
      data.most = Math.max(...data.bars.map((bar) => Math.max(bar.mark ?? 0, bar.interval?.[1] ?? 0)));
    }
    const canvas = make("canvas", { "aria-hidden": "true" });
    const plot = make("div", { class: "plot", tabindex: "0", role: "application", "aria-roledescription": "chart",
      "aria-label": `${data.title}. ${data.description} Arrow keys walk through the values, plus and minus zoom, 0 shows all.` }, canvas);
    plot.style.height = data.kind === "bars" ? `${70 + 26 * data.bars.length}px` : `${data.height}px`;
    const bar = make("div", { class: "bar" });
    figure.prepend(bar, plot);
    const config = configure(data);
    const legend = [];
    config.data.datasets.forEach((set, index) => {
      if (!set.label) return;
      legend.push(index);
      const button = make("button", { type: "button", "aria-pressed": "true", onclick: () => {
        const on = !chart.isDatasetVisible(index);
        chart.setDatasetVisibility(index, on);
        button.setAttribute("aria-pressed", String(on));
        chart.update("none");
      } }, make("i"), set.label);
      bar.append(button);
    });
    const chart = new Chart(canvas, { ...config, plugins: [{ id: "data", beforeInit(made) {
      made.wirewatt = { data, legend };
    } }, ...config.plugins] });
    chart.wirewatt.whole = Object.fromEntries(["x", "y"].map((name) =>
      [name, [chart.options.scales[name].min, name === "y" && data.yMost ? undefined : chart.options.scales[name].max]]));
    bar.append(make("span", { class: "space" }),
      make("button", { type: "button", "aria-label": "Zoom in", onclick: () => zoomBy(chart, 1.5) }, "+"),
      make("button", { type: "button", "aria-label": "Zoom out", onclick: () => zoomBy(chart, 1 / 1.5) }, "−"),
      make("button", { type: "button", onclick: () => zoomTo(chart, null) }, "Show all"),
      ...pictureButtons(figure.querySelector("svg")));
    addDrag(plot, chart);
    addKeys(plot, chart);
    const details = make("details", { ontoggle: () => {
      if (details.children.length > 1) return;
      const table = tableOf(dataRows(data), data.title);
      details.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Data: ${data.title}` }, table));
      dressTable(table);
    } }, make("summary", {}, "Data as a table"));
    figure.after(details);
    charts.push(chart);
    swatches(chart);
  }
  for (const svg of document.querySelectorAll("figure:not(.chart) > svg")) {
    svg.before(make("div", { class: "bar" }, make("span", { class: "space" }), ...pictureButtons(svg)));
  }
  document.querySelectorAll("table").forEach((table) => { if (table.tHead) dressTable(table); });

  stack();
  narrow.addEventListener("change", stack);
  const repaint = () => {
    palette.clear();
    charts.forEach((chart) => { swatches(chart); chart.update("none"); });
  };
  const themes = ["auto", "light", "dark"];
  const button = make("button", { type: "button", onclick: () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % 3];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    button.textContent = `Theme: ${next}`;
    repaint();
  } }, "Theme: auto");
  document.querySelector("header").append(button);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
})();
