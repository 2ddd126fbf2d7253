// The filter: ranges of axes, a kind of rows, and conditions such as "f < 10, rate >= 1e-3, timeout".

class Filter {
  constructor(run) { this.run = run; this.ranges = new Map(); this.kind = "all"; this.conditions = []; }

  // Read conditions; return a sentence about the first that cannot be read, or "".
  read(text) {
    const { run } = this, known = this.columns(), found = [];
    for (const part of text.split(/,|&&|\s+and\s+/i).map((each) => each.trim()).filter(Boolean)) {
      const parts = /^(.*?)\s*(<=|>=|!=|==|=|<|>)\s*(.*)$/.exec(part);
      if (!parts) { found.push({ word: part.toLowerCase() }); continue; }
      const [, name, sign, right] = parts, column = known.get(name.toLowerCase()), value = Number(right.replace("−", "-"));
      if (!column) return `there is no column ${name ? `“${name}”` : "before " + sign}: use ${[...known.keys()].slice(0, 6).join(", ")}, ...`;
      if (!right || Number.isNaN(value)) return right ? `“${right}” is no number` : "a number is missing";
      found.push({ column, sign, value });
    }
    this.conditions = found;
    return "";
  }

  // Columns by the names that conditions have for them; each returns its values.
  columns() {
    const { run } = this, found = new Map();
    for (const name of ["f", "number", "generation", "run", "seconds", "attempts", "violation"]) found.set(name, () => run.column(name));
    run.head.names.forEach((name, i) => found.set(name.toLowerCase(), () => run.variable(i)));
    return found;
  }

  // Return the rows that are kept, in their order.
  rows() {
    const { run } = this, { n } = run, tests = [];
    if (!n) return new Uint32Array(0);
    const f = run.column("f"), error = run.column("error"), improved = run.column("improved");
    if (this.kind === "failed") tests.push((i) => error[i] > 0 || Number.isNaN(f[i]));
    if (this.kind === "improved") tests.push((i) => improved[i] > 0);
    for (const [key, [low, high]] of this.ranges) {
      const values = key === "f" ? f : run.variable(key);
      tests.push((i) => values[i] >= low && values[i] <= high);
    }
    for (const { word, column, sign, value } of this.conditions) tests.push(word === undefined ? comparison(column(), sign, value) : this.words(word));
    const kept = new Uint32Array(n);
    let count = 0;
    outer: for (let i = 0; i < n; i++) {
      for (const test of tests) if (!test(i)) continue outer;
      kept[count++] = i;
    }
    return kept.subarray(0, count);
  }

  words(word) {
    const { run } = this, codes = (texts) => new Set(texts.flatMap((text, i) => (text.toLowerCase().includes(word) ? [i + 1] : [])));
    const errors = codes(run.errors), workers = codes(run.workers), error = run.column("error"), worker = run.column("worker");
    return (i) => errors.has(error[i]) || workers.has(worker[i]);
  }
}

function comparison(values, sign, value) {
  if (sign === "<") return (i) => values[i] < value;
  if (sign === "<=") return (i) => values[i] <= value;
  if (sign === ">") return (i) => values[i] > value;
  if (sign === ">=") return (i) => values[i] >= value;
  if (sign === "!=") return (i) => values[i] !== value;
  return (i) => values[i] === value;
}
