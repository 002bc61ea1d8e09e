// What every page does: hands out charts as SVG and their numbers as CSV. Text only ever enters the page as text.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
document.documentElement.classList.add("js");
for (const hidden of document.querySelectorAll(".tools, .save")) hidden.hidden = false;

function element(name, attributes, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  // The address is given back with the page: until when the browser needs it, it does not say.
  link.remove();
}

function csv(rows) {
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    let text = String(value);
    // A spreadsheet would take these for a formula.
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

// A picture for elsewhere: on white, in black.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const box = svg.viewBox.baseVal;
  copy.setAttribute("color", "#111111");
  for (const paper of copy.querySelectorAll(".paper")) paper.setAttribute("fill", "#ffffff");
  const ground = shape("rect", { x: box.x, y: box.y, width: box.width, height: box.height, fill: "#ffffff" });
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

function numbersOf(chart) {
  const numbers = data.charts[chart.dataset.chart];
  return numbers && [numbers.columns, ...numbers.rows];
}

function saving() {
  const buttons = element("p", { class: "save" });
  for (const kind of ["svg", "csv"]) buttons.append(element("button", { type: "button", "data-save": kind }, kind.toUpperCase()), " ");
  return buttons;
}

// On paper what is folded is open, also in browsers whose style sheets cannot say so.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
});

document.addEventListener("click", (event) => {
  const kind = event.target.dataset && event.target.dataset.save;
  if (!kind) return;
  const chart = event.target.closest("[data-chart]");
  const name = chart.dataset.chart;
  if (kind === "svg") {
    const shown = [...chart.querySelectorAll("svg")].find((svg) => svg.getClientRects().length > 0);
    if (shown) download(name + ".svg", "image/svg+xml", standalone(shown));
  } else {
    const rows = numbersOf(chart);
    if (rows) download(name + ".csv", "text/csv", csv(rows));
  }
});
