// Numbers of a run: typed arrays that grow, their text, and scales of axes.

const TYPES = { f8: Float64Array, f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

function decoded({ type, data }) {
  let bytes;
  if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(data);
  else {
    const text = atob(data);
    bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  }
  return new TYPES[type](bytes.buffer);
}

class Column {
  constructor() { this.data = new Float64Array(256); this.length = 0; }
  append(packed) {
    const more = decoded(packed), length = this.length + more.length;
    if (length > this.data.length) {
      const data = new Float64Array(Math.max(length, 2 * this.length));
      data.set(this.data.subarray(0, this.length));
      this.data = data;
    }
    this.data.set(more, this.length);
    this.length = length;
  }
  get values() { return this.data.subarray(0, this.length); }
}

// All that the page knows of the run; `take` adds news of it.
class Run {
  constructor() { this.head = null; this.generations = null; this.clear(); }
  clear() {
    this.series = ""; this.end = 0; this.count = 0; this.n = 0; this.version = 0;
    this.columns = {}; this.x = []; this.workers = []; this.errors = []; this.tracebacks = new Map(); this.firsts = new Map();
  }
  take(news) {
    const anew = news.series !== this.series;
    if (anew) { this.clear(); this.series = news.series; }
    const { rows, generations, curve } = news;
    if (rows.n) {
      for (const [name, packed] of Object.entries(rows)) {
        if (name === "n" || name === "x") continue;
        (this.columns[name] ??= new Column()).append(packed);
      }
      rows.x.forEach((packed, i) => (this.x[i] ??= new Column()).append(packed));
      this.n += rows.n;
      this.version++;
    }
    this.end = news.end;
    this.workers.push(...news.workers);
    for (const text of news.errors) this.errors.push(text);
    for (const { number, error, text } of news.tracebacks) {
      this.tracebacks.set(number, text);
      if (!this.firsts.has(error)) this.firsts.set(error, text);
    }
    if (generations) this.generations = generations && unpacked(generations);
    this.count = news.count;
    this.curve = unpacked(curve);
    this.head = news;
    this.best = news.best && { ...news.best, f: Number(news.best.f ?? NaN), x: decoded(news.best.x) };
    return anew;
  }
  column(name) { return this.columns[name] ? this.columns[name].values : new Float64Array(0); }
  variable(i) { return this.x[i] ? this.x[i].values : new Float64Array(0); }
  failed(i) { return this.columns.error.data[i] > 0 || Number.isNaN(this.columns.f.data[i]); }
  error(i) { const code = this.columns.error.data[i]; return code ? this.errors[code - 1] : this.failed(i) ? "no value" : ""; }
  worker(i) { const code = this.columns.worker.data[i]; return code ? this.workers[code - 1] : ""; }
  traceback(i) { return this.tracebacks.get(this.columns.number.data[i]) ?? this.firsts.get(this.columns.error.data[i]); }
}

function unpacked(value) {
  if (Array.isArray(value)) return value.map(unpacked);
  if (value && typeof value === "object") {
    if (value.type) return decoded(value);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpacked(each)]));
  }
  return value;
}

// Text of a number: six digits, or all of them.
function short(value, digits = 6) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value).replace("-", "−");
  const size = Math.abs(value);
  let text = size >= 1e-3 && size < 10 ** digits ? value.toPrecision(digits) : value.toExponential(digits - 1);
  if (text.includes(".")) text = text.replace(/(\.\d*?)0+(e|$)/, "$1$2").replace(/\.(e|$)/, "$1");
  return text.replace("e+", "e").replace(/-/g, "−");
}
const whole = (value) => value.toLocaleString("en-GB");
const exact = (value) => (Number.isNaN(value) ? "–" : Object.is(value, -0) ? "-0" : String(value));

function span(seconds) {
  if (Number.isNaN(seconds)) return "–";
  if (seconds < 1e-3) return `${short(seconds * 1e6, 3)} µs`;
  if (seconds < 1) return `${short(seconds * 1e3, 3)} ms`;
  if (seconds < 120) return `${short(seconds, 3)} s`;
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  if (hours < 48) return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function extent(values, positive) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value < low && value > -Infinity && (!positive || value > 0)) low = value;
    if (value > high && value < Infinity && (!positive || value > 0)) high = value;
  }
  return [low, high];
}

function median(values) {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort();
  return sorted.length ? sorted[sorted.length >> 1] : NaN;
}

// A map from a range to [0, 1], linear or logarithmic, with ticks. Ranges without a length are widened.
class Scale {
  constructor(low, high, log) {
    if (!(low <= high)) [low, high] = log ? [1, 10] : [0, 1];
    this.log = log;
    if (low === high) [low, high] = log ? [low / 3, high * 3] : [low - (Math.abs(low) * 0.1 || 1), high + (Math.abs(low) * 0.1 || 1)];
    this.low = low; this.high = high;
    this.from = log ? Math.log10(low) : low;
    this.size = (log ? Math.log10(high) : high) - this.from;
    if (!Number.isFinite(this.size)) { this.from = low / 2; this.size = high / 2 - low / 2; this.half = true; }
  }
  at(value) { return ((this.log ? Math.log10(value) : this.half ? value / 2 : value) - this.from) / this.size; }
  value(place) { const found = this.from + place * this.size; return this.log ? 10 ** found : this.half ? 2 * found : found; }
  ticks(most) {
    if (this.log && this.size > 1.2) {
      const step = Math.max(1, Math.ceil(this.size / most)), found = [];
      for (let power = Math.ceil(this.from / step - 1e-9) * step; power <= this.from + this.size + 1e-9; power += step) found.push(10 ** power);
      return found;
    }
    const wanted = (this.high - this.low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= wanted * 0.999), found = [];
    if (!(step > 0) || !Number.isFinite(step)) return [this.low, this.high];
    for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + step * 1e-9 && found.length < 50; k++) found.push(k * step + 0);
    return found;
  }
  label(value) { return this.log && this.size > 1.2 ? power10(value) : short(value, 4); }
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
function power10(value) {
  const power = Math.round(Math.log10(value));
  if (power >= -2 && power <= 3) return short(10 ** power);
  return "10" + String(power).replace("-", "⁻").replace(/\d/g, (digit) => RAISED[digit]);
}
