// Opens pages in a real browser: no request and no message; slider, search, choice, names and saving do what they say;
// no JavaScript; 320 pixels; paper. Usage: node check.mjs FOLDER, with topics.html, clusters.html, ratings.html,
// several.html and large.html, as ./run makes them. With --pictures DIR it takes pictures as well.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import chromium from "@sparticuz/chromium";
import { chromium as driver } from "playwright-core";

const folder = resolve(process.argv[2]);
const pictures = process.argv[3] === "--pictures" ? process.argv[4] : null;
const executablePath = process.env.LEHR_CHROMIUM || (await chromium.executablePath());
const browser = await driver.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--no-zygote"] });

async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.heard = [];
  page.on("request", (request) => request.url().startsWith("file:") || request.url().startsWith("blob:") || page.heard.push(request.url()));
  page.on("console", (message) => page.heard.push(message.text()));
  page.on("pageerror", (error) => page.heard.push(error.message));
  page.on("dialog", (dialog) => page.heard.push(dialog.message()));
  const begin = Date.now();
  await page.goto(`file://${folder}/${name}.html`);
  page.took = Date.now() - begin;
  return page;
}

async function done(page) {
  assert.deepEqual(page.heard, []);
  await page.context().close();
}

async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}

const all = ["topics", "clusters", "ratings", "several"];

for (const name of all) {
  for (const options of [{}, { javaScriptEnabled: false }, { colorScheme: "dark" }]) {
    const page = await open(name, options);
    assert.ok((await page.locator("h1").textContent()).length > 5, name);
    assert.ok((await page.locator("svg").first().boundingBox()).width > 5, name);
    if (pictures && options.javaScriptEnabled !== false) {
      await page.screenshot({ path: `${pictures}/report_${name}${options.colorScheme ? "_dark" : ""}.png` });
    }
    await done(page);
  }
  const narrow = await open(name, { viewport: { width: 320, height: 700 } });
  assert.ok((await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 320, `${name} is wider than 320 pixels`);
  await narrow.emulateMedia({ media: "print" });
  assert.equal(await narrow.locator(".tools:visible").count(), 0);
  await done(narrow);
}

{
  const page = await open("topics");
  const shown = () => page.locator(".topic:visible").getAttribute("data-topic");
  const words = () => page.locator(".topic:visible tbody th").allTextContents();
  const first = await shown();
  // The slider ranks again: at 1 by plain probability.
  const before = await words();
  await page.locator("#weight").fill("1");
  const plain = await page.locator(".topic:visible tbody tr td:nth-child(3)").allTextContents();
  const falling = plain.map(Number).every((p, at, all) => at === 0 || p <= all[at - 1]);
  assert.ok(falling && before.length > 5, "words are not ranked by probability");
  // Another topic by a click, by the keyboard and by the map.
  await page.locator("#list li a").nth(1).click();
  const second = await shown();
  assert.notEqual(second, first);
  await page.locator("#list li a").nth(1).press("ArrowUp");
  assert.equal(await shown(), first);
  await page.locator(`.map [data-topic="${second}"]`).focus();
  await page.keyboard.press("Enter");
  assert.equal(await shown(), second);
  // A word leads to its topics.
  const word = (await words())[0];
  await page.locator("#find").fill(word);
  assert.ok((await page.locator("#found").textContent()).includes(word));
  assert.ok((await page.locator("#list li:visible").count()) >= 1);
  await page.locator("#find").fill("");
  // Names can be given and saved.
  const named = await shown();
  await page.locator(".topic:visible .name").fill('=a "name", <b>');
  assert.ok((await page.locator(`#list [data-topic="${named}"] .begin`).textContent()).startsWith('=a "name", <b>'));
  const [file, text] = await saved(page, () => page.locator("#names").click());
  assert.equal(file, "topic-names.csv");
  assert.ok(text.includes(`${named},"'=a ""name"", <b>"`), text);
  await done(page);
  const plainPage = await open("topics", { javaScriptEnabled: false });
  assert.equal(await plainPage.locator(".topic:visible").count(), await plainPage.locator("#list li").count());
  assert.equal(await plainPage.locator(".tools:visible, .save:visible").count(), 0);
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
  const [picture, svg] = await saved(page, () => chart.locator("[data-save=svg]").click());
  assert.equal(picture, "scatter.svg");
  assert.ok(svg.startsWith("<svg") && svg.includes("#ffffff") && svg.includes(axes[1]));
  await chart.locator("[data-item]").first().dispatchEvent("click");
  assert.match(await page.locator("#item").textContent(), /Row 1.*component \d+: \d/s);
  await done(page);
}

{
  const page = await open("ratings");
  assert.equal(await page.locator(".user:visible").count(), 1);
  const first = await page.locator(".user:visible h3").textContent();
  await page.locator("#user").selectOption("1");
  assert.notEqual(await page.locator(".user:visible h3").textContent(), first);
  // The climb against seconds, without a script.
  await page.locator("#bound-seconds").check();
  assert.equal(await page.locator('[data-chart="bound"] .view:visible').count(), 1);
  await done(page);
}

{
  const page = await open("large");
  assert.equal(await page.locator("#list li").count(), 500);
  assert.ok(page.took < 1000, `500 topics took ${page.took} ms`);
  await done(page);
}

await browser.close();
console.log("pages: no request and no message, in five pages; slider, search, choice, names and saving work");
