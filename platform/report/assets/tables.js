// Tables of texts, as elements.
const tables = (() => {
  function row(cells, kind) {
    const element = document.createElement("tr");
    for (const text of cells) {
      const cell = document.createElement(kind);
      cell.textContent = text;
      element.appendChild(cell);
    }
    return element;
  }

  /// { title, head, rows, of_texts } inside a card.
  function card(table) {
    const box = document.createElement("div");
    box.className = table.rows.length > 20 ? "card long" : "card";
    const title = document.createElement("h2");
    title.textContent = table.title.charAt(0).toUpperCase() + table.title.slice(1);
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    const element = document.createElement("table");
    if (table.of_texts) element.className = "texts";
    const head = document.createElement("thead");
    head.appendChild(row(table.head, "th"));
    const body = document.createElement("tbody");
    for (const cells of table.rows) body.appendChild(row(cells, "td"));
    element.append(head, body);
    scroll.appendChild(element);
    box.append(title, scroll);
    return box;
  }

  /// The folder that all files lie in, with the slash at its end.
  function commonFolder(files) {
    let folder = files[0] || "";
    for (const file of files) while (!file.startsWith(folder)) folder = folder.slice(0, -1);
    return folder.slice(0, folder.lastIndexOf("/") + 1);
  }

  /// Of a critical path: its lines, and what faster resources would bring.
  function ofCriticalPath(path) {
    if (!path) return [];
    const share = time => `${(100 * time / Math.max(1, path.latency_ps)).toFixed(1)} %`;
    const folder = commonFolder((path.by_line || []).map(line => line.file));
    const lines = (path.by_line || []).map(line => [`${line.file.slice(folder.length)}:${line.line}`, line.cause || "", charts.timeText(line.ps), share(line.ps)]);
    const changes = (path.what_if || []).map(change => [change.resource, charts.timeText(change.predicted_ps),
      change.actual_ps === null || change.actual_ps === undefined ? "-" : charts.timeText(change.actual_ps)]);
    return [
      {title: "Critical path by line", head: ["line", "cause", "time", "of the latency"], rows: lines},
      {title: "What if", head: ["resource", "latency predicted", "latency simulated"], rows: changes},
    ].filter(table => table.rows.length > 0);
  }

  return {card, ofCriticalPath};
})();
