// The operations of the recorded window: a row for each engine of each PE, a bar for each operation.
const timeline = (() => {
  /// Rows in the order of PE and lane: { pe, lane, name }.
  function rowsOf(recorded) {
    const seen = new Map();
    for (const [pe, lane] of recorded.operations) seen.set(pe * 16 + lane, {pe, lane});
    const rows = [...seen.entries()].sort((a, b) => a[0] - b[0]).map(entry => entry[1]);
    return rows.map(row => ({...row, name: `PE ${row.pe}  ${recorded.lanes[row.lane]}`}));
  }

  /// Where the axis ends: where the recording does, or the last operation.
  function endOf(recorded) {
    const last = recorded.operations.reduce((end, operation) => Math.max(end, operation[6]), 0);
    return recorded.complete_to_ps === null ? last : Math.min(last, recorded.complete_to_ps);
  }

  function describe(recorded, operation) {
    const [pe, lane, text, place, issued, start, end] = operation;
    return charts.tooltip([recorded.texts[text], `PE ${pe}, ${recorded.lanes[lane]}`, `issued at ${recorded.places[place]}`,
      `in service ${charts.timeText(start)} to ${charts.timeText(end)}, ${charts.timeText(end - start)}`,
      `issued ${charts.timeText(issued)}: waited ${charts.timeText(Math.max(0, start - issued))}`]);
  }

  function draw(parameters, api) {
    const row = api.value(0);
    const from = api.coord([api.value(1), row]);
    const to = api.coord([api.value(2), row]);
    const height = Math.max(2, api.size([0, 1])[1] * 0.72);
    const area = parameters.coordSys;
    const left = Math.max(from[0], area.x);
    const right = Math.min(Math.max(to[0], from[0] + 1), area.x + area.width);
    if (right <= left) return null;
    return {type: "rect", shape: {x: left, y: from[1] - height / 2, width: right - left, height},
            style: {fill: api.visual("color"), stroke: api.style().stroke, lineWidth: right - left > 4 ? 0.5 : 0}};
  }

  const rowsShown = 24;

  function option(data, theme) {
    const recorded = data.activity && data.activity.window;
    if (!recorded || recorded.operations.length === 0) return null;
    const rows = rowsOf(recorded);
    const rowOf = new Map(rows.map((row, i) => [row.pe * 16 + row.lane, i]));
    const end = Math.max(endOf(recorded), recorded.from_ps + 1);
    const unit = charts.timeUnit(end);
    const series = recorded.lanes.map((name, lane) => ({
      name, type: "custom", renderItem: draw, color: data.activity.colours[name], encode: {x: [1, 2], y: 0}, clip: true,
      itemStyle: {borderColor: theme.card},
      data: recorded.operations.map((operation, number) => ({operation, number})).filter(({operation}) => operation[1] === lane).map(
        ({operation, number}) => ({value: [rowOf.get(operation[0] * 16 + lane), operation[5] / unit.size, operation[6] / unit.size], number})),
    })).filter(one => one.data.length > 0);
    const more = rows.length > rowsShown;
    const zoomed = theme.print ? [] : [
      {id: "time", type: "slider", xAxisIndex: 0, filterMode: "weakFilter", bottom: 8, height: 22, labelFormatter: charts.digits,
        textStyle: {color: theme.muted}, borderColor: theme.line},
      {id: "wheel", type: "inside", xAxisIndex: 0, filterMode: "weakFilter", zoomOnMouseWheel: "ctrl"},
    ];
    if (more) {
      zoomed.push({id: "rows", type: "slider", yAxisIndex: 0, filterMode: "weakFilter", right: 6, width: 16, startValue: 0,
        endValue: rowsShown - 1, showDetail: false, borderColor: theme.line, show: !theme.print, brushSelect: false});
    }
    return charts.base(theme, {
      grid: {left: 140, right: more ? 44 : 24, top: 36, bottom: theme.print ? 48 : 84},
      tooltip: {...charts.base(theme).tooltip, trigger: "item", formatter: item => describe(recorded, recorded.operations[item.data.number])},
      dataZoom: zoomed,
      xAxis: charts.xAxis(theme, `time, ${unit.name}`, {type: "value", min: recorded.from_ps / unit.size, max: end / unit.size,
        axisLabel: {color: theme.muted, formatter: charts.digits, showMaxLabel: false}}),
      yAxis: charts.axis(theme, "", {type: "category", inverse: true, data: rows.map(row => row.name), splitLine: {show: false},
        axisLabel: {color: theme.text, interval: 0, fontSize: 11}}),
      series,
    });
  }

  function height(data) {
    const recorded = data.activity && data.activity.window;
    return recorded ? 140 + 19 * Math.min(rowsShown, Math.max(4, rowsOf(recorded).length)) : 0;
  }

  function note(data) {
    const recorded = data.activity.window;
    const shown = recorded.operations.length;
    const all = shown === recorded.touching ? `All ${shown} operations` : `The first ${shown} of ${recorded.touching} operations`;
    return `${all} from ${charts.timeText(recorded.from_ps)} on.`;
  }

  /// Makes the visible interval of time `factor` times as long, around its middle; 0: everything.
  function zoom(chart, factor) {
    const shown = chart.getOption().dataZoom.find(one => one.id === "time");
    const middle = (shown.start + shown.end) / 2;
    const half = factor === 0 ? 100 : (shown.end - shown.start) / 2 * factor;
    chart.dispatchAction({type: "dataZoom", dataZoomId: "time", start: Math.max(0, middle - half), end: Math.min(100, middle + half)});
  }

  return {option, height, note, zoom};
})();
