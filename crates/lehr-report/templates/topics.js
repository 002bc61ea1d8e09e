
// Topics: choose one, rank its words at any weight, look for a word, give names.
{
  const { words, topics, groups } = data.model;
  const names = topics.map((topic) => topic.name);
  const articles = [...document.querySelectorAll(".topic")];
  let order = articles.map((article) => Number(article.dataset.topic));
  const entries = [...document.querySelectorAll("#list li, .map a")];
  const weight = document.getElementById("weight");
  let chosen = order[0];

  const percent = (p) => String(Number((100 * p).toPrecision(3)));
  const chance = (nats) => Math.exp(-nats / 10000);

  // ln p(w | k) - (1 - weight) ln p(w), of words that some weight ranks among the first of all words.
  function ranked(topic, plain) {
    const [own, nats] = words.topics[topic];
    const rows = own.map((word, at) => ({
      word: words.names[word],
      p: chance(nats[at]),
      corpus: chance(words.corpus[word]),
      relevance: -nats[at] + (1 - plain) * words.corpus[word],
    }));
    return rows.sort((a, b) => b.relevance - a.relevance).slice(0, words.shown);
  }

  function bars(p, corpus, longest) {
    const svg = shape("svg", { class: "bar", "aria-hidden": "true" });
    svg.append(shape("rect", { width: `${(100 * p) / longest}%`, height: "60%" }));
    svg.append(shape("rect", { class: "c", y: "70%", width: `${(100 * corpus) / longest}%`, height: "30%" }));
    return svg;
  }

  function rank() {
    const plain = Number(weight.value);
    document.getElementById("weight-shown").textContent = plain;
    const body = document.querySelector(`#topic-${chosen} tbody`);
    const rows = ranked(chosen, plain);
    const longest = Math.max(...rows.map((row) => Math.max(row.p, row.corpus)));
    body.replaceChildren(
      ...rows.map((row) => {
        const line = element("tr");
        const cell = element("td");
        cell.append(bars(row.p, row.corpus, longest));
        line.append(element("th", { scope: "row" }, row.word), cell);
        line.append(element("td", {}, percent(row.p)), element("td", {}, percent(row.corpus)));
        return line;
      }),
    );
  }

  if (groups) {
    const rows = groups.rows.flatMap((row, topic) => row.map((share, at) => [topic, groups.names[at], groups.documents[at], share]));
    data.charts["by-group"] = { columns: ["topic", "group", "documents", "share"], rows };
  }

  // The shares of a topic by group, as bars.
  function shares(topic) {
    const figure = element("figure", { class: "chart" });
    const row = groups.rows[topic].map((share) => Number((100 * share).toPrecision(3)));
    const most = Math.max(...row, 1e-9);
    const [wide, high] = [480, 110];
    const each = wide / row.length;
    const svg = shape("svg", {
      viewBox: `0 0 ${wide} ${high + 18}`, width: wide, height: high + 18, role: "img", "font-size": 10,
      "aria-label": `Share of topic ${topic} by ${groups.name}`,
    });
    row.forEach((share, at) => {
      const tall = (high * share) / most;
      const bar = shape("rect", { x: at * each + 1, y: high - tall, width: Math.max(each - 2, 1), height: tall, fill: "#0072b2" });
      bar.append(shape("title", {}, `${groups.names[at]}: ${share} %`));
      svg.append(bar);
      if (row.length <= 8 || at === 0 || at === row.length - 1) {
        const end = at === row.length - 1 && row.length > 8;
        const x = row.length <= 8 ? at * each + each / 2 : end ? wide : 0;
        const anchor = row.length <= 8 ? "middle" : end ? "end" : "start";
        svg.append(shape("text", { x, y: high + 13, "text-anchor": anchor, fill: "currentColor" }, groups.names[at].slice(0, 14)));
      }
    });
    const name = `topic-${topic}-by-group`;
    figure.dataset.chart = name;
    data.charts[name] = { columns: ["group", "share"], rows: groups.rows[topic].map((share, at) => [groups.names[at], share]) };
    figure.append(element("figcaption", { class: "note" }, `Share by ${groups.name}, at most ${most} %`), svg, saving());
    return figure;
  }

  function label(topic) {
    for (const entry of entries) {
      if (Number(entry.dataset.topic) !== topic) continue;
      const begin = entry.querySelector(".begin");
      if (begin) begin.textContent = names[topic] ? `${names[topic]}: ${topics[topic].begin}` : topics[topic].begin;
    }
  }

  for (const article of articles) {
    const topic = Number(article.dataset.topic);
    const name = element("input", { class: "name", placeholder: "name this topic", "aria-label": `Name of topic ${topic}` });
    name.value = names[topic];
    name.addEventListener("input", () => {
      names[topic] = name.value;
      label(topic);
    });
    article.querySelector("h3").after(name);
    if (groups) article.querySelector(".words").after(shares(topic));
  }

  function select(topic) {
    if (!order.includes(topic)) return;
    chosen = topic;
    for (const article of articles) article.classList.toggle("on", Number(article.dataset.topic) === topic);
    for (const entry of entries) {
      const is = Number(entry.dataset.topic) === topic;
      entry.classList.toggle("on", is);
      (entry.querySelector("a") || entry).setAttribute("aria-current", is);
    }
    rank();
  }

  function fromAddress() {
    const found = /^#topic-(\d+)$/.exec(location.hash);
    if (found) select(Number(found[1]));
  }

  document.getElementById("list").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = order[order.indexOf(chosen) + step];
    if (next === undefined) return;
    select(next);
    document.querySelector(`#list [data-topic="${next}"] a`).focus();
  });

  // The list in another order, with what it is ordered by next to the bars.
  function arrange() {
    const by = document.getElementById("order").value;
    const value = (topic) => (by === "number" ? -topic : topics[topic][by] ?? -Infinity);
    order.sort((a, b) => value(b) - value(a) || a - b);
    const list = document.getElementById("list");
    const items = new Map([...list.children].map((item) => [Number(item.dataset.topic), item]));
    list.append(...order.map((topic) => items.get(topic)));
    for (const [topic, item] of items) {
      const measure = by === "coherence" || by === "exclusivity" ? topics[topic][by] : null;
      item.querySelector(".share").textContent = measure === null ? `${(100 * topics[topic].share).toFixed(1)} %` : measure.toFixed(2);
    }
  }

  function find() {
    const wanted = document.getElementById("find").value.trim().toLowerCase();
    const said = document.getElementById("found");
    said.hidden = !wanted;
    said.replaceChildren();
    for (const entry of entries) entry.hidden = false;
    if (!wanted) return;
    const word = words.names.findIndex((name) => name.toLowerCase() === wanted);
    if (word < 0) {
      const near = words.names.filter((name) => name.toLowerCase().startsWith(wanted)).slice(0, 8);
      said.textContent = near.length
        ? `No topic has "${wanted}" among its words; there are: ${near.join(", ")}`
        : `"${wanted}" is not among the ${words.names.length} words of this page: those of the vocabulary's ${words.vocabulary} that are most relevant to some topic.`;
      return;
    }
    const has = words.topics
      .map(([own, nats], topic) => ({ topic, at: own.indexOf(word), nats }))
      .filter(({ at }) => at >= 0)
      .map(({ topic, at, nats }) => {
        const p = chance(nats[at]);
        return { topic, p, uses: (p * topics[topic].share) / chance(words.corpus[word]) };
      })
      .sort((a, b) => b.uses - a.uses)
      .filter(({ uses }, at) => at === 0 || uses >= 0.01);
    said.append(`Topics with "${words.names[word]}": `);
    has.forEach(({ topic, p, uses }, at) => {
      const link = element("a", { href: `#topic-${topic}` }, `topic ${topic}`);
      said.append(at ? ", " : "", link, ` (${percent(Math.min(uses, 1))} % of its uses, ${percent(p)} % of the topic)`);
    });
    for (const entry of entries) {
      if (entry.tagName === "LI") entry.hidden = !has.some(({ topic }) => topic === Number(entry.dataset.topic));
    }
    if (has.length) select(has[0].topic);
  }

  document.getElementById("words").append(...words.names.slice(0, 2000).map((name) => element("option", { value: name })));
  document.getElementById("find").addEventListener("input", find);
  document.getElementById("order").addEventListener("change", arrange);
  document.querySelector(".tools").addEventListener("submit", (event) => event.preventDefault());
  weight.addEventListener("input", rank);
  document.getElementById("names").addEventListener("click", () => {
    const rows = order.map((topic) => [topic, names[topic], topics[topic].share, topics[topic].begin]);
    download("topic-names.csv", "text/csv", csv([["topic", "name", "share", "words"], ...rows]));
  });
  document.getElementById("save-words").addEventListener("click", () => {
    const plain = Number(weight.value);
    const rows = order.flatMap((topic) =>
      ranked(topic, plain).map((row, at) => [topic, names[topic], at + 1, row.word, Number(row.p.toPrecision(4)), Number(row.corpus.toPrecision(4))]),
    );
    download("topic-words.csv", "text/csv", csv([["topic", "name", "rank", "word", "probability", "all"], ...rows]));
  });
  // A link to where the address points already changes nothing there, but the keyboard may have moved on.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#topic-"]');
    if (link) select(Number(link.getAttribute("href").slice("#topic-".length)));
  });
  addEventListener("hashchange", fromAddress);
  select(chosen);
  fromAddress();
}
