// Time series drawn by uPlot from JSON: drag to zoom, double-click or the button to see all again.
//
// <figure data-chart="URL"> gets {"x": [epoch seconds], "series": [{"label", "values", "kind"}], "unit"}
// with kind "line", "steps", "bars" or "points", and "step" where a value holds for so many seconds; the same numbers follow as a table for those who
// read rather than see.
(() => {
  "use strict";
  const t = window.freshetWords;
  const HEIGHT = 230;
  // By distance of the ticks (seconds): their text, and what is added where the day changes.
  const TIMES = [
    [86400, "{YYYY}-{MM}-{DD}", null, null, null, null, null, null, 1],
    [60, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
    [1, ":{ss}", "\n{HH}:{mm}", null, "\n{MM}-{DD} {HH}:{mm}", null, "\n{HH}:{mm}", null, 1],
  ];
  const charts = new Map();

  // A colour of the style sheet as the canvas needs it: resolved for the theme that holds now.
  function colour(name) {
    const probe = document.createElement("span");
    probe.className = `ink-${name}`;
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  }

  function paths(kind) {
    if (kind === "bars") return uPlot.paths.bars({ size: [0.7, 40], align: 1 });
    if (kind === "steps") return uPlot.paths.stepped({ align: 1 });
    return undefined;
  }

  function series(entry, number) {
    const ink = colour(number + 1);
    return {
      label: entry.label,
      stroke: ink,
      fill: entry.kind === "bars" ? ink : undefined,
      width: entry.kind === "points" ? 0 : 1.75,
      paths: paths(entry.kind),
      points: { show: entry.kind === "points", size: 6, fill: ink, stroke: ink },
      value: (_, value) => (value === null || value === undefined ? "–" : String(Math.round(value * 100) / 100)),
    };
  }

  // Where a value holds for a step, the last one needs an end, too.
  function columns(data) {
    if (!data.step) return [data.x, ...data.series.map((entry) => entry.values)];
    const last = (entry) => (entry.kind === "bars" ? null : entry.values.at(-1));
    return [[...data.x, data.x.at(-1) + data.step], ...data.series.map((entry) => [...entry.values, last(entry)])];
  }

  function options(figure, data) {
    const axis = { stroke: colour("muted"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid") } };
    return {
      width: figure.clientWidth,
      height: HEIGHT,
      cursor: { y: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
      scales: { y: { range: { min: { pad: 0, hard: 0, mode: 2 }, max: { pad: 0.1, mode: 2 } } } },
      axes: [{ ...axis, values: TIMES }, { ...axis, size: 48, label: data.unit, labelSize: 18 }],
      series: [{ label: "UTC", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...data.series.map(series)],
    };
  }

  function cell(row, kind, text) {
    const element = document.createElement(kind);
    element.textContent = text;
    if (kind === "th") element.scope = row.parentElement?.tagName === "THEAD" ? "col" : "row";
    row.append(element);
  }

  function table(data) {
    const made = document.createElement("table");
    const head = made.createTHead().insertRow();
    [t("time (UTC)"), ...data.series.map((entry) => entry.label)].forEach((text) => cell(head, "th", text));
    const body = made.createTBody();
    data.x.forEach((seconds, at) => {
      const row = body.insertRow();
      cell(row, "th", new Date(seconds * 1e3).toISOString().slice(0, 16).replace("T", " "));
      data.series.forEach((entry) => cell(row, "td", entry.values[at] ?? "–"));
    });
    return made;
  }

  function numbers(data) {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = t("The numbers as a table");
    const scroll = document.createElement("div");
    scroll.className = "scroll tall";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", t("The chart's numbers"));
    details.append(summary, scroll);
    details.addEventListener("toggle", () => scroll.replaceChildren(table(data)), { once: true });
    return details;
  }

  function seeAll(figure, chart, data) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet small";
    button.textContent = t("See all");
    button.hidden = true;
    button.addEventListener("click", () => chart().setScale("x", { min: data.x[0], max: data.x.at(-1) + (data.step ?? 0) }));
    figure.append(button);
    return button;
  }

  function draw(figure, data) {
    figure.dataset.chartState = "drawn";
    let plot;
    const canvas = document.createElement("div");
    canvas.setAttribute("aria-hidden", "true"); // the table says the same
    figure.append(canvas);
    const reset = seeAll(figure, () => plot, data);
    const hooks = {
      setScale: [
        (chart, key) => {
          if (key === "x") reset.hidden = chart.scales.x.min <= data.x[0] && chart.scales.x.max >= data.x.at(-1) + (data.step ?? 0);
        },
      ],
    };
    const redraw = () => {
      plot?.destroy();
      plot = new uPlot({ ...options(figure, data), hooks }, columns(data), canvas);
    };
    redraw();
    figure.append(numbers(data));
    charts.set(figure, redraw);
    new ResizeObserver(() => plot.setSize({ width: figure.clientWidth, height: HEIGHT })).observe(figure);
  }

  async function load(figure) {
    const note = figure.querySelector("[data-chart-note]");
    try {
      const answer = await fetch(figure.dataset.chart, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(t("the server answered {status}", { status: answer.status }));
      const data = await answer.json();
      if (data.x.length < 2) {
        figure.dataset.chartState = "empty";
        note.textContent = figure.dataset.empty || t("Nothing to draw yet.");
        return;
      }
      note.remove();
      draw(figure, data);
    } catch (error) {
      figure.dataset.chartState = "failed";
      note.textContent = t("The chart could not be loaded: {reason}. Reload the page to try again.", { reason: error.message });
    }
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-chart]").forEach(load));
  document.addEventListener("freshet:theme", () => charts.forEach((redraw) => redraw()));
})();
