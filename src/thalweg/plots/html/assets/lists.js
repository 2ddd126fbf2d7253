// Lists: the facts at the top, workers, and failures with their tracebacks. All text is set as text: nothing in it runs.

const KINDS_SHOWN = 100;

function showFacts(run, status) {
  const { head, best } = run, facts = [];
  find("name").textContent = head.name === "result" ? "Run" : head.name;
  document.title = `${head.name} - Thalweg`;
  const kind = [head.method, `${head.d} variable${head.d === 1 ? "" : "s"}`, head.constrained ? "constrained" : "", head.seed === null ? "" : `seed ${head.seed}`];
  find("kind").textContent = kind.filter(Boolean).join(" · ");
  if (best) facts.push(["best value", short(best.f), "first", exact(best.f)], ["found at evaluation", whole(best.nfev)]);
  if (best && head.constrained) facts.push(["feasible", head.best.violation === 0 ? "yes" : `no, violation ${short(Number(head.best.violation), 4)}`, head.best.violation === 0 ? "" : "bad"]);
  facts.push(["evaluations", whole(head.nfev)]);
  facts.push(["failures", whole(head.failures), head.failures ? "bad" : ""]);
  if (run.workers.length > 1) facts.push(["workers", whole(run.workers.length)]);
  if (head.elapsed !== null) facts.push(["time", span(head.elapsed)]);
  find("facts").replaceChildren(...facts.map(([name, text, className = "", title = ""]) => make("div", { className, title }, make("dt", { textContent: name }), make("dd", { textContent: text }))));
  if (best && find("best").hidden) find("best").open = head.d <= 12;
  find("best").hidden = !best;
  if (best) {
    const pairs = Array.from(best.x, (value, i) => make("div", {}, make("dt", { textContent: best.names[i] }), make("dd", { textContent: exact(value) })));
    find("point").replaceChildren(...pairs);
  }
  find("message").hidden = !head.message;
  find("message").textContent = head.message ?? "";
  const notes = [];
  if (head.names.length < head.d) notes.push(`The first ${head.names.length} of ${whole(head.d)} variables are shown.`);
  if (head.every > 1) notes.push(`The table has one of ${head.every} evaluations, and all that improved the best value: ${whole(run.n)} of ${whole(head.end)}.`);
  find("notes").hidden = !notes.length;
  find("notes").textContent = notes.join(" ");
  const state = find("state"), [word, text] = status ?? (head.message ? ["ended", "ended"] : ["", ""]);
  state.className = `state ${word}`;
  if (state.textContent !== text) state.textContent = text;
}

function showWorkers(run) {
  const section = find("workers");
  section.hidden = !run.n || !run.workers.length;
  if (section.hidden) return;
  const counts = run.workers.map((name) => ({ name, count: 0, failed: 0, seconds: 0 })), worker = run.column("worker"), seconds = run.column("seconds");
  for (let i = 0; i < run.n; i++) {
    if (!worker[i]) continue;
    const each = counts[worker[i] - 1];
    each.count++;
    each.failed += run.failed(i);
    each.seconds += seconds[i] || 0;
  }
  const most = Math.max(...counts.map((each) => each.count)), shown = counts.sort((a, b) => b.count - a.count).slice(0, KINDS_SHOWN);
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...["worker", "evaluations", "", "failed", "time", "each"].map((textContent) => make("th", { textContent, scope: "col" })))));
  const body = table.createTBody();
  for (const { name, count, failed, seconds: time } of shown) {
    const bar = make("span");
    bar.style.width = `${(100 * count) / most}%`;
    body.append(make("tr", {}, make("td", { textContent: name }), make("td", { textContent: whole(count) }), make("td", { className: "share" }, bar), ...[whole(failed), span(time), span(time / count)].map((textContent) => make("td", { textContent }))));
  }
  section.querySelector(".list").replaceChildren(table, ...(counts.length > shown.length ? [make("p", { className: "muted small", textContent: `and ${whole(counts.length - shown.length)} more` })] : []));
}

function showFailures(run, showRows) {
  const section = find("failures");
  section.hidden = !run.head.failures || !run.n;
  if (section.hidden) return;
  const kinds = new Map(), error = run.column("error"), number = run.column("number");
  for (let i = 0; i < run.n; i++) {
    if (!run.failed(i)) continue;
    const found = kinds.get(error[i]) ?? kinds.set(error[i], { count: 0, first: number[i], i }).get(error[i]);
    found.count++;
  }
  const signature = [...kinds].map(([code, { count }]) => `${code}:${count}`).join() + run.firsts.size;
  if (section.dataset.shown === signature) return;
  section.dataset.shown = signature;
  const list = section.querySelector(".list"), open = new Set([...list.querySelectorAll("details[open]")].map((each) => each.dataset.code));
  const sortedKinds = [...kinds].sort(([, a], [, b]) => b.count - a.count);
  list.replaceChildren(...sortedKinds.slice(0, KINDS_SHOWN).map(([code, { count, first, i }]) => {
    const text = run.error(i), trace = run.firsts.get(code), button = make("button", { type: "button", textContent: "Show rows" });
    button.addEventListener("click", () => showRows(code));
    const item = make("div", { className: "failure" }, make("div", { className: "line" }, make("b", { textContent: `${whole(count)} ×` }), make("span", { className: "text", textContent: text }), make("span", { className: "muted small", textContent: `first in evaluation ${whole(first)}` }), button));
    if (trace) {
      const details = make("details", { open: open.has(String(code)) }, make("summary", { textContent: "Traceback" }), make("pre", { textContent: trace }));
      details.dataset.code = code;
      item.append(details);
    }
    return item;
  }), ...(kinds.size > KINDS_SHOWN ? [make("p", { className: "muted small", textContent: `and ${whole(kinds.size - KINDS_SHOWN)} more kinds of failures` })] : []));
}
