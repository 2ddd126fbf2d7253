// The page: charts and lists of a run, and news of it while it goes on.

const run = new Run(), filter = new Filter(run), table = new Table(run);
let status = null, selected = 0, chosen = { f: false, variable: false };

// The scale of values, which the chart of the best value and the last axis of the parallel coordinates share.
const values = {
  mode: "linear",
  get log() { return this.mode !== "linear"; },
  get label() { return this.mode === "gap" ? "f − best" : "f"; },
  choose() {
    const all = [...run.column("f"), ...run.curve.f].filter(Number.isFinite), [low, high] = extent(all);
    this.best = run.curve.f.length ? Math.min(run.curve.f[run.curve.f.length - 1], low) : low;
    const gaps = all.map((value) => value - this.best).filter((gap) => gap > 0);
    this.least = extent(gaps)[0];
    if (!Number.isFinite(this.least)) this.least = 1e-300;
    if (!chosen.f) this.mode = low > 0 && high / low > 100 ? "log" : gaps.length && high - this.best > 1000 * median(Float64Array.from(gaps)) ? "gap" : "linear";
    if (!chosen.f && low <= 0 && run.curve.f.length > 2 && run.curve.f[0] - this.best > 100 * (run.curve.f[run.curve.f.length >> 1] - this.best)) this.mode = "gap";
    find("f-scale").value = this.mode;
  },
  one(value) { return this.mode === "gap" ? Math.max(value - this.best, this.least) : value; },
  back(value) { return this.mode === "gap" ? value + this.best : value; },
  of(list) { return this.mode === "gap" ? Float64Array.from(list, (value) => this.one(value)) : list; },
};

const byEvaluations = () => ({ label: "evaluations", unit: "evaluation", log: find("n-scale").value === "log" });

const charts = [
  new Chart(find("convergence"), () => {
    if (!run.curve.f.length && !run.n) return null;
    const f = run.column("f"), series = [];
    if (run.n) series.push({ name: "evaluations", kind: "dots", colour: "--dot", x: run.column("number"), y: values.of(f), text: (i) => `f: ${run.failed(i) ? "failed" : short(f[i])} (evaluation ${whole(run.column("number")[i])})` });
    series.push({ name: run.head.constrained ? "best feasible value" : "best value", main: true, kind: "step", colour: "--c0", x: run.curve.nfev, y: values.of(run.curve.f), told: run.curve.f });
    if (run.head.failures && run.n) series.push({ name: "failures", kind: "marks", colour: "--warn", x: run.column("number").filter((_, i) => run.failed(i)) });
    return { x: byEvaluations(), y: { label: values.label, log: values.log }, series };
  }, 300),
  new Chart(find("search"), () => {
    const found = run.generations;
    if (!found || !found.sigma) return null;
    const names = { longest: "longest axis", shortest: "shortest axis", sigma: "step-size σ" };
    const series = Object.entries(names).filter(([key]) => found[key]).map(([key, name], i) => ({ name, kind: "line", main: key === "sigma", colour: ["--c1", "--c2", "--c0"][i], dash: DASHES[[1, 2, 0][i]], x: found.nfev, y: found[key] }));
    return { x: byEvaluations(), y: { label: "standard deviation", log: true }, series };
  }),
  new Chart(find("variable"), () => {
    const places = run.generations && run.generations.places, i = selected;
    if (!places || !places.mean || !places.mean[i] || places.nfev.length < 2) return null;
    const mean = places.mean[i], std = places.std[i], x = run.variable(i);
    const log = run.head.logarithmic[i] && extent(mean)[0] > 0, spread = (sign) => mean.map((value, k) => (log ? value * Math.exp((sign * std[k]) / value) : value + sign * std[k]));
    const low = spread(-1), high = spread(1);
    const series = [
      { name: "evaluations", kind: "dots", colour: "--dot", x: run.column("number"), y: x },
      { name: "± standard deviation", kind: "band", colour: "--c1", x: places.nfev, y: low, high },
      { name: "mean", main: true, kind: "line", colour: "--c1", x: places.nfev, y: mean, text: (k) => `mean: ${short(mean[k])} ± ${short(std[k], 3)}` },
    ];
    if (run.n && extent(low, false)[0] < extent(x)[0] - 2 * (extent(x)[1] - extent(x)[0])) series.splice(1, 1);
    return { x: byEvaluations(), y: { label: run.head.names[i], log }, series };
  }),
  new Chart(find("bend"), () => {
    const found = run.generations;
    if (!found || !found.bend) return null;
    return { x: byEvaluations(), y: { label: "in standard deviations", log: false }, series: [{ name: "bend", kind: "line", colour: "--c3", x: found.nfev, y: found.bend }] };
  }),
  new Chart(find("model"), () => {
    const found = run.generations;
    if (!found || !found.tau) return null;
    const series = [{ name: "rank correlation with the values", main: true, kind: "line", colour: "--c1", x: found.nfev, y: found.tau }];
    if (found.evaluated) series.push({ name: "part of a generation evaluated", kind: "line", colour: "--c0", dash: DASHES[1], x: found.nfev, y: found.evaluated });
    return { x: byEvaluations(), y: { label: "", log: false, range: [Math.min(0, extent(found.tau)[0]), 1] }, series };
  }),
  new Chart(find("times"), () => {
    const seconds = run.column("seconds"), [low, high] = extent(seconds, true);
    if (!(low <= high)) return null;
    const number = run.column("number"), worker = run.column("worker"), counts = new Map();
    for (const each of worker) counts.set(each, (counts.get(each) ?? 0) + 1);
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, COLOURS.length).map(([code]) => code), few = counts.size <= COLOURS.length;
    const places = new Map(most.sort((a, b) => a - b).map((code, k) => [code, k])), told = (i) => `${run.worker(i) || "evaluation"}: ${span(seconds[i])}`;
    const series = [{ name: "evaluation", kind: "dots", colour: "--c1", x: number, y: seconds, text: told }];
    if (few && counts.size > 1) Object.assign(series[0], { groups: most.map((code, k) => ({ name: run.workers[code - 1] ?? "unknown", colour: COLOURS[k] })), group: (i) => places.get(worker[i]) });
    return { x: byEvaluations(), y: { label: "", log: high / low > 20, text: span }, series };
  }),
];
let parallel = null;

function applyFilter() {
  if (!run.n) return;
  const kept = filter.rows();
  table.arrange(kept);
  parallel.select(kept);
  showRanges();
}

function showRanges() {
  const holder = find("ranges"), chips = [...filter.ranges].map(([key, [low, high]]) => {
    const chip = make("button", { type: "button", textContent: `${key === "f" ? "f" : run.head.names[key]}: ${short(low, 3)} to ${short(high, 3)} ✕`, title: "let go of this range" });
    chip.addEventListener("click", () => { filter.ranges.delete(key); applyFilter(); });
    return chip;
  });
  holder.hidden = !chips.length;
  holder.replaceChildren(...chips);
}

// Show the run as it is known now; what the user has chosen stays.
function show() {
  showFacts(run, status);
  values.choose();
  if (!chosen.variable) chosen.variable = fillVariables();
  find("evaluations").hidden = !run.n;
  find("parallel").hidden = !run.n;
  for (const chart of charts) chart.draw();
  if (run.n) {
    table.shape();
    const kept = filter.rows();
    parallel ??= new Parallel(run, values, filter.ranges, applyFilter);
    parallel.update(kept);
    table.arrange(kept);
    drawRamp();
  }
  showWorkers(run);
  const cards = [...document.querySelectorAll("main > .card")].filter((card) => !card.hidden && !card.matches(".wide"));
  for (const card of cards) card.classList.toggle("last", card === cards[cards.length - 1] && cards.length % 2 === 1);
  showFailures(run, (code) => {
    find("query").value = ""; filter.read("");
    filter.conditions = [{ column: () => run.column("error"), sign: "=", value: code }];
    find("rows-kind").value = filter.kind = "failed";
    applyFilter();
    find("evaluations").scrollIntoView({ block: "start" });
    table.frame.focus({ preventScroll: true });
  });
}

function fillVariables() {
  find("variable-name").replaceChildren(...run.head.names.map((name, i) => make("option", { value: i, textContent: name })));
  return run.head.names.length > 0;
}

function redraw() {
  readTheme();
  for (const chart of charts) chart.draw();
  if (parallel) { parallel.draw(); drawRamp(); }
}

function readQuery() {
  const problem = filter.read(find("query").value), told = find("query-error");
  find("query").setAttribute("aria-invalid", String(Boolean(problem)));
  told.hidden = !problem;
  told.textContent = problem;
  if (!problem) applyFilter();
}

let waiting = 0;
find("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(readQuery, 150); });
find("rows-kind").addEventListener("change", (event) => { filter.kind = event.target.value; applyFilter(); });
find("f-scale").addEventListener("change", (event) => {
  values.mode = event.target.value; chosen.f = true;
  charts[0].draw();
  if (parallel) parallel.update(table.kept);
});
find("n-scale").addEventListener("change", () => charts.forEach((chart) => chart.draw()));
find("variable-name").addEventListener("change", (event) => { selected = Number(event.target.value); charts[2].draw(); });
find("save").addEventListener("click", () => {
  const link = make("a", { href: URL.createObjectURL(new Blob([table.csv()], { type: "text/csv" })), download: `${run.head.name}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", () => { document.documentElement.classList.add("printed"); redraw(); });
addEventListener("afterprint", () => { document.documentElement.classList.remove("printed"); redraw(); });

// Ask the server for what is new, again and again, until the run has ended.
const PAUSE = 1000;
async function follow() {
  let lost = 0, shown = false;
  for (;;) {
    const began = performance.now();
    try {
      const answer = await fetch(`data?series=${run.series}&rows=${run.end}&generations=${run.count}&errors=${run.errors.length}&workers=${run.workers.length}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const news = await answer.json();
      lost = 0;
      if (!news.waiting) run.take(news);
      status = { waiting: ["running", "waiting for the first evaluation"], running: ["running", "running"], ended: ["ended", "ended"], open: ["running", "has not ended"] }[news.state];
      if (news.waiting) { find("state").className = "state " + status[0]; find("state").textContent = status[1]; }
      else if (!news.more || !shown) { show(); shown = true; }
      document.documentElement.dataset.rows = run.n;
      if (news.state === "ended" && !news.more) return;
      if (news.more) continue;
    } catch (error) {
      if (!(error instanceof TypeError) && !/^\d+$/.test(error.message)) throw error;
      lost++;
      find("state").className = "state lost";
      find("state").textContent = "connection lost: this is the state of the last answer";
      if (lost > 20) return;
    }
    const took = performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, Math.max(PAUSE, Math.min(3 * took, 2 * PAUSE))));
  }
}

readTheme();
const given = JSON.parse(find("run").textContent);
if (given.live) follow();
else { run.take(given); find("run").textContent = ""; show(); }
document.documentElement.dataset.ready = "yes";
