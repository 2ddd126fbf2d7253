// The table of evaluations: rows outside the window do not exist, so 100,000 of them scroll as ten do.

const ROW = 28, MARGIN = 8;

class Table {
  constructor(run) {
    this.run = run; this.order = new Uint32Array(0); this.key = "number"; this.down = false; this.current = -1;
    this.frame = find("table"); this.table = this.frame.querySelector("table");
    this.body = this.table.tBodies[0]; this.head = this.table.tHead.rows[0];
    this.above = make("tr", { className: "gap" }, make("td")); this.below = make("tr", { className: "gap" }, make("td"));
    for (const gap of [this.above, this.below]) gap.setAttribute("aria-hidden", "true");
    this.pool = [];
    this.body.append(this.above, this.below);
    this.frame.addEventListener("scroll", () => this.window(), { passive: true });
    this.frame.addEventListener("keydown", (event) => this.press(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr.data");
      if (row) this.show(Number(row.dataset.row));
    });
    new ResizeObserver(() => this.window()).observe(this.frame);
  }

  // Make the columns; call it when there may be others.
  shape() {
    const { run } = this, { names } = run.head, number = (name, label, width = 100) => ({ key: name, label, width, of: () => run.column(name) });
    const columns = [number("number", "#", 76), number("generation", "generation", 104), { ...number("f", "f", 122), text: (v) => short(v, 8) }];
    if (extent(run.column("run"))[1] > 0) columns.splice(1, 0, number("run", "run", 66));
    if (run.head.constrained) columns.push(number("violation", "violation", 104));
    names.forEach((name, i) => columns.push({ key: `x${i}`, label: name, width: Math.max(104, Math.min(180, 34 + 8 * name.length)), of: () => run.variable(i) }));
    const { columns: given } = run;
    if (given.seconds && extent(given.seconds.values)[1] > -Infinity) columns.push({ ...number("seconds", "time", 96), text: span });
    if (run.workers.length) columns.push({ key: "worker", label: "worker", width: 150, words: true, of: () => run.column("worker"), row: (i) => run.worker(i) });
    if (given.attempts && extent(given.attempts.values)[1] > 1) columns.push(number("attempts", "attempts", 92));
    if (run.errors.length) columns.push({ key: "error", label: "error", width: 420, words: true, of: () => run.column("error"), row: (i) => run.error(i) });
    const shape = columns.map((each) => each.key).join();
    if (shape === this.shaped) return;
    this.shaped = shape; this.columns = columns;
    this.table.querySelector("colgroup")?.remove();
    this.table.prepend(make("colgroup", {}, ...columns.map(({ width }) => { const col = make("col"); col.style.width = `${width}px`; return col; })));
    this.table.style.width = `${columns.reduce((sum, each) => sum + each.width, 0)}px`;
    for (const gap of [this.above, this.below]) gap.cells[0].colSpan = columns.length;
    this.head.replaceChildren(...columns.map((column) => {
      const button = make("button", { type: "button", title: `sort by ${column.label}` });
      button.addEventListener("click", () => this.sort(column.key));
      const cell = make("th", { className: column.words ? "words" : "", scope: "col" }, button);
      cell.dataset.key = column.key;
      return cell;
    }));
    for (const row of this.pool) row.remove();
    this.pool = [];
    this.mark();
  }

  mark() {
    for (const cell of this.head.cells) {
      const { label } = this.columns.find((each) => each.key === cell.dataset.key), here = cell.dataset.key === this.key;
      if (here) cell.setAttribute("aria-sort", this.down ? "descending" : "ascending"); else cell.removeAttribute("aria-sort");
      cell.firstChild.textContent = here ? `${label} ${this.down ? "▼" : "▲"}` : label;
    }
  }

  sort(key) {
    this.down = this.key === key && !this.down;
    this.key = key;
    this.mark();
    this.arrange(this.kept);
    this.frame.scrollTop = 0;
    this.window();
  }

  // Take the rows that the filter has kept, sort them, and leave the first visible row where it is.
  arrange(kept) {
    this.kept = kept;
    const top = Math.floor(this.frame.scrollTop / ROW), anchor = this.order[top], offset = this.frame.scrollTop - top * ROW;
    this.order = sorted(kept, (this.columns.find((each) => each.key === this.key) ?? this.columns[0]).of(), this.down);
    this.table.setAttribute("aria-rowcount", this.order.length + 1);
    find("count").textContent = kept.length === this.run.n ? `${whole(kept.length)} rows` : `${whole(kept.length)} of ${whole(this.run.n)} rows`;
    this.drawn = null;
    if (top > 0 && anchor !== undefined) {
      const place = this.order.indexOf(anchor);
      this.window(false);
      if (place >= 0) this.frame.scrollTop = place * ROW + offset;
    }
    this.window();
  }

  // Fill the rows of the window.
  window() {
    if (!this.columns) return;
    const { frame, order } = this, inner = frame.clientHeight - this.head.offsetHeight;
    const first = Math.max(0, Math.min(Math.floor(frame.scrollTop / ROW) - MARGIN, order.length - 1)), end = Math.min(order.length, first + Math.ceil(inner / ROW) + 2 * MARGIN);
    const count = Math.max(0, end - first);
    while (this.pool.length < count) {
      const row = make("tr", { className: "data" }, ...this.columns.map(({ words }) => make("td", { className: words ? "words" : "" })));
      this.pool.push(row);
    }
    this.above.cells[0].style.height = `${first * ROW}px`;
    this.below.cells[0].style.height = `${(order.length - end) * ROW}px`;
    if (this.drawn === first && this.lastCount === count) return;
    this.drawn = first; this.lastCount = count;
    const values = this.columns.map((each) => each.of());
    for (let k = 0; k < this.pool.length; k++) {
      const row = this.pool[k];
      if (k >= count) { row.remove(); continue; }
      const i = order[first + k], lost = this.run.failed(i);
      row.dataset.row = i;
      row.className = `data${lost ? " failed" : ""}${this.run.columns.improved.data[i] ? " improved" : ""}${i === this.current ? " current" : ""}`;
      row.setAttribute("aria-rowindex", first + k + 2);
      this.columns.forEach((column, j) => {
        const text = column.row ? column.row(i) : (column.text ?? short)(values[j][i]), cell = row.cells[j];
        if (cell.textContent !== text) { cell.textContent = text; cell.title = column.words ? text : ""; }
      });
      if (!row.isConnected) this.body.insertBefore(row, this.below);
    }
  }

  press(event) {
    if (event.target !== this.frame || !this.order.length) return;
    const page = Math.max(1, Math.floor(this.frame.clientHeight / ROW) - 2), steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && this.current >= 0) { event.preventDefault(); this.show(this.current); return; }
    if (!(event.key in steps)) return;
    event.preventDefault();
    const at = this.order.indexOf(this.current), from = at < 0 ? Math.floor(this.frame.scrollTop / ROW) - Math.sign(steps[event.key]) : at;
    const place = Math.max(0, Math.min(this.order.length - 1, from + steps[event.key]));
    this.current = this.order[place];
    const top = place * ROW, inner = this.frame.clientHeight - this.head.offsetHeight;
    if (top < this.frame.scrollTop) this.frame.scrollTop = top;
    else if (top + ROW > this.frame.scrollTop + inner) this.frame.scrollTop = top + ROW - inner;
    this.drawn = null;
    this.window();
    if (!find("row").hidden) this.show(this.current);
  }

  // Show a row with all digits, and its traceback.
  show(i) {
    const { run } = this, holder = find("row"), number = run.column("number")[i];
    this.current = i; this.drawn = null;
    this.window();
    const close = make("button", { type: "button", textContent: "Close" });
    close.addEventListener("click", () => { holder.hidden = true; this.frame.focus({ preventScroll: true }); });
    const point = make("dl", { className: "point" });
    const add = (name, text) => point.append(make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: text })));
    add("f", run.failed(i) ? "failed" : exact(run.column("f")[i]));
    run.head.names.forEach((name, k) => add(name, exact(run.variable(k)[i])));
    if (run.head.constrained) add("violation", exact(run.column("violation")[i]));
    const seconds = run.column("seconds")[i];
    const about = [`generation ${run.column("generation")[i]}`, Number.isNaN(seconds) ? "" : span(seconds), run.worker(i) && `worker ${run.worker(i)}`].filter(Boolean).join(", ");
    holder.replaceChildren(close, make("h3", { textContent: `Evaluation ${whole(number)}` }), make("div", { className: "muted small", textContent: about }), point);
    if (run.failed(i)) holder.append(make("pre", { textContent: run.traceback(i) ?? run.error(i) }));
    holder.hidden = false;
  }

  // Return the rows as CSV, with all digits.
  csv() {
    const quote = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text), lines = [this.columns.map((each) => quote(each.label === "#" ? "number" : each.label)).join()];
    const values = this.columns.map((each) => each.of());
    for (const i of this.order) lines.push(this.columns.map((column, j) => (column.row ? quote(column.row(i)) : Number.isNaN(values[j][i]) ? "" : exact(values[j][i]))).join());
    return lines.join("\n") + "\n";
  }
}

// Rows sorted by values, in their order where these are equal; those without a value come last.
function sorted(rows, values, down) {
  const good = new Uint32Array(rows.length), bad = [];
  let count = 0, ordered = true, before = -Infinity;
  for (const i of rows) {
    const value = values[i];
    if (Number.isNaN(value)) { bad.push(i); continue; }
    good[count++] = i;
    if (value < before) ordered = false;
    before = value;
  }
  const found = good.subarray(0, count);
  if (!ordered) found.sort(down ? (a, b) => values[b] - values[a] || a - b : (a, b) => values[a] - values[b] || a - b);
  else if (down) found.reverse();
  good.set(bad, count);
  return good;
}
