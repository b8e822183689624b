// Suggestions of a Shorttail server under an input of any page.
(() => {
  "use strict";
  const { server, input: selector } = document.currentScript.dataset;
  const input = document.querySelector(selector);
  const list = document.createElement("ul");
  const id = (list.id = list.className = "shorttail-titles");
  let titles = [], chosen = -1, request, timer;

  const set = (node, attributes) => {
    for (const name in attributes) node.setAttribute(name, attributes[name]);
  };
  set(list, { role: "listbox", "aria-label": "Suggestions" });
  set(input, { role: "combobox", "aria-autocomplete": "list", "aria-controls": id, autocomplete: "off" });
  input.after(list);

  const choose = (at) => {
    chosen = at;
    [...list.children].forEach((item, n) => set(item, { "aria-selected": n === at }));
    list.children[at]?.scrollIntoView({ block: "nearest" });
    set(input, { "aria-activedescendant": at < 0 ? "" : id + at });
  };
  const show = (found) => {
    titles = found;
    list.replaceChildren(...found.map(item));
    list.hidden = !found.length;
    set(input, { "aria-expanded": !list.hidden });
    choose(-1);
  };
  const stop = () => {
    clearTimeout(timer);
    request?.abort();
  };
  const close = () => {
    stop();
    show([]);
  };
  const open = (at) => {
    // Addresses of documents come from outside.
    if (/^https?:/i.test(titles[at].url)) location.assign(titles[at].url);
  };
  const names = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" };
  const item = (title, at) => {
    const node = document.createElement("li");
    set(node, { role: "option", id: id + at });
    // Never as HTML: each part becomes a text.
    title.title_html.split(/<\/?mark>/).forEach((part, n) => {
      const text = part.replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => names[name]);
      const mark = document.createElement("mark");
      mark.textContent = text;
      node.append(n % 2 ? mark : text);
    });
    node.onmousedown = (event) => {
      event.preventDefault();
      open(at);
    };
    return node;
  };
  const ask = async () => {
    const { signal } = (request = new AbortController());
    try {
      const answer = await fetch(`${server}/suggest?k=8&q=` + encodeURIComponent(input.value), { signal });
      const found = answer.ok ? (await answer.json()).titles : [];
      if (!signal.aborted) show(found);
    } catch {
      if (!signal.aborted) close();
    }
  };

  close();
  input.addEventListener("input", () => {
    stop();
    timer = setTimeout(ask, 80);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen >= 0) open(chosen);
    else if (step && titles.length) {
      // Before the first is the input itself.
      const places = titles.length + 1;
      choose((chosen + 1 + step + places) % places - 1);
    } else return;
    event.preventDefault();
  });
})();
