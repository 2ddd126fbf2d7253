// Elements, colours, and a chart of lines and dots on a canvas with a cursor that tells values.

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
const find = (id) => document.getElementById(id);
const COLOURS = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5"];
const DASHES = [[], [7, 4], [2, 3], [8, 3, 2, 3], [12, 3], [4, 2]];
const FONT = '12px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';

let theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  theme = new Proxy({}, { get: (known, name) => (known[name] ??= style.getPropertyValue(name).trim()) });
}

// Size a canvas in CSS pixels, sharp on any screen and on paper, and return its context.
function sized(canvas, width, height) {
  const ratio = Math.max(window.devicePixelRatio || 1, document.documentElement.classList.contains("printed") ? 2 : 1);
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  return context;
}

function tip(text, x, y) {
  const element = find("tip");
  element.hidden = !text;
  if (!text) return;
  element.textContent = text;
  const { width, height } = element.getBoundingClientRect();
  element.style.left = `${Math.max(4, x + 16 + width > innerWidth ? x - width - 12 : x + 16)}px`;
  element.style.top = `${Math.max(4, Math.min(y + 12, innerHeight - height - 4))}px`;
}

// A chart shows what `content()` returns: {x: {label, log}, y: {label, log}, series: [{name, kind, colour, dash, x, y, text}]}
// with kind "line", "step", "dots" or "band" (then with `high` beside y).
class Chart {
  constructor(section, content, height = 240) {
    this.section = section; this.content = content; this.height = height;
    this.holder = section.querySelector(".chart");
    this.legend = make("ul", { className: "legend" });
    this.canvas = make("canvas");
    this.frame = make("div", { className: "frame", tabIndex: 0 }, this.canvas);
    this.frame.setAttribute("role", "img");
    this.said = make("p", { className: "small muted" });
    this.said.setAttribute("aria-live", "polite");
    this.said.hidden = true;
    this.holder.append(this.legend, this.frame, this.said);
    this.place = null;
    this.frame.addEventListener("pointermove", (event) => this.point(event));
    this.frame.addEventListener("pointerdown", (event) => this.point(event));
    this.frame.addEventListener("pointerleave", () => this.leave());
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("blur", () => { this.said.hidden = true; this.leave(); });
    new ResizeObserver(() => this.holder.clientWidth !== this.width && this.draw()).observe(this.holder);
  }

  draw() {
    if (!run.head) return;
    const content = this.content();
    this.section.hidden = !content;
    if (!content || !this.holder.clientWidth) return;
    this.width = this.holder.clientWidth;
    const series = content.series.filter((each) => each.x.length);
    this.shown = { ...content, series };
    const { width, height } = this, pen = sized(this.canvas, width, height);
    const range = (name, log, also) => {
      let low = Infinity, high = -Infinity;
      for (const each of series) {
        for (const values of [name === "y" && each.kind === "marks" ? [] : each[name], also && each[also]]) {
          if (!values) continue;
          const [a, b] = extent(values, log);
          low = Math.min(low, a); high = Math.max(high, b);
        }
      }
      return [low, high];
    };
    const X = (this.X = new Scale(...range("x", content.x.log), content.x.log));
    let [low, high] = content.y.range ?? range("y", content.y.log, "high");
    if (!content.y.log && !content.y.range && low < high) [low, high] = [low - 0.03 * (high - low), high + 0.03 * (high - low)];
    const Y = (this.Y = new Scale(low, high, content.y.log));
    const yticks = Y.ticks(Math.max(2, Math.floor(height / 42))), ylabel = content.y.text ?? ((value) => Y.label(value));
    const left = (this.left = 14 + Math.max(24, ...yticks.map((tick) => pen.measureText(ylabel(tick)).width)));
    const right = 14, top = 22, bottom = 40;
    this.box = { left, top, width: width - left - right, height: height - top - bottom };
    const px = (value) => left + X.at(value) * this.box.width, py = (value) => top + (1 - Y.at(value)) * this.box.height;
    this.px = px; this.py = py;
    pen.strokeStyle = theme["--grid"]; pen.fillStyle = theme["--muted"]; pen.lineWidth = 1;
    pen.textAlign = "right"; pen.textBaseline = "middle";
    for (const tick of yticks) {
      const y = Math.round(py(tick)) + 0.5;
      pen.beginPath(); pen.moveTo(left, y); pen.lineTo(width - right, y); pen.stroke();
      pen.fillText(ylabel(tick), left - 7, y);
    }
    pen.textAlign = "center"; pen.textBaseline = "top";
    for (const tick of X.ticks(Math.max(2, Math.floor(width / 110)))) {
      const text = X.log ? X.label(tick) : Number.isInteger(tick) ? whole(tick) : short(tick, 4), half = pen.measureText(text).width / 2;
      const x = px(tick);
      pen.fillText(text, Math.min(Math.max(x, left), width - half - 1), height - bottom + 7);
      pen.beginPath(); pen.moveTo(x, height - bottom); pen.lineTo(x, height - bottom + 4); pen.stroke();
    }
    pen.fillText(content.x.label, left + this.box.width / 2, height - 15);
    pen.textAlign = "left";
    pen.fillText(content.y.label, 2, 2);
    pen.strokeStyle = theme["--line"];
    pen.strokeRect(left + 0.5, top + 0.5, this.box.width, this.box.height);
    pen.save();
    pen.beginPath(); pen.rect(left, top - 9, this.box.width + 2, this.box.height + 10); pen.clip();
    for (const each of series) this.stroke(pen, each);
    pen.restore();
    const told = series.flatMap((each) => (each.groups ? each.groups.map((group) => ({ ...group, kind: each.kind })) : [each]));
    this.legend.hidden = told.length < 2;
    this.legend.replaceChildren(...(told.length < 2 ? [] : told.map(legendOf)));
    this.frame.setAttribute("aria-label", this.summary());
    if (this.place !== null) this.cursor();
  }

  stroke(pen, { kind, x, y, high, colour, dash, groups, group }) {
    const { px, py } = this, log = this.Y.log;
    pen.strokeStyle = pen.fillStyle = theme[colour];
    if (kind === "dots") {
      const { left, top, width, height } = this.box, wide = Math.ceil(width) + 3, taken = new Uint8Array(wide * (Math.ceil(height) + 3));
      const colours = groups && groups.map((each) => theme[each.colour]), size = x.length > 3000 ? 2 : x.length > 500 ? 2.5 : 4;
      pen.globalAlpha = x.length > 3000 ? 0.55 : 0.75;
      for (let i = 0; i < x.length; i++) {
        if (!Number.isFinite(y[i]) || (log && y[i] <= 0)) continue;
        const a = px(x[i]), b = py(y[i]), place = Math.round(b - top + 1) * wide + Math.round(a - left + 1);
        if (taken[place]) continue;  // a pixel once, however many evaluations there are
        taken[place] = 1;
        if (colours) pen.fillStyle = colours[group(i)];
        pen.fillRect(a - size / 2, b - size / 2, size, size);
      }
      pen.globalAlpha = 1;
      return;
    }
    if (kind === "marks") {  // events without a value, along the upper edge
      pen.lineWidth = 1;
      for (const each of x) { pen.beginPath(); pen.moveTo(px(each), this.box.top - 8); pen.lineTo(px(each), this.box.top); pen.stroke(); }
      return;
    }
    if (kind === "band") {
      pen.globalAlpha = 0.18;
      pen.beginPath();
      for (let i = 0; i < x.length; i++) pen.lineTo(px(x[i]), py(high[i]));
      for (let i = x.length - 1; i >= 0; i--) pen.lineTo(px(x[i]), py(log && y[i] <= 0 ? this.Y.low : y[i]));
      pen.fill();
      pen.globalAlpha = 1;
      return;
    }
    pen.lineWidth = 2; pen.lineJoin = "round"; pen.setLineDash(dash ?? []);
    pen.beginPath();
    let gap = true, before = 0;
    for (let i = 0; i < x.length; i++) {
      if (!Number.isFinite(y[i]) || (log && y[i] <= 0)) { gap = true; continue; }
      const a = px(x[i]), b = py(y[i]);
      if (gap) pen.moveTo(a, b);
      else if (kind === "step") pen.lineTo(a, before);
      pen.lineTo(a, b);
      gap = false; before = b;
    }
    if (kind === "step" && !gap) pen.lineTo(px(this.X.high), before);
    pen.stroke();
    pen.setLineDash([]);
    if (x.length === 1) { pen.beginPath(); pen.arc(px(x[0]), py(y[0]), 3, 0, 7); pen.fill(); }
  }

  summary() {
    const { x, y, series } = this.shown;
    const told = series.filter((each) => ["line", "step"].includes(each.kind)).map((each) => {
      const last = each.y.length - 1;
      return `${each.name} from ${short(each.y[0], 4)} to ${short(each.y[last], 4)}`;
    });
    return `${this.section.querySelector("h2").textContent}: ${y.label} by ${x.label}. ${told.join("; ")}. Arrow keys tell values.`;
  }

  point(event) {
    if (!this.box) return;
    const bounds = this.canvas.getBoundingClientRect();
    const place = (event.clientX - bounds.left - this.left) / this.box.width;
    if (place < -0.02 || place > 1.02) return this.leave();
    this.place = Math.min(1, Math.max(0, place));
    tip(this.cursor(), event.clientX, event.clientY);
  }

  key(event) {
    const step = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1, Home: -2, End: 2 }[event.key];
    if (!step || !this.box) return;
    event.preventDefault();
    this.place = Math.min(1, Math.max(0, (this.place ?? (step > 0 ? 0 : 1)) + step));
    this.said.hidden = false;
    this.said.textContent = this.cursor().replace(/\n/g, "; ");
  }

  leave() {
    tip("");
    if (this.place === null) return;
    this.place = null;
    this.draw();
  }

  // Draw the cursor and return its text.
  cursor() {
    const value = this.X.value(this.place), { x, series } = this.shown;
    const main = series.find((each) => each.main) ?? series[0];
    let at = value;
    if (main && main.kind !== "step") at = main.x[nearest(main.x, value)];
    else if (Number.isFinite(value)) at = Math.round(value);
    const lines = [`${x.unit ?? x.label} ${short(at)}`];
    if (!this.line) { this.line = make("div"); this.frame.append(this.line); }
    const { style } = this.line;
    style.position = "absolute"; style.pointerEvents = "none"; style.borderLeft = `1px solid ${theme["--muted"]}`;
    style.left = `${this.px(at)}px`; style.top = `${this.box.top}px`; style.height = `${this.box.height}px`;
    this.line.hidden = false;
    for (const each of series) {
      if (each.kind === "band" || each.kind === "marks") continue;
      const i = each.kind === "step" ? last(each.x, at) : nearest(each.x, at);
      if (i >= 0 && i < each.x.length) lines.push(each.text ? each.text(i) : `${each.name}: ${short((each.told ?? each.y)[i])}`);
    }
    return lines.join("\n");
  }
}
const plainDraw = Chart.prototype.draw;
Chart.prototype.draw = function () { if (this.line) this.line.hidden = this.place === null; plainDraw.call(this); };

function legendOf({ name, kind, colour, dash }) {
  const space = "http://www.w3.org/2000/svg", picture = document.createElementNS(space, "svg");
  picture.setAttribute("width", 26); picture.setAttribute("height", 10); picture.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, kind === "dots" ? "circle" : kind === "band" ? "rect" : "line");
  const given = kind === "dots" ? { cx: 13, cy: 5, r: 2.5 } : kind === "band" ? { width: 26, height: 10, opacity: 0.25 } : { x1: kind === "marks" ? 13 : 0, x2: kind === "marks" ? 13 : 26, y1: kind === "marks" ? 0 : 5, y2: kind === "marks" ? 10 : 5, "stroke-width": 2, "stroke-dasharray": (dash ?? []).join(" ") };
  for (const [key, value] of Object.entries(given)) shape.setAttribute(key, value);
  shape.setAttribute("stroke", theme[colour]); shape.setAttribute("fill", theme[colour]);
  if (kind === "band") shape.setAttribute("stroke", "none");
  picture.append(shape);
  return make("li", {}, picture, name);
}

// Places in sorted numbers: of the last one that is at most `value`, and of the nearest.
function last(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) { const middle = (low + high) >> 1; if (sorted[middle] <= value) low = middle + 1; else high = middle; }
  return low - 1;
}
function nearest(sorted, value) {
  const i = last(sorted, value);
  return i < 0 ? 0 : i + 1 < sorted.length && sorted[i + 1] - value < value - sorted[i] ? i + 1 : i;
}
