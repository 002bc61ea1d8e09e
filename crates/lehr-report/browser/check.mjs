// Opens pages in a real browser: no request and no message; every control does what it says, by mouse and by keyboard;
// letters can be read against their ground; no JavaScript; 320 pixels; paper. Usage: node check.mjs FOLDER [--pictures DIR],
// with the pages that ./run makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as driver } from "playwright-core";

const folder = resolve(process.argv[2]);
const pictures = process.argv[3] === "--pictures" ? process.argv[4] : null;
const executablePath = process.env.LEHR_CHROMIUM || (await chromium.executablePath());
const browser = await driver.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--no-zygote"] });

async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, acceptDownloads: true, ...options });
  // Machines may be busy; nothing here waits for long unless it is broken.
  context.setDefaultTimeout(120000);
  const page = await context.newPage();
  const address = pathToFileURL(`${folder}/${name}.html`).href;
  page.heard = [];
  page.on("request", (request) => {
    const url = request.url().split("#")[0];
    if (url !== address && !url.startsWith("blob:")) page.heard.push(url);
  });
  page.on("console", (message) => page.heard.push(message.text()));
  page.on("pageerror", (error) => page.heard.push(error.message));
  page.on("dialog", (dialog) => page.heard.push(dialog.message()));
  await page.goto(address);
  return page;
}

async function done(page) {
  assert.deepEqual(page.heard, []);
  await page.context().close();
}

async function saved(page, click) {
  // Chromium drops what exceeds ten files in a second, which no person asks for.
  await page.waitForTimeout(150);
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}

// Text whose contrast is below what WCAG 2 asks for (AA): 4.5, or 3 if it is large.
function faint() {
  const numbers = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((x, at) => a * x + (1 - a) * below[at]);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    // A number on the map stands on its disc.
    const disc = element.closest(".map a")?.querySelector("circle");
    if (disc) {
      const style = getComputedStyle(disc);
      return over([...numbers(style.fill).slice(0, 3), Number(style.fillOpacity)], ground(element.closest("figure")));
    }
    const own = numbers(getComputedStyle(element).backgroundColor);
    if (own.length && own[3] !== 0) return own.length === 3 ? own : over(own, ground(element.parentElement));
    return element.parentElement ? ground(element.parentElement) : [255, 255, 255];
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || ["SCRIPT", "STYLE", "OPTION"].includes(element.tagName) || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const back = ground(element);
    const drawn = element instanceof SVGElement;
    const ink = numbers(drawn ? style.fill : style.color);
    const front = over([...ink.slice(0, 3), (ink[3] ?? 1) * (drawn ? Number(style.fillOpacity) : 1)], back);
    const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
    const contrast = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (large ? 3 : 4.5)) found.add(`${element.tagName}.${element.getAttribute("class")} ${contrast.toFixed(2)}: ${node.data.trim().slice(0, 30)}`);
  }
  return [...found];
}

const all = ["topics", "clusters", "ratings", "several", "sweep", "factors"];

for (const name of all) {
  for (const options of [{}, { javaScriptEnabled: false }, { colorScheme: "dark" }]) {
    const page = await open(name, options);
    assert.ok((await page.locator("h1").textContent()).length > 5, name);
    assert.ok((await page.locator("svg").first().boundingBox()).width > 5, name);
    if (options.javaScriptEnabled === false) {
      assert.equal(await page.locator(".tools:visible, .save:visible").count(), 0);
    } else {
      assert.deepEqual(await page.evaluate(faint), [], `${name}: letters that are hard to read`);
      if (pictures) await page.screenshot({ path: `${pictures}/report_${name}${options.colorScheme ? "_dark" : ""}.png` });
    }
    // What cannot be seen is named; what can be used can be reached; nothing is there twice.
    const wrong = await page.evaluate(() => {
      const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
      const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
      const nameless = [...document.querySelectorAll("input, select, button, svg[role=img]")].filter(
        (element) => !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length),
      );
      const broken = [...document.querySelectorAll('a[href^="#"]')].filter((link) => !document.getElementById(link.getAttribute("href").slice(1)));
      return [...twice, ...nameless.map((element) => element.outerHTML), ...broken.map((link) => link.outerHTML)];
    });
    assert.deepEqual(wrong, [], name);
    await done(page);
  }
  const narrow = await open(name, { viewport: { width: 320, height: 700 } });
  assert.ok((await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 320, `${name} is wider than 320 pixels`);
  await done(narrow);
  const paper = await open(name, { viewport: { width: 794, height: 1123 }, colorScheme: "dark" });
  await paper.emulateMedia({ media: "print" });
  assert.equal(await paper.locator(".tools:visible, .save:visible, nav:visible").count(), 0);
  assert.ok((await paper.evaluate(() => document.documentElement.scrollWidth)) <= 794, `${name} is wider than paper`);
  const cut = () => [...document.querySelectorAll(".wide, .views")].filter((box) => box.getBoundingClientRect().left + box.scrollWidth > 794).map((box) => box.outerHTML.slice(0, 80));
  assert.deepEqual(await paper.evaluate(cut), [], `${name}: cut off on paper`);
  assert.equal(await paper.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await paper.locator(".topic:visible").count(), await paper.locator(".topic").count());
  // Where there are many columns, every value has its name next to it.
  const folded = () => [...document.querySelectorAll("main th, main td, main pre")].filter((cell) => !cell.closest(".many thead") && !cell.checkVisibility()).length;
  assert.equal(await paper.evaluate(folded), 0, `${name}: not printed`);
  await done(paper);
}

// Every chart of every page is saved as a picture that stands alone, and as a table.
for (const name of all) {
  const page = await open(name);
  const charts = page.locator("[data-chart]:visible");
  assert.ok((await charts.count()) >= 1, name);
  for (const chart of await charts.all()) {
    const id = await chart.getAttribute("data-chart");
    const [picture, svg] = await saved(page, () => chart.locator("[data-save=svg]").click());
    assert.equal(picture, `${id}.svg`);
    assert.ok(svg.startsWith("<svg") && svg.includes("#ffffff") && !svg.includes("var("), id);
    const parsed = await page.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror")?.textContent, svg);
    assert.equal(parsed, undefined, id);
    const [table, text] = await saved(page, () => chart.locator("[data-save=csv]").click());
    assert.equal(table, `${id}.csv`);
    assert.ok(text.trim().split("\n").length >= 2 && text.split("\n")[0].includes(","), `${name} ${id}: ${text.slice(0, 80)}`);
  }
  await done(page);
}

{
  const page = await open("topics");
  const shown = () => page.locator(".topic:visible").getAttribute("data-topic");
  const words = () => page.locator(".topic:visible tbody th").allTextContents();
  const first = await shown();
  // The slider ranks again: at 1 by plain probability. By the keyboard.
  const before = await words();
  await page.locator("#weight").focus();
  await page.keyboard.press("End");
  assert.equal(await page.locator("#weight-shown").textContent(), "1");
  const plain = await page.locator(".topic:visible tbody tr td:nth-child(3)").allTextContents();
  const falling = plain.map(Number).every((p, at, all) => at === 0 || p <= all[at - 1]);
  assert.ok(falling && before.length > 5, "words are not ranked by probability");
  await page.keyboard.press("Home");
  assert.notDeepEqual(await words(), before, "the slider changes nothing");
  await page.keyboard.press("End");
  // Another topic by a click, by the keyboard and by the map.
  await page.locator("#list li a").nth(1).click();
  const second = await shown();
  assert.notEqual(second, first);
  await page.locator("#list li a").nth(1).press("ArrowUp");
  assert.equal(await shown(), first);
  assert.equal(await page.evaluate(() => document.activeElement.closest("li").dataset.topic), first);
  await page.locator(`.map [data-topic="${second}"]`).focus();
  await page.keyboard.press("Enter");
  assert.equal(await shown(), second);
  assert.ok(page.url().endsWith(`#topic-${second}`));
  await page.locator("#list li a").nth(2).click();
  await page.goBack();
  assert.equal(await shown(), second);
  // A word leads to its topics; half a word to words.
  const word = (await words())[0];
  await page.locator("#find").fill(word);
  assert.ok((await page.locator("#found").textContent()).includes(word));
  const left = await page.locator("#list li:visible").count();
  assert.ok(left >= 1 && left < (await page.locator("#list li").count()), "the search leaves out no topic");
  await page.locator("#find").fill(word.slice(0, -1));
  assert.ok((await page.locator("#found").textContent()).includes(word));
  await page.locator("#find").fill("");
  assert.equal(await page.locator("#list li:visible").count(), await page.locator("#list li").count());
  // The list in another order, which the keyboard follows.
  const listed = () => page.locator("#list li").evaluateAll((items) => items.map((item) => item.dataset.topic));
  const sized = await listed();
  await page.locator("#order").selectOption("number");
  assert.deepEqual(await listed(), [...sized].sort((a, b) => a - b));
  await page.locator("#list li a").first().click();
  await page.locator("#list li a").first().press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.closest("li").dataset.topic), (await listed())[1]);
  await page.locator("#order").selectOption("coherence");
  const coherent = await page.locator("#list .share").allTextContents();
  assert.ok(coherent.every((text, at) => at === 0 || Number(text) <= Number(coherent[at - 1])), coherent.join());
  await page.locator("#order").selectOption("share");
  assert.deepEqual(await listed(), sized);
  assert.ok((await page.locator("#list .share").first().textContent()).endsWith(" %"));
  // Names can be given and saved.
  const named = await shown();
  await page.locator(".topic:visible .name").fill('=a "name", <b>');
  assert.ok((await page.locator(`#list [data-topic="${named}"] .begin`).textContent()).startsWith('=a "name", <b>'));
  const [file, text] = await saved(page, () => page.locator("#names").click());
  assert.equal(file, "topic-names.csv");
  assert.ok(text.includes(`${named},"'=a ""name"", <b>"`), text);
  const [list, table] = await saved(page, () => page.locator("#save-words").click());
  assert.equal(list, "topic-words.csv");
  assert.ok(table.startsWith("topic,name,rank,word,probability,all\n") && table.includes(`,1,${word},`), table.slice(0, 200));
  await done(page);
  const plainPage = await open("topics", { javaScriptEnabled: false });
  assert.equal(await plainPage.locator(".topic:visible").count(), await plainPage.locator("#list li").count());
  assert.ok((await plainPage.locator("blockquote:visible").count()) >= 3);
  await done(plainPage);
}

{
  const page = await open("clusters");
  const chart = page.locator('[data-chart="scatter"]');
  await page.locator("#x").selectOption("0");
  await page.locator("#y").selectOption("1");
  const [name, text] = await saved(page, () => chart.locator("[data-save=csv]").click());
  assert.equal(name, "scatter.csv");
  const axes = await page.locator("#x option").allTextContents();
  assert.ok(text.startsWith(`what,component,${axes[0]},${axes[1]}`), text.slice(0, 80));
  assert.ok((await saved(page, () => chart.locator("[data-save=svg]").click()))[1].includes(axes[1]));
  const shares = async () => {
    const all = (await page.locator("#item li").allTextContents()).map((line) => Number(/: ([\d.]+) %/.exec(line)[1]));
    return all.reduce((sum, share) => sum + share, 0);
  };
  await chart.locator("[data-item]").first().dispatchEvent("click");
  assert.match(await page.locator("#item").textContent(), /Row 1.*component \d+: \d/s);
  assert.ok(Math.abs((await shares()) - 100) < 2, "what an item belongs to is not all of it");
  // The same by the keyboard, and it stays when the axes change.
  await page.locator("#row").fill("7");
  await page.keyboard.press("Tab");
  assert.match(await page.locator("#item").textContent(), /Row 7/);
  await page.locator("#x").selectOption("2");
  assert.equal(await chart.locator(".chosen").getAttribute("data-item"), "6");
  await done(page);
}

{
  const page = await open("ratings");
  assert.equal(await page.locator(".user:visible").count(), 1);
  const first = await page.locator(".user:visible h3").textContent();
  await page.locator("#user").focus();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await page.locator(".user:visible h3").textContent(), first);
  await done(page);
  // The bound against seconds, by the keyboard and without a script.
  const plain = await open("ratings", { javaScriptEnabled: false });
  await plain.locator("#bound-steps").focus();
  await plain.keyboard.press("ArrowRight");
  await plain.keyboard.press("ArrowRight");
  const visible = plain.locator('[data-chart="bound"] .view:visible');
  assert.equal(await visible.count(), 1);
  assert.match(await visible.textContent(), /seconds/);
  await done(plain);
}

{
  const page = await open("large");
  assert.equal(await page.locator("#list li").count(), 500);
  // No two numbers of the map lie over each other.
  const over = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".map text")].map((text) => text.getBoundingClientRect());
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 4 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    return [boxes.length, boxes.filter((a, at) => boxes.some((b, other) => other < at && meet(a, b))).length];
  });
  assert.ok(over[0] >= 3 && over[0] <= 100 && over[1] === 0, `numbers on the map: ${over}`);
  // The time of the page's own thread, which does not depend on what else the machine does: below a second.
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.reload();
  const { metrics } = await session.send("Performance.getMetrics");
  const seconds = metrics.find(({ name }) => name === "TaskDuration").value;
  assert.ok(seconds > 0 && seconds < 1, `500 topics took ${seconds} s`);
  await done(page);
}

await browser.close();
console.log(`pages: no request and no message, in ${all.length + 1} pages; slider, search, choice, names and saving work`);
