"use strict";

// Each chart as an ECharts option, from the page's data and a theme.
const charts = (() => {
  const trafficColours = {read: "#3b7dd8", written: "#e08a1e"};
  const causeColours = {
    issue: "#6b7686", load: "#3b7dd8", compute: "#e08a1e", store: "#7fb3f0", composite: "#b5743a", receive: "#a063c9",
    credit: "#c9a3e0", queue: "#d3558a", scratch: "#3fa66b", memory_order: "#c94f45", drain: "#9fb8a6", idle: "#c3c8d0",
  };
  const runColours = ["#3b7dd8", "#e08a1e"];
  const causes = Object.keys(causeColours);

  const sum = values => values.reduce((total, value) => total + value, 0);
  const digits = value => Number(value.toPrecision(4)).toString();

  /// { size, name } of the unit in which a number of picoseconds has one to three digits before the point.
  function timeUnit(picoseconds) {
    const units = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"], [1, "ps"]];
    const [size, name] = units.find(unit => picoseconds >= unit[0]) || [1, "ps"];
    return {size, name};
  }
  function timeText(picoseconds) {
    const unit = timeUnit(picoseconds);
    return unit.size === 1 ? `${picoseconds} ps` : `${(picoseconds / unit.size).toFixed(3)} ${unit.name}`;
  }
  function scaled(value, unit) {
    const prefixes = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
    const rounded = value * (1 + 1e-9);  // a logarithmic axis hands over 999999999999.9
    const [size, prefix] = prefixes.find(entry => rounded >= entry[0]) || [1, ""];
    return `${digits(value / size)} ${prefix}${unit}`;
  }

  /// Lines of text as an element, so that no text becomes markup.
  function tooltip(lines) {
    const box = document.createElement("div");
    for (const line of lines) {
      const row = document.createElement("div");
      row.textContent = line;
      row.style.cssText = "max-width:460px;white-space:normal;overflow-wrap:anywhere";
      box.appendChild(row);
    }
    return box;
  }

  const axis = (theme, name, more) => ({
    name, nameLocation: "middle", nameTextStyle: {color: theme.muted, fontSize: 12},
    axisLabel: {color: theme.muted, hideOverlap: true}, axisLine: {show: true, lineStyle: {color: theme.line}},
    axisTick: {lineStyle: {color: theme.line}}, splitLine: {lineStyle: {color: theme.line}}, ...more,
  });
  const xAxis = (theme, name, more) => axis(theme, name, {nameGap: 28, ...more});
  const yAxis = (theme, name, more) => axis(theme, name, {nameGap: 50, ...more});
  const base = (theme, more) => ({
    animation: false, textStyle: {fontFamily: theme.font, color: theme.text},
    tooltip: {confine: true, backgroundColor: theme.card, borderColor: theme.line, textStyle: {color: theme.text, fontSize: 12}},
    legend: {top: 0, type: "scroll", textStyle: {color: theme.text}, inactiveColor: theme.muted, icon: "roundRect", itemWidth: 14, itemHeight: 10,
             pageTextStyle: {color: theme.muted}},
    grid: {left: 72, right: 24, top: 36, bottom: 48}, ...more,
  });

  const pes = result => Object.keys(result.stall_ps).filter(pe => result.stall_ps[pe].idle < result.latency_ps);

  // ---- roofline

  /// { name, bandwidth, peak, run, dashed } of each roof; `run` is null of one that all runs share.
  function roofs(data) {
    const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
    const ofRun = (line, run) => [
      {name: `HBM of ${plural(line.cubes, "cube")}, ${scaled(line.hbm_bandwidth, "B/s")}`, bandwidth: line.hbm_bandwidth,
        peak: line.peak_flops, run, dashed: false},
      {name: `DMA read ports of ${plural(line.pes, "PE")}, ${scaled(line.dma_bandwidth, "B/s")}`, bandwidth: line.dma_bandwidth,
        peak: line.peak_flops, run, dashed: true},
    ];
    const all = data.rooflines.flatMap(ofRun).filter(roof => roof.bandwidth > 0 && roof.peak > 0);
    const same = (a, b) => a.name === b.name && a.peak === b.peak;
    const shared = roof => all.filter(other => same(roof, other)).length === data.rooflines.length;
    return all.filter((roof, i) => !all.slice(0, i).some(other => same(roof, other))).map(roof => shared(roof)
      ? {...roof, run: null} : {...roof, name: `${roof.name} (${data.names[roof.run]})`});
  }

  function roofline(data, theme) {
    const points = data.rooflines.map((line, run) => ({...line, run})).filter(line => line.intensity > 0 && line.flops_per_second > 0);
    const lines = roofs(data);
    if (points.length === 0 || lines.length === 0) return null;
    const ridges = lines.map(roof => roof.peak / roof.bandwidth);
    const low = 10 ** Math.floor(Math.log10(Math.min(...points.map(p => p.intensity), ...ridges) / 3));
    const high = 10 ** Math.ceil(Math.log10(Math.max(...points.map(p => p.intensity), ...ridges) * 3));
    const floor = Math.min(...points.map(p => p.flops_per_second), ...lines.map(roof => low * roof.bandwidth));
    const ceiling = Math.max(...lines.map(roof => roof.peak));
    const label = data.rooflines[0].of_products ? "flops of products" : "flops of MATH";
    const roofSeries = lines.map(roof => ({
      name: roof.name, type: "line", symbol: "none", color: roof.run !== null ? runColours[roof.run] : (roof.dashed ? theme.muted : theme.text),
      lineStyle: {width: 2, type: roof.dashed ? "dashed" : "solid"}, silent: true,
      data: [[low, low * roof.bandwidth], [roof.peak / roof.bandwidth, roof.peak], [high, roof.peak]],
      endLabel: {show: !roof.dashed, formatter: () => scaled(roof.peak, "FLOP/s"), color: theme.muted, align: "right", offset: [-4, -10]},
    }));
    const pointSeries = points.map(point => ({
      name: data.names[point.run], type: "scatter", symbolSize: 14, color: runColours[point.run], z: 5,
      itemStyle: {borderColor: theme.card, borderWidth: 2, opacity: 1},
      data: [[point.intensity, point.flops_per_second]],
      tooltip: {formatter: () => tooltip([data.names[point.run], `${digits(point.intensity)} flops a byte`,
        scaled(point.flops_per_second, "FLOP/s"),
        `${(100 * point.flops_per_second / Math.min(point.peak_flops, point.intensity * point.hbm_bandwidth)).toFixed(1)} % of its roof`])},
    }));
    return base(theme, {
      grid: {left: 74, right: 24, top: 62, bottom: 48},
      tooltip: {...base(theme).tooltip, trigger: "item"},
      legend: {...base(theme).legend, type: "plain", itemGap: 10},
      xAxis: xAxis(theme, `arithmetic intensity, ${label} a byte of HBM`, {type: "log", min: low, max: high,
        axisLabel: {color: theme.muted, formatter: digits}}),
      yAxis: yAxis(theme, "FLOP/s", {type: "log", nameGap: 54, min: 10 ** Math.floor(Math.log10(floor)),
        max: 10 ** Math.ceil(Math.log10(ceiling * 1.2)), axisLabel: {color: theme.muted, formatter: value => scaled(value, "")}}),
      series: [...pointSeries, ...roofSeries],
    });
  }

  // ---- bounds

  function bounds(data, theme) {
    const names = Object.keys(data.results[0].bounds_ps.compulsory).filter(
      name => data.results.some(result => result.bounds_ps.compulsory[name] + result.bounds_ps.issued[name] > 0));
    const unit = timeUnit(Math.max(...data.results.map(result => result.latency_ps)));
    const series = [];
    data.results.forEach((result, run) => {
      const mark = data.results.length > 1 ? `${data.names[run]}, ` : "";
      const colour = runColours[run];
      const bars = (kind, style) => series.push({
        name: mark + kind, type: "bar", color: colour, itemStyle: style, barMaxWidth: 12,
        data: names.map(name => result.bounds_ps[kind][name] / unit.size),
      });
      bars("compulsory", {opacity: 1});
      bars("issued", {opacity: 0.45});
      series.push({name: `${mark}latency`, type: "line", color: colour, symbol: "none", data: [],
        lineStyle: {type: "dashed"},
        markLine: {symbol: "none", silent: true, lineStyle: {color: colour, type: "dashed", width: 2},
          label: {formatter: `${mark}latency`, color: theme.muted, position: "start", distance: run * 13 + 3},
          data: [{xAxis: result.latency_ps / unit.size}]}});
    });
    return base(theme, {
      grid: {left: 112, right: 36, top: 36 + 20 * data.results.length, bottom: 48},
      tooltip: {...base(theme).tooltip, trigger: "axis", axisPointer: {type: "shadow"}, formatter: items => tooltip([
        items[0].name, ...items.filter(item => item.value !== undefined).map(item => `${item.seriesName}: ${digits(item.value)} ${unit.name}`)])},
      xAxis: xAxis(theme, `time, ${unit.name}`, {type: "value",
        max: Math.max(...series.flatMap(s => s.data), ...data.results.map(result => result.latency_ps / unit.size)) * 1.05,
        axisLabel: {color: theme.muted, formatter: digits, showMaxLabel: false}}),
      yAxis: axis(theme, "", {type: "category", inverse: true, data: names, splitLine: {show: false},
        axisLabel: {color: theme.text, interval: 0}}),
      series,
    });
  }

  // ---- over time

  const binsDrawn = 128;

  /// Neighbouring bins taken together, so that a chart's steps can be told apart: `merged(values)` adds their numbers.
  /// Of each of the wider bins: its start, and how long it is (the last one ends with the run).
  function bins(data) {
    const latency = Math.max(data.results[0].latency_ps, 1);
    const together = Math.ceil(data.activity.bins / binsDrawn);
    const width = data.activity.bin_ps * together;
    const count = Math.ceil(Math.min(data.activity.bins, latency / data.activity.bin_ps) / together);
    const numbers = Array.from({length: count}, (_, i) => i);
    return {unit: timeUnit(latency), latency, starts: numbers.map(i => i * width),
            length: i => Math.max(1, Math.min(width, latency - i * width)),
            merged: values => numbers.map(i => sum(values.slice(i * together, (i + 1) * together)))};
  }

  /// Steps over the bins; `values` is one number a bin.
  function steps(theme, time, name, colour, values, more) {
    const points = values.map((value, i) => [time.starts[i] / time.unit.size, value]);
    if (values.length > 0) points.push([time.latency / time.unit.size, values[values.length - 1]]);
    return {name, type: "line", step: "end", symbol: "none", color: colour, lineStyle: {width: 1.5}, data: points, ...more};
  }

  function overTime(theme, time, unitText, more) {
    return base(theme, {
      tooltip: {...base(theme).tooltip, trigger: "axis", formatter: items => tooltip([
        `${digits(items[0].value[0])} ${time.unit.name}`,
        ...items.map(item => `${item.seriesName}: ${digits(item.value[1])} ${unitText}`)])},
      xAxis: xAxis(theme, `time, ${time.unit.name}`, {type: "value", min: 0, max: time.latency / time.unit.size,
        splitLine: {show: false}, axisLabel: {color: theme.muted, formatter: digits, showMaxLabel: false}}),
      ...more,
    });
  }

  function utilisation(data, theme) {
    if (!data.activity || data.activity.bins === 0) return null;
    const time = bins(data);
    const workers = Math.max(1, pes(data.results[0]).length);
    const series = Object.entries(data.activity.busy_ps).filter(([, values]) => sum(values) > 0).map(
      ([engine, values]) => steps(theme, time, engine, data.activity.colours[engine],
        time.merged(values).map((busy, i) => 100 * busy / (time.length(i) * workers))));
    if (series.length === 0) return null;
    return overTime(theme, time, "%", {yAxis: yAxis(theme, "busy, % of the PEs that worked", {type: "value", min: 0,
      axisLabel: {color: theme.muted}}), series});
  }

  /// `cube`: its name, or "" for all together.
  function bandwidth(data, theme, cube) {
    if (!data.activity || data.activity.bins === 0) return null;
    const time = bins(data);
    const chosen = Object.entries(data.activity.cubes).filter(([name]) => cube === "" || name === cube).map(([, traffic]) => traffic);
    if (chosen.length === 0) return null;
    const bytes = kind => chosen.map(traffic => time.merged(traffic[kind])).reduce((a, b) => a.map((value, i) => value + b[i]));
    const rate = kind => bytes(kind).map((value, i) => value * 1000 / time.length(i));
    const peak = data.rooflines[0].hbm_bandwidth / 1e9 * chosen.length / Math.max(1, data.rooflines[0].cubes);
    const read = rate("read");
    const written = rate("written");
    return overTime(theme, time, "GB/s", {
      yAxis: yAxis(theme, "GB/s", {type: "value", min: 0, axisLabel: {color: theme.muted}}),
      series: [
        steps(theme, time, "read", trafficColours.read, read, {areaStyle: {opacity: 0.3}}),
        steps(theme, time, "written", trafficColours.written, written, {areaStyle: {opacity: 0.3}}),
        {name: "sustained peak", type: "line", color: theme.muted, symbol: "none", lineStyle: {type: "dashed", width: 1.5},
          data: [[0, peak], [time.latency / time.unit.size, peak]]},
      ],
    });
  }

  // ---- where the time went

  function stalls(data, theme) {
    return data.results.length > 1 ? stallsOfRuns(data, theme) : stallsOfPes(data.results[0], theme);
  }

  const usedCauses = results => causes.filter(cause => results.some(result => pes(result).some(pe => result.stall_ps[pe][cause] > 0)));

  function stallTooltip(theme, unit) {
    return {...base(theme).tooltip, trigger: "axis", axisPointer: {type: "shadow"}, formatter: items => tooltip([
      items[0].name, ...items.filter(item => item.value > 0).map(item => `${item.seriesName}: ${digits(item.value)} ${unit.name}`)])};
  }

  function stallsOfPes(result, theme) {
    const workers = pes(result);
    if (workers.length === 0) return null;
    const unit = timeUnit(result.latency_ps);
    const many = workers.length > 64;
    return base(theme, {
      grid: {left: 72, right: 24, top: 36, bottom: many ? 84 : 48},
      tooltip: stallTooltip(theme, unit),
      dataZoom: many ? [{type: "slider", startValue: 0, endValue: 63, bottom: 8, height: 20}] : [],
      xAxis: xAxis(theme, "PE", {type: "category", data: workers.map(pe => pe.replace(/^pe/, "")), splitLine: {show: false}}),
      yAxis: yAxis(theme, `time, ${unit.name}`, {type: "value", max: result.latency_ps / unit.size,
        axisLabel: {color: theme.muted, formatter: digits, showMaxLabel: false}}),
      series: usedCauses([result]).map(cause => ({name: cause, type: "bar", stack: "time", color: causeColours[cause], barCategoryGap: "18%",
        barMaxWidth: 48, data: workers.map(pe => result.stall_ps[pe][cause] / unit.size)})),
    });
  }

  function stallsOfRuns(data, theme) {
    const unit = timeUnit(Math.max(...data.results.map(result => result.latency_ps)));
    const average = (result, cause) => {
      const workers = pes(result);
      return workers.length === 0 ? 0 : sum(workers.map(pe => result.stall_ps[pe][cause])) / workers.length / unit.size;
    };
    return base(theme, {
      tooltip: stallTooltip(theme, unit),
      xAxis: xAxis(theme, `time per PE that worked, ${unit.name}`, {type: "value", axisLabel: {color: theme.muted, formatter: digits}}),
      yAxis: axis(theme, "", {type: "category", inverse: true, data: data.names, splitLine: {show: false}, axisLabel: {color: theme.text}}),
      series: usedCauses(data.results).map(cause => ({name: cause, type: "bar", stack: "time", color: causeColours[cause], barMaxWidth: 56,
        data: data.results.map(result => average(result, cause))})),
    });
  }

  function criticalPath(data, theme) {
    const path = data.results.length === 1 ? data.results[0].critical_path : null;
    if (!path) return null;
    const entries = Object.entries(path.by_cause).filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
    const unit = timeUnit(path.latency_ps);
    return base(theme, {
      legend: {show: false}, grid: {left: 150, right: 70, top: 12, bottom: 48},
      tooltip: {...base(theme).tooltip, trigger: "item", formatter: item => tooltip([`${item.name}: ${digits(item.value)} ${unit.name}`])},
      xAxis: xAxis(theme, `time on the path, ${unit.name}`, {type: "value", axisLabel: {color: theme.muted, formatter: digits}}),
      yAxis: axis(theme, "", {type: "category", inverse: true, data: entries.map(entry => entry[0]), splitLine: {show: false},
        axisLabel: {color: theme.text, interval: 0}}),
      series: [{type: "bar", color: runColours[0], barMaxWidth: 18, data: entries.map(entry => entry[1] / unit.size),
        label: {show: true, position: "right", color: theme.muted,
          formatter: item => `${(100 * item.value * unit.size / Math.max(1, path.latency_ps)).toFixed(1)} %`}}],
    });
  }

  return {roofline, bounds, utilisation, bandwidth, stalls, criticalPath, base, axis, xAxis, tooltip, timeUnit, timeText, digits};
})();
