#!/usr/bin/env python3
"""Opens a real report, and a comparison, in headless Chromium and uses them as a person would.

Speaks the WebDriver protocol with ChromeDriver, which is JSON over HTTP. Expects in the environment: CHROMIUM,
CHROMEDRIVER and KERNWAVE, the paths of three programs.

    report.py                  runs kernwave for both
    report.py REPORT TEXT      opens that report, which shows that text; needs no kernwave
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

DECODE = ["run", "gqa_attention_decode_short", "--model", "llama-3.1-8b", "--s-kv", "1K", "--data", "none"]
CHROMIUM_OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1366,900",
    "about:blank",
]
REPORT_CHARTS = ["roofline", "bounds", "utilisation", "bandwidth", "stalls", "critical-path", "timeline"]
PATIENCE = 300  # seconds, to end a hang
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to an element


class Browser:
    """One session of ChromeDriver."""

    def __init__(self, port, profile):
        self.root = f"http://127.0.0.1:{port}"
        options = {"binary": os.environ["CHROMIUM"], "args": [*CHROMIUM_OPTIONS, f"--user-data-dir={profile}"]}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options,
                        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        session = self.post("/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"/session/{session['sessionId']}"

    def post(self, path, body, method="POST"):
        request = urllib.request.Request(self.root + path, json.dumps(body).encode(), method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def open(self, file):
        self.log("performance")  # what came before is not the page's
        self.post(f"{self.session}/url", {"url": file.as_uri()})

    def script(self, text, *arguments):
        return self.post(f"{self.session}/execute/sync", {"script": text, "args": list(arguments)})

    def eventually(self, text, holds):
        """What the script returns once that holds: pages answer in their own time. At the latest what it returns after
        minutes, however busy the machine."""
        deadline = time.monotonic() + PATIENCE
        while not holds(value := self.script(text)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return value

    def log(self, kind):
        return self.post(f"{self.session}/se/log", {"type": kind})

    def actions(self, *sources):
        self.post(f"{self.session}/actions", {"actions": list(sources)})

    def point_at(self, x, y):
        self.actions({"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "x": int(x - 3), "y": int(y), "duration": 0},
            {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 50}]})

    def click(self, css, text):
        element = self.script("return [...document.querySelectorAll(arguments[0])]"
                              ".find(element => element.textContent === arguments[1])", css, text)
        self.post(f"{self.session}/element/{element[ELEMENT]}/click", {})

    def command(self, name, parameters):
        self.post(f"{self.session}/goog/cdp/execute", {"cmd": name, "params": parameters})

    def close(self):
        self.post(self.session, {}, method="DELETE")


@contextlib.contextmanager
def browser():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = subprocess.Popen([os.environ["CHROMEDRIVER"], "--port=0"], stdout=subprocess.PIPE, text=True)
        try:
            port = next(match[1] for line in driver.stdout if (match := re.search(r"successfully on port (\d+)", line)))
            session = Browser(port, profile)
            try:
                yield session
            finally:
                session.close()
        finally:
            driver.terminate()
            driver.wait()


def require(condition, text):
    if not condition:
        sys.exit(f"failed: {text}")
    print(f"ok: {text}")


def nothing_amiss(page, what):
    complaints = [entry["message"] for entry in page.log("browser")]
    require(not complaints, f"{what}: nothing on the console {complaints or ''}")
    urls = []
    for entry in page.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            urls.append(message["params"]["request"]["url"])
    # Chromium asks itself for pictures of its own controls.
    outside = [url for url in urls if not url.startswith(("file:", "data:", "about:", "chrome:"))]
    require(urls and not outside, f"{what}: no request leaves the page {outside or ''}")


def charts_are_drawn(page, names):
    drawn = page.eventually("""
        return [...document.querySelectorAll('.chart')].map(box => ({
          name: box.id.replace('chart-', ''), shapes: box.querySelectorAll('svg path').length,
          inside: box.getBoundingClientRect().right <= document.documentElement.clientWidth}))""",
                            lambda charts: charts and all(chart["shapes"] > 5 for chart in charts))
    require([chart["name"] for chart in drawn] == names, f"the charts are {', '.join(names)}")
    require(all(chart["shapes"] > 5 for chart in drawn), "each of them has shapes")
    require(all(chart["inside"] for chart in drawn), "each of them is inside the page's width")
    require(page.script("return document.documentElement.scrollWidth <= window.innerWidth"), "no scrolling sideways")


def timeline_answers(page):
    # Where ECharts has put the first read of PE 0: row 0, from 0 on. A little to the right of its start is inside it.
    x, y = page.script("""
        const chart = page.charts['chart-timeline'];
        chart.getDom().scrollIntoView({block: 'center'});
        const at = chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, [0.5, 0]);
        const box = chart.getDom().getBoundingClientRect();
        return [box.left + at[0], box.top + at[1]];""")
    page.point_at(x, y)
    shown = page.eventually("""
        const texts = [...document.querySelectorAll('#chart-timeline > div')].filter(
          box => getComputedStyle(box).visibility === 'visible' && box.style.opacity !== '0').map(box => box.textContent);
        return texts.join(' ')""", lambda texts: "in service" in texts)
    require("memory/dma_read" in shown and "in service" in shown, "pointing at a bar tells what it is")

    shown_range = """
        const zoom = page.charts['chart-timeline'].getOption().dataZoom.find(one => one.id === 'time');
        return [zoom.start, zoom.end]"""
    page.click("button", "Zoom in")
    require(page.eventually(shown_range, lambda shown: shown == [25, 75]) == [25, 75], "Zoom in shows the middle half")
    page.click("button", "All")
    require(page.eventually(shown_range, lambda shown: shown == [0, 100]) == [0, 100], "All shows everything")
    page.actions(
        {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": "\ue009"}, {"type": "pause"},
                                                  {"type": "keyUp", "value": "\ue009"}]},
        {"type": "wheel", "id": "wheel", "actions": [
            {"type": "pause"},
            {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": -240, "duration": 0},
            {"type": "pause", "duration": 200}]})
    start, end = page.eventually(shown_range, lambda shown: shown[1] - shown[0] < 99)
    require(end - start < 99, f"Ctrl and the wheel zoom: {start:.1f} to {end:.1f} %")


def colours_follow_the_system(page):
    both = ("return [getComputedStyle(document.body).backgroundColor,"
            " page.charts['chart-stalls'].getOption().textStyle.color]")

    def set_scheme(scheme):
        page.command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    set_scheme("light")
    light = page.script(both)
    set_scheme("dark")
    dark = page.eventually(both, lambda shown: shown[0] != light[0] and shown[1] != light[1])
    require(dark[0] != light[0] and dark[1] != light[1], "page and charts change with the colour scheme")


def opens_and_shows(report, text):
    with browser() as page:
        page.open(report)
        charts_are_drawn(page, REPORT_CHARTS)
        require(text in page.script("return document.body.innerText"), f"the report shows {text}")
        nothing_amiss(page, "report")


def kernwave_reports():
    with tempfile.TemporaryDirectory() as name, browser() as page:
        folder = pathlib.Path(name)
        report, a, b, comparison = (folder / file for file in ("report.html", "a.json", "b.json", "comparison.html"))
        subprocess.run([os.environ["KERNWAVE"], *DECODE, "--critical-path", "--quiet", "--report", report], check=True)
        for file, policy in ((a, "lazy"), (b, "blocking")):
            subprocess.run([os.environ["KERNWAVE"], *DECODE, "--policy", policy, "--quiet", "--json", file], check=True)
        subprocess.run([os.environ["KERNWAVE"], "compare", a, b, "--report", comparison], check=True,
                       stdout=subprocess.DEVNULL)

        page.open(report)
        require("Bound by reading K and V" in page.script("return document.getElementById('verdict').textContent"),
                "the verdict stands at the top")
        charts_are_drawn(page, REPORT_CHARTS)
        timeline_answers(page)
        colours_follow_the_system(page)
        nothing_amiss(page, "report")

        page.open(comparison)
        charts_are_drawn(page, ["roofline", "bounds", "stalls"])
        nothing_amiss(page, "comparison")


def main():
    if len(sys.argv) == 3:
        opens_and_shows(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
    else:
        kernwave_reports()


if __name__ == "__main__":
    main()
