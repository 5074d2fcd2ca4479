// Opens the pages that `run` made, in Chromium, as a reader would: from the file system, without
// network. Usage: node pages.mjs FOLDER [--shots FOLDER] [--time]
//   --shots  also writes screenshots of every page, light, dark and as printed
//   --time   also demands that the largest page opens in less than 2 s
import assert from "node:assert/strict";
import { readFileSync, statSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.argv[2];
const option = (name) => process.argv.includes(name);
const shots = option("--shots") ? process.argv[process.argv.indexOf("--shots") + 1] : null;
if (shots) mkdirSync(shots, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const json = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const close = (a, b) => Math.abs(a - b) <= 1e-5 * Math.max(Math.abs(a), Math.abs(b), 1e-300);

// What the charts of each page must hold, from the data that the page was made of.
const pointsOf = (chart) => chart.series.flatMap((series) => series.y);
const barsOf = (chart, name) => chart.bars.find((bar) => bar.name === name);
const pages = {
  "calibration.html": (charts) => {
    const model = json("calibration/model.json");
    const drawn = pointsOf(charts["Energy against distance"]);
    const pairs = model.pairs.filter((pair) => pair.throttle === 0);
    for (const pair of pairs) {
      assert(drawn.some((y) => close(y, pair.energy_fj_per_bit)), `pair ${JSON.stringify(pair)} is not drawn`);
    }
    const used = model.plateaus.filter((row) => row.used && row.kind === "stream");
    assert.equal(pointsOf(charts.Residuals).length, used.length);
    assert(pointsOf(charts["With and without temperature correction"])
      .some((y) => close(y, model.energy_fj_per_bit_mm.value)));
  },
  "estimate.html": (charts) => {
    const estimate = json("estimate.json");
    const key = estimate.total.power_w ? "power_w" : "energy_j";
    const all = barsOf(charts["Interconnect by segment"], "all");
    const { unit } = charts["Interconnect by segment"];
    const times = { m: 1e3, "µ": 1e6, n: 1e9 }[unit.slice(0, -1)] ?? 1;
    estimate.total.segments.forEach((segment, i) => assert(close(all.parts[i], times * (segment[key]?.value ?? 0))));
    assert(close(all.interval[1], times * estimate.total[key].high));
  },
  "simulation.html": (charts) => {
    const run = json("simulation.json");
    const chart = charts["Energy by component"];
    const bar = barsOf(chart, "dsent");
    assert(close(bar.parts[chart.legend.indexOf("link")], run.estimators_pj.dsent.link * 1e-6));
  },
  "series.html": (charts) => {
    const latencies = pointsOf(charts["Latency against offered rate"]);
    for (const name of ["series/a.json", "series/b.json"]) {
      assert(latencies.some((y) => close(y, json(name).avg_packet_latency)));
    }
  },
  "curves.html": (charts) => {
    const stable = json("curves.json").points.filter((point) => point.stable);
    assert.equal(pointsOf(charts["Latency against offered rate"]).length, stable.length);
  },
  "reproduction.html": (charts) => {
    const chart = json("reproduction.json").charts[0];
    for (const bar of chart.bars) assert.deepEqual(barsOf(charts[chart.title], bar.name).parts, bar.parts);
  },
  "sweep.html": (charts) => {
    const points = json("points.json").rows.filter((row) => typeof row.metrics.avg_packet_latency === "number");
    assert(points.length >= 16, `${points.length} points`);
    const drawn = charts["packet latency over rate"].series;
    assert.equal(drawn.length, 4);
    const values = drawn.flatMap((series) => series.y);
    const missing = points.filter((row) => !values.some((y) => close(y, row.metrics.avg_packet_latency)));
    assert.deepEqual(missing.map((row) => row.settings), []);
    const front = charts["Pareto front"].series.find((series) => series.name === "front");
    assert(close(front.y.at(-1), Math.min(...charts["Pareto front"].series.flatMap((series) => series.y))));
  },
  "sweeps.html": (charts) => {
    const value = (row) => row.metrics.avg_packet_latency;
    const key = ({ settings: { network, k, rate } }) => `${network} ${k} ${rate}`;
    const others = new Map(json("other_points.json").rows.map((row) => [key(row), row]));
    const differences = json("points.json").rows.filter((row) => value(row) && others.has(key(row)))
      .map((row) => 100 * (value(others.get(key(row))) - value(row)) / value(row));
    assert(differences.length >= 12, `${differences.length} points in both`);
    const drawn = pointsOf(charts["avg_packet_latency: difference [%] over rate"]);
    assert.equal(drawn.length, differences.length);
    for (const one of differences) assert(drawn.some((y) => Math.abs(y - one) < 1e-3), `${one} % is not drawn`);
  },
  "index.html": (charts) => {
    const energies = ["calibration", "second"].map((run) => json(`${run}/model.json`).energy_fj_per_bit_mm.value);
    const drawn = pointsOf(Object.entries(charts).find(([title]) => title.includes("fJ/bit/mm"))[1]);
    for (const energy of energies) assert(drawn.some((y) => close(y, energy)), `${energy} is not drawn`);
  },
  "comparison.html": (charts) => {
    const [one, other] = ["calibration", "second"].map((run) => json(`${run}/model.json`).energy_fj_per_bit_mm.value);
    assert(pointsOf(charts["Difference with its interval"]).some((y) => close(y, other / one)));
  },
};

// The page's policy forbids the strings that waitForFunction evaluates, so it is asked again and again.
async function until(page, predicate) {
  for (let tries = 0; tries < 200; ++tries) {
    if (await page.evaluate(predicate)) return;
    await new Promise((resolve) => { setTimeout(resolve, 25); });
  }
  throw new Error(`never became true: ${predicate}`);
}

// Acts on the first chart and the first table as a reader does.
async function useIt(page) {
  const before = await page.evaluate(() => {
    const { x } = window.wirewatt.charts[0].scales;
    return [x.min, x.max];
  });
  const range = () => page.evaluate(() => {
    const { x } = window.wirewatt.charts[0].scales;
    return [x.min, x.max];
  });
  const plot = page.locator(".plot").first();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y);
  await page.mouse.up();
  const zoomed = await range();
  assert(zoomed[1] - zoomed[0] < 0.6 * (before[1] - before[0]), `dragging did not zoom: ${before} ${zoomed}`);
  await page.getByRole("button", { name: "Show all" }).first().click();
  assert.deepEqual(await range(), before);

  await plot.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#live").textContent(), /\d/, "keys announce no value");
  assert.equal(await page.evaluate(() => window.wirewatt.charts[0].tooltip.opacity > 0), true);

  const legend = page.locator("button[aria-pressed]").first();
  if (await legend.count()) {
    const visible = () => page.evaluate(() => {
      const chart = window.wirewatt.charts.find((made) => made.wirewatt.legend.length > 0);
      return chart.isDatasetVisible(chart.wirewatt.legend[0]);
    });
    await legend.click();
    assert.equal(await visible(), false);
    assert.equal(await legend.getAttribute("aria-pressed"), "false");
    await legend.click();
    assert.equal(await visible(), true);
  }

  await page.locator("summary").first().click();
  const rows = await page.locator("details[open] tbody tr").count();
  const points = await page.evaluate(() => {
    const { data } = window.wirewatt.charts[0].wirewatt;
    return data.kind === "bars" ? data.bars.length : data.series.reduce((n, series) => n + series.x.length, 0);
  });
  assert.equal(rows, points, "the table has another number of values than the chart");

  const table = page.locator("main > section table").last();
  const sort = table.locator("thead button").first();
  const column = async () => (await table.locator("tbody tr td:first-child").allTextContents()).map((t) => t.trim());
  await sort.click();
  const up = await column();
  await sort.click();
  assert.deepEqual(await column(), [...up].reverse().sort((a, b) => up.lastIndexOf(b) - up.lastIndexOf(a)));
  await page.evaluate(() => {
    window.copied = [];
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied.push(text); } } });
  });
  await page.getByRole("button", { name: /Copy as CSV/ }).last().click();
  const copied = await page.evaluate(() => window.copied[0]);
  assert.equal(copied.trim().split("\n").length, up.length + 1);
}

// Hovering over a drawn point shows its value.
async function hover(page) {
  await page.locator(".plot").first().scrollIntoViewIfNeeded();
  const at = await page.evaluate(() => {
    const chart = window.wirewatt.charts[0];
    const set = chart.data.datasets.findIndex((one, i) => one.data.length && chart.isDatasetVisible(i));
    const point = chart.getDatasetMeta(set).data[0].getCenterPoint();
    const box = chart.canvas.getBoundingClientRect();
    return { x: box.left + point.x, y: box.top + point.y };
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.move(at.x + 1, at.y);
  await until(page, () => window.wirewatt.charts[0].tooltip.opacity > 0);
  assert.match(await page.evaluate(() => JSON.stringify(window.wirewatt.charts[0].tooltip.body)), /\d/);
}

// On paper the pictures take the place of the canvases, with all their parts: an error bar that a
// rule of the page hides would be missing without a word.
async function printed(page) {
  await page.emulateMedia({ media: "print" });
  const hidden = await page.evaluate(() => {
    const parts = [...document.querySelectorAll("figure.chart svg :is(line, path, rect, circle)")];
    return parts.filter((part) => part.getClientRects().length === 0).map((part) => part.getAttribute("class"));
  });
  assert.deepEqual(hidden, [], "not printed");
  await page.emulateMedia({ media: "screen" });
}

// A heading has something below it.
async function filled(page) {
  const empty = await page.evaluate(() =>
    [...document.querySelectorAll("section")]
      .filter((section) => section.children.length === 1 && section.firstElementChild.tagName === "H2")
      .map((section) => section.textContent));
  assert.deepEqual(empty, [], "nothing below the heading");
}

// The picture that the button saves, and whether it needs nothing of the page.
async function saved(page, kind) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: new RegExp(`^Save as ${kind}`) }).first().click(),
  ]);
  assert(download.suggestedFilename().endsWith(kind.toLowerCase()));
  return readFileSync(await download.path());
}
async function savePictures(page) {
  const svg = (await saved(page, "SVG")).toString();
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert(!svg.includes("var(") && !svg.includes("class="), "the picture needs the page's style");
  const png = await saved(page, "PNG");
  assert.equal(png.toString("latin1", 1, 4), "PNG");
  assert(png.length > 2000, `a picture of ${png.length} bytes is empty`);
}

// How readers without one kind of cone see linear RGB (Machado, Oliveira, Fernandes 2009, severity 1).
const eyes = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  "no middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  "no short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
function cielab(css, eye) {
  const dot = (row, of) => row.reduce((sum, factor, i) => sum + factor * of[i], 0);
  const linear = css.match(/\d+/g).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const seen = eyes[eye].map((row) => Math.min(1, Math.max(0, dot(row, linear))));
  const [x, y, z] = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    .map((row, i) => dot(row, seen) / [0.95047, 1, 1.08883][i])
    .map((part) => (part > 216 / 24389 ? Math.cbrt(part) : (24389 / 27 * part + 16) / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
async function distinguishable(page, scheme) {
  const colours = await page.evaluate(() => Array.from({ length: 8 }, (_, i) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--c${i + 1})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }));
  for (const eye of Object.keys(eyes)) {
    const seen = colours.map((css) => cielab(css, eye));
    seen.forEach((one, i) => seen.slice(0, i).forEach((other, j) => {
      const apart = Math.hypot(...one.map((part, k) => part - other[k]));
      assert(apart > 15, `${scheme}, ${eye}: colours ${j + 1} and ${i + 1} differ by ${apart.toFixed(1)}`);
    }));
  }
}

// At every width neither the page nor a table of it scrolls sideways.
const kWidths = [1280, 1100, 400];
async function fits(page, name) {
  for (const width of kWidths) {
    await page.setViewportSize({ width, height: 900 });
    // The page hears of its width in the next frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const wide = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll(".scroll")]
      .filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => `${one.getAttribute("aria-label") ?? "the page"}: ${one.scrollWidth} in ${one.clientWidth}`));
    assert.deepEqual(wide, [], `${name} at ${width} pixels`);
  }
  await accessible(page, `${name} at ${kWidths.at(-1)} pixels`);
  await page.setViewportSize({ width: 1100, height: 900 });
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  for (const one of found.violations) {
    console.log(`    axe ${one.impact}: ${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  }
  assert.equal(serious.length, 0, `${name}: axe has serious findings`);
}

const browser = await chromium.launch({
  executablePath: process.env.WW_CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
let failed = 0;
for (const [name, check] of Object.entries(pages)) {
  try {
    const file = join(folder, name);
    const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, bypassCSP: false });
    const page = await context.newPage();
    const problems = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("request", (request) => { if (!request.url().startsWith("file:")) problems.push(`asked for ${request.url()}`); });
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const start = performance.now();
    await page.goto(pathToFileURL(file).href);
    await until(page, () => window.wirewatt?.charts.length === document.querySelectorAll("figure.chart").length);
    const seconds = (performance.now() - start) / 1000;
    // What the page's own thread worked meanwhile, which a busy machine does not lengthen.
    const { metrics } = await session.send("Performance.getMetrics");
    const worked = metrics.find((one) => one.name === "TaskDuration").value;
    const charts = await page.evaluate(() => Object.fromEntries(
      window.wirewatt.charts.map((chart) => [chart.wirewatt.data.title, chart.wirewatt.data])));
    assert(Object.keys(charts).length > 0, "no chart");
    check(charts);
    // Something is painted on every canvas.
    assert.equal(await page.evaluate(() => window.wirewatt.charts.every((chart) =>
      chart.ctx.getImageData(0, 0, chart.canvas.width, chart.canvas.height).data.some((byte) => byte > 0))), true);
    if (shots) await page.screenshot({ path: join(shots, name.replace("html", "light.png")), fullPage: true });
    await accessible(page, name);
    await fits(page, name);
    await distinguishable(page, "light");
    await savePictures(page);
    await printed(page);
    await filled(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await distinguishable(page, "dark");
    await accessible(page, `${name}, dark`);
    if (shots) {
      await page.screenshot({ path: join(shots, name.replace("html", "dark.png")), fullPage: true });
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.screenshot({ path: join(shots, name.replace("html", "print.png")), fullPage: true });
      await page.emulateMedia({ media: "screen" });
    }
    await hover(page);
    await useIt(page);
    assert.deepEqual(problems, []);
    const bytes = statSync(file).size;
    assert(bytes < 5e6, `${name} weighs ${bytes} bytes`);
    if (option("--time")) assert(seconds < 2, `${name} opened in ${seconds} s`);
    console.log(`ok   ${name}: ${Object.keys(charts).length} charts, ${(bytes / 1e3).toFixed(0)} kB, open in ${seconds.toFixed(2)} s (${worked.toFixed(2)} s of processor)`);
    await context.close();
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}: ${error.stack ?? error}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
