
// Clusters: any two columns or principal components against each other, and what an item belongs to.
{
  const { axes, first, components, items, sigmas } = data.model;
  const chart = document.querySelector('[data-chart="scatter"]');
  const selects = ["x", "y"].map((id) => document.getElementById(id));
  const row = document.getElementById("row");
  let chosen = null;
  const [wide, high, left, below, top] = [560, 420, 64, 44, 10];

  // Round numbers that divide a range.
  function ticks(low, high, most) {
    const rough = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough);
    const found = [];
    for (let at = Math.ceil(low / step); at * step <= high; at += 1) found.push(Number((at * step).toPrecision(12)));
    return found;
  }

  // As the charts have it that are no script's.
  const minus = (v) => String(v).replace("-", "\u2212");

  function range(axis) {
    let [low, high] = [Infinity, -Infinity];
    const see = (x) => {
      if (x === null) return;
      low = Math.min(low, x);
      high = Math.max(high, x);
    };
    const n = axes.length;
    for (const c of components) {
      const reach = sigmas * Math.sqrt(Math.max(c.covariance[axis * n + axis], 0));
      see(c.mean[axis] - reach);
      see(c.mean[axis] + reach);
    }
    for (const item of items || []) see(item[2][axis]);
    const more = 0.03 * (high - low) || 1;
    return [low - more, high + more];
  }

  // The corners of an ellipse of this many deviations.
  function ellipse(c, x, y) {
    const n = axes.length;
    const [a, b, d] = [c.covariance[x * n + x], c.covariance[x * n + y], c.covariance[y * n + y]];
    const root = Math.sqrt(Math.max(a, 1e-300));
    const across = b / root;
    const rest = Math.sqrt(Math.max(d - across * across, 0));
    return Array.from({ length: 72 }, (_, at) => {
      const [cos, sin] = [Math.cos((at * Math.PI) / 36), Math.sin((at * Math.PI) / 36)];
      return [c.mean[x] + sigmas * root * cos, c.mean[y] + sigmas * (across * cos + rest * sin)];
    });
  }

  function tell(item) {
    const [row, name, place, most] = item;
    const box = document.getElementById("item");
    const list = element("ul");
    for (const [component, share] of most) list.append(element("li", {}, `component ${component}: ${share} %`));
    const where = element("table");
    axes.forEach((axis, at) => {
      const line = element("tr");
      line.append(element("th", { scope: "row" }, axis), element("td", {}, place[at] === null ? "missing" : minus(place[at])));
      where.append(line);
    });
    box.replaceChildren(
      element("strong", {}, `Row ${row}${name === null ? "" : " " + name}`),
      element("p", {}, "belongs to"),
      list,
      where,
    );
  }

  // The item of a row, or the next one that is drawn: on the picture a ring, next to it what it belongs to.
  function choose(at) {
    chosen = at;
    for (const other of chart.querySelectorAll(".chosen")) other.classList.remove("chosen");
    const dot = chart.querySelector(`[data-item="${at}"]`);
    if (dot) {
      dot.classList.add("chosen");
      dot.parentNode.append(dot);
    }
    row.value = items[at][0];
    tell(items[at]);
  }

  function draw() {
    const [x, y] = selects.map((select) => Number(select.value));
    const [[x0, x1], [y0, y1]] = [range(x), range(y)];
    const px = (v) => left + ((v - x0) / (x1 - x0)) * wide;
    const py = (v) => top + high - ((v - y0) / (y1 - y0)) * high;
    const svg = shape("svg", {
      xmlns: "http://www.w3.org/2000/svg", class: "plot", viewBox: `0 0 ${left + wide + 20} ${top + high + below}`,
      width: left + wide + 20, height: top + high + below, role: "img", fill: "none", "font-size": 11, "font-family": "sans-serif",
      "aria-label": `Components and items: ${axes[y]} against ${axes[x]}`,
    });
    const line = (x1, y1, x2, y2, opacity) =>
      svg.append(shape("line", { x1, y1, x2, y2, stroke: "currentColor", "stroke-opacity": opacity }));
    const text = (at, y, anchor, words, more) =>
      svg.append(shape("text", { x: at, y, "text-anchor": anchor, fill: "currentColor", ...more }, words));
    for (const v of ticks(x0, x1, 7)) {
      line(px(v), top, px(v), top + high, 0.1);
      text(px(v), top + high + 16, "middle", minus(v));
    }
    for (const v of ticks(y0, y1, 6)) {
      line(left, py(v), left + wide, py(v), 0.1);
      text(left - 6, py(v) + 4, "end", minus(v));
    }
    line(left, top, left, top + high, 0.7);
    line(left, top + high, left + wide, top + high, 0.7);
    text(left + wide / 2, top + high + 36, "middle", axes[x], { "font-size": 13 });
    text(14, top + high / 2, "middle", axes[y], { "font-size": 13, transform: `rotate(-90 14 ${top + high / 2})` });
    const colours = new Map(components.map((c) => [c.component, c.colour]));
    (items || []).forEach((item, at) => {
      if (item[2][x] === null || item[2][y] === null) return;
      const colour = colours.get(item[3][0][0]) || "currentColor";
      svg.append(shape("circle", { cx: px(item[2][x]).toFixed(1), cy: py(item[2][y]).toFixed(1), r: 2.4, fill: colour, "fill-opacity": 0.55, "data-item": at }));
    });
    for (const c of components) {
      const points = ellipse(c, x, y).map(([a, b]) => `${px(a).toFixed(1)},${py(b).toFixed(1)}`).join(" ");
      svg.append(shape("polygon", { points, stroke: c.colour, "stroke-width": 1.6, fill: c.colour, "fill-opacity": 0.1, "pointer-events": "none" }));
      text(px(c.mean[x]), py(c.mean[y]) + 4, "middle", c.component, { "font-weight": "bold", "pointer-events": "none" });
    }
    svg.addEventListener("click", (event) => {
      const at = event.target.getAttribute("data-item");
      if (at !== null) choose(Number(at));
    });
    chart.querySelector(".view").replaceChildren(svg);
    if (chosen !== null) choose(chosen);
    // The numbers to save are those of the picture.
    const rows = components.map((c) => ["component", c.component, c.mean[x], c.mean[y]]);
    for (const item of items || []) rows.push(["item", item[3][0][0], item[2][x], item[2][y]]);
    data.charts.scatter = { columns: ["what", "component", axes[x], axes[y]], rows };
  }

  if (chart) {
    selects.forEach((select, at) => {
      select.append(...axes.map((axis, value) => element("option", { value }, axis)));
      select.value = first[at];
      select.addEventListener("change", draw);
    });
    draw();
    if (row) {
      row.addEventListener("change", () => {
        const at = items.findIndex((item) => item[0] >= Number(row.value));
        if (at >= 0) choose(at);
      });
      row.form.addEventListener("submit", (event) => event.preventDefault());
    }
  }
}
