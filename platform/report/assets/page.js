// Puts the page together, and draws again when its colours or its width change.
const page = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const printing = window.matchMedia("print");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = [];

  function theme(print) {
    const style = getComputedStyle(document.documentElement);
    const of = name => style.getPropertyValue(name).trim();
    const ink = print ? {text: "#1c2330", muted: "#5b6575", line: "#dde1e8", card: "#ffffff"}
                      : {text: of("--text"), muted: of("--muted"), line: of("--line"), card: of("--card")};
    return {...ink, print, font: getComputedStyle(document.body).fontFamily};
  }

  function draw(entry, print) {
    const option = entry.option(theme(print));
    if (option) entry.chart.setOption(option, {notMerge: true});
  }
  function drawAll(print) {
    for (const entry of drawn) {
      entry.box.style.height = `${entry.height || (print ? 240 : 320)}px`;
      entry.chart.resize({width: print ? 680 : "auto"});
      draw(entry, print);
    }
  }

  /// A card with a chart of `option(theme)`; nothing if there is nothing to draw. Returns what `draw` takes.
  function addChart(name, title, option, {wide = false, height = 0, note = ""} = {}) {
    if (!option(theme(false))) return null;
    const card = document.createElement("div");
    card.className = wide ? "card wide" : "card";
    const heading = document.createElement("h2");
    heading.textContent = title;
    const controls = document.createElement("div");
    controls.className = "controls";
    const box = document.createElement("div");
    box.className = "chart";
    box.id = `chart-${name}`;
    box.style.height = `${height || 320}px`;
    card.append(heading, controls, box);
    if (note !== "") {
      const text = document.createElement("p");
      text.className = "note";
      text.textContent = note;
      card.appendChild(text);
    }
    document.getElementById("charts").appendChild(card);
    const entry = {chart: echarts.init(box, null, {renderer: "svg"}), option, controls, box, height};
    drawn.push(entry);
    draw(entry, false);
    return entry;
  }

  function addButton(entry, text, action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", action);
    entry.controls.appendChild(button);
  }

  function addBandwidth() {
    let cube = "";
    const entry = addChart("bandwidth", "Bandwidth of HBM over time", colours => charts.bandwidth(data, colours, cube));
    if (!entry) return;
    const cubes = Object.keys(data.activity.cubes);
    if (cubes.length < 2) return;
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", "Cube");
    for (const name of ["", ...cubes]) choice.add(new Option(name === "" ? `all ${cubes.length} cubes` : name, name));
    choice.addEventListener("change", () => {
      cube = choice.value;
      draw(entry, false);
    });
    entry.controls.appendChild(choice);
  }

  function addTimeline() {
    const entry = addChart("timeline", "Timeline of operations", colours => timeline.option(data, colours),
      {wide: true, height: timeline.height(data), note: data.activity ? timeline.note(data) : ""});
    if (!entry) return;
    addButton(entry, "Zoom in", () => timeline.zoom(entry.chart, 0.5));
    addButton(entry, "Zoom out", () => timeline.zoom(entry.chart, 2));
    addButton(entry, "All", () => timeline.zoom(entry.chart, 0));
    const hint = document.createElement("span");
    hint.textContent = "Ctrl and the wheel zoom, dragging moves; point at a bar to read it.";
    entry.controls.appendChild(hint);
  }

  addChart("roofline", "Roofline", colours => charts.roofline(data, colours));
  addChart("bounds", "Lower bounds and latency", colours => charts.bounds(data, colours));
  addChart("utilisation", "Engines over time", colours => charts.utilisation(data, colours));
  addBandwidth();
  addChart("stalls", data.results.length > 1 ? "Where the time went" : "Where the time went, PE by PE",
    colours => charts.stalls(data, colours), {wide: true, height: data.results.length > 1 ? 220 : 300});
  addChart("critical-path", "Critical path", colours => charts.criticalPath(data, colours), {wide: true, height: 260});
  addTimeline();

  const path = data.results.length === 1 ? data.results[0].critical_path : null;
  for (const table of [...tables.ofCriticalPath(path), ...data.tables]) document.getElementById("tables").appendChild(tables.card(table));

  window.addEventListener("resize", () => drawn.forEach(entry => entry.chart.resize()));
  dark.addEventListener("change", () => drawAll(false));
  window.addEventListener("beforeprint", () => drawAll(true));
  window.addEventListener("afterprint", () => drawAll(false));
  printing.addEventListener("change", event => drawAll(event.matches));
  return {data, charts: Object.fromEntries(drawn.map(entry => [entry.chart.getDom().id, entry.chart]))};
})();
