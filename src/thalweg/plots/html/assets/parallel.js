// Parallel coordinates: an axis for each variable and one for the value; colours by rank; ranges to keep along axes.

const RAMP = [[0, 32, 77], [62, 78, 108], [124, 123, 120], [187, 173, 108], [255, 234, 70]];  // cividis, for all eyes
const LINES_SHOWN = 3000, BEST_SHOWN = 500;

// The colour of a rank from 0, the best, to 1: what stands out most from the background is best.
function rankColour(rank, alpha) {
  const place = (theme["--best"] === "dark" ? 1 - 0.78 * rank : rank * 0.86) * (RAMP.length - 1), i = Math.min(RAMP.length - 2, Math.floor(place));
  const [r, g, b] = RAMP[i].map((from, k) => Math.round(from + (place - i) * (RAMP[i + 1][k] - from)));
  return `rgba(${r},${g},${b},${alpha})`;
}

class Parallel {
  constructor(run, values, ranges, changed) {
    Object.assign(this, { run, values, ranges, changed });
    this.holder = find("parallel").querySelector(".scroll");
    this.canvas = this.holder.appendChild(make("canvas"));
    this.drag = null;
    this.canvas.addEventListener("pointerdown", (event) => this.begin(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.end(event));
    this.canvas.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
    this.canvas.addEventListener("pointerleave", () => tip(""));
    new ResizeObserver(() => this.holder.clientWidth !== this.width && this.draw()).observe(this.holder);
  }

  // Take the rows that may be shown, and which of them the filter has kept.
  update(kept) {
    const { run } = this, f = run.column("f");
    const sorted = Float64Array.from(f.filter((value) => !Number.isNaN(value))).sort();
    this.sorted = sorted;
    this.scales = run.head.names.map((_, i) => {
      const values = run.variable(i), [low, high] = extent(values);
      return new Scale(low, high, run.head.logarithmic[i] && low > 0);
    });
    const [low, high] = extent(this.values.of(sorted), this.values.log);
    this.scales.push(new Scale(low, high, this.values.log));
    this.select(kept);
  }

  // Choose the lines to draw: the best ones, and of the others as many as can be told apart.
  select(kept) {
    const { run } = this, error = run.column("error"), f = run.column("f"), good = [], failed = [];
    for (const i of kept) (error[i] > 0 || Number.isNaN(f[i]) ? failed : good).push(i);
    good.sort((a, b) => f[b] - f[a]);
    const most = LINES_SHOWN - BEST_SHOWN;
    let lines = good;
    if (good.length > LINES_SHOWN) {
      const rest = good.length - BEST_SHOWN;
      lines = Array.from({ length: most }, (_, k) => good[Math.floor((k * rest) / most)]).concat(good.slice(rest));
    }
    const few = failed.length > 300 ? Array.from({ length: 300 }, (_, k) => failed[Math.floor((k * failed.length) / 300)]) : failed;
    this.failures = failed.length > 0;
    this.lines = few.concat(lines);
    find("parallel-note").textContent = this.lines.length < kept.length ? `${whole(this.lines.length)} of ${whole(kept.length)} lines: the best ${BEST_SHOWN}, and others evenly by rank` : `${whole(kept.length)} lines`;
    this.draw();
  }

  draw() {
    this.width = this.holder.clientWidth;
    if (!this.width || !this.scales) return;
    const { run, scales } = this, count = scales.length, width = Math.max(this.width, 90 + count * 74), height = 300;
    const pen = sized(this.canvas, width, height), left = 46, right = 64, top = 40, bottom = height - 18;
    const room = this.failures ? 26 : 0;  // failures have no value: they end above the axis of values
    const columns = scales.map((_, k) => left + (count > 1 ? (k * (width - left - right)) / (count - 1) : 0));
    const y = (k, value) => bottom - scales[k].at(value) * (bottom - top - (k === count - 1 ? room : 0));
    Object.assign(this, { columns, top, bottom, room, y });
    const values = run.head.names.map((_, i) => run.variable(i)), f = run.column("f"), total = Math.max(1, this.sorted.length - 1);
    const many = this.lines.length, alpha = many > 1500 ? 0.35 : many > 300 ? 0.5 : 0.75;
    pen.lineWidth = 1;
    for (const i of this.lines) {
      const lost = run.failed(i), rank = lost ? 1 : Math.max(0, last(this.sorted, f[i] - Number.EPSILON * Math.abs(f[i])) ) / total;
      pen.strokeStyle = lost ? theme["--warn"] : rankColour(rank, rank < 0.02 ? 0.95 : alpha);
      pen.globalAlpha = lost ? 0.6 : 1;
      pen.setLineDash(lost ? [4, 3] : []);
      pen.beginPath();
      for (let k = 0; k < count - 1; k++) pen.lineTo(columns[k], y(k, values[k][i]));
      const end = lost ? top + 4 : y(count - 1, this.values.one(f[i]));
      pen.lineTo(columns[count - 1], Math.min(bottom, Math.max(top, end)));
      pen.stroke();
    }
    pen.globalAlpha = 1; pen.setLineDash([]);
    scales.forEach((scale, k) => this.axis(pen, scale, k, count));
  }

  axis(pen, scale, k, count) {
    const { columns, top, bottom, run } = this, x = Math.round(columns[k]) + 0.5, final = k === count - 1;
    const name = final ? this.values.label : run.head.names[k], range = this.ranges.get(final ? "f" : k);
    pen.strokeStyle = theme["--text"]; pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(x, top); pen.lineTo(x, bottom); pen.stroke();
    pen.textAlign = "center"; pen.textBaseline = "alphabetic"; pen.fillStyle = theme["--text"]; pen.font = `600 ${FONT}`;
    pen.fillText(fitted(pen, name, (columns[1] - columns[0]) * 0.95 || 200), Math.max(x, pen.measureText(name).width / 2 > x ? x + 8 : x), 14);
    pen.font = FONT; pen.textAlign = final ? "left" : "left"; pen.textBaseline = "middle";
    const ticks = scale.ticks(final || k === 0 ? 5 : 4);
    const told = run.head.integers[k] && !final ? ticks.filter(Number.isInteger) : ticks;
    for (const tick of told) {
      const y = this.y(k, tick), text = scale.label(tick), wide = pen.measureText(text).width;
      pen.fillStyle = theme["--card"]; pen.globalAlpha = 0.8; pen.fillRect(x + 4, y - 7, wide + 4, 14); pen.globalAlpha = 1;
      pen.fillStyle = theme["--muted"]; pen.fillText(text, x + 6, y);
      pen.beginPath(); pen.moveTo(x - 3, y); pen.lineTo(x + 3, y); pen.stroke();
    }
    if (final && this.room) { pen.fillStyle = theme["--warn"]; pen.fillText("failed", x + 6, top + 4); }
    const shown = this.drag && this.drag.k === k ? [this.drag.from, this.drag.to] : range && [this.y(k, this.shownValue(k, range[0])), this.y(k, this.shownValue(k, range[1]))];
    if (shown) {
      const [a, b] = [Math.min(...shown), Math.max(...shown)];
      pen.fillStyle = theme["--accent"]; pen.globalAlpha = 0.28; pen.fillRect(x - 8, a, 16, b - a); pen.globalAlpha = 1;
      pen.strokeStyle = theme["--accent"]; pen.strokeRect(x - 8, a, 16, b - a);
    }
  }

  shownValue(k, value) { return k === this.scales.length - 1 ? this.values.one(value) : value; }
  at(event) {
    const bounds = this.canvas.getBoundingClientRect(), x = event.clientX - bounds.left, y = event.clientY - bounds.top;
    const k = this.columns.reduce((best, column, i) => (Math.abs(column - x) < Math.abs(this.columns[best] - x) ? i : best), 0);
    return { k, near: Math.abs(this.columns[k] - x) < 24, y: Math.min(this.bottom, Math.max(this.top, y)) };
  }
  value(k, y) {
    const final = k === this.scales.length - 1, place = (this.bottom - y) / (this.bottom - this.top - (final ? this.room : 0));
    const { low, high } = this.scales[k], value = place <= 0 ? low : place >= 1 ? high : this.scales[k].value(place);
    return final ? this.values.back(value) : value;
  }
  begin(event) {
    const { k, near, y } = this.at(event);
    if (!near || event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { k, from: y, to: y };
  }
  move(event) {
    const { k, near, y } = this.at(event);
    if (this.drag) { this.drag.to = y; this.draw(); }
    const shown = this.drag ? this.drag.k : k, final = shown === this.scales.length - 1;
    tip(near || this.drag ? `${final ? "f" : this.run.head.names[shown]}: ${short(this.value(shown, y), 4)}` : "", event.clientX, event.clientY);
  }
  end() {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    const key = drag.k === this.scales.length - 1 ? "f" : drag.k;
    if (Math.abs(drag.to - drag.from) < 4) this.ranges.delete(key);
    else this.ranges.set(key, [this.value(drag.k, Math.max(drag.from, drag.to)), this.value(drag.k, Math.min(drag.from, drag.to))]);
    this.changed();
  }
}

function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  while (text.length > 1 && pen.measureText(text + "…").width > width) text = text.slice(0, -1);
  return text + "…";
}

function drawRamp() {
  const canvas = find("parallel-legend").querySelector("canvas"), pen = sized(canvas, 120, 10);
  for (let x = 0; x < 120; x++) { pen.fillStyle = rankColour(x / 119, 1); pen.fillRect(x, 0, 1, 10); }
}
