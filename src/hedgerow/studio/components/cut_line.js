// The numbers of a column as a histogram, with the points that no interval may cross: each can be dragged, or moved
// with the arrow keys. Numbers leave as text, rounded to the step, so that nothing is lost on the way.

const TOP = 26;
const BASE = 190;
const SIDE = 14;

const STYLE = `
.hr-cuts { --c-text: var(--ink, #1c2922); --c-muted: var(--muted, #59665f); --c-line: var(--line, #d8dfda); --c-bar: var(--hedge-bar, #9db8a8);
  --c-cut: var(--accent, #2c7a4b); --c-on-cut: var(--accent-ink, #fff); --c-soft: var(--accent-soft, #e6f3ea); --c-focus: var(--chart-3, #1a64b8); --c-card: var(--card, #fff);
  width: 100%; color: var(--c-text); display: flex; flex-direction: column; gap: 10px; font-size: 14px; }
.body--dark .hr-cuts { --c-bar: var(--hedge-bar, #5c7567); --c-card: var(--card, #18201c); --c-text: var(--ink, #e3ebe6); --c-muted: var(--muted, #9fb0a7); --c-line: var(--line, #36433c); --c-cut: var(--accent, #6fcb92); --c-on-cut: var(--accent-ink, #0e1a13); }
.hr-cuts svg { width: 100%; height: auto; display: block; touch-action: pan-y; user-select: none; -webkit-user-select: none; overflow: visible; }
.hr-cuts .bin { fill: var(--c-bar); } .hr-cuts .axis { stroke: var(--c-line); } .hr-cuts text { fill: var(--c-muted); font-size: 12px; }
.hr-cuts .odd-segment { fill: var(--c-soft); opacity: .6; } .hr-cuts .width-bar { stroke: var(--c-cut); stroke-width: 3; }
.hr-cuts .cut { cursor: ew-resize; outline: none; touch-action: none; } .hr-cuts .cut line { stroke: var(--c-cut); stroke-width: 2.5; } .hr-cuts .cut .grab { fill: transparent; stroke: none; }
.hr-cuts .cut rect.flag { fill: var(--c-cut); } .hr-cuts .cut text { fill: var(--c-on-cut); font-weight: 600; text-anchor: middle; }
.hr-cuts .cut:focus-visible rect.flag { stroke: var(--c-focus); stroke-width: 3; }
.hr-cuts .row { display: flex; flex-wrap: wrap; gap: 10px 14px; align-items: end; }
.hr-cuts label { display: flex; flex-direction: column; gap: 3px; font-size: 13px; color: var(--c-muted); }
.hr-cuts input { font: inherit; color: var(--c-text); height: 36px; padding: 0 10px; border: 1px solid var(--c-muted); border-radius: 8px; background: transparent; min-width: 0; }
.hr-cuts input.points { width: min(28rem, 78vw); } .hr-cuts input.width { width: 9rem; }
.hr-cuts button { font: inherit; color: inherit; min-height: 36px; padding: 0 12px; border: 1px solid var(--c-line); border-radius: 8px; background: transparent; cursor: pointer; }
.hr-cuts button:hover { background: var(--c-soft); } .hr-cuts button:disabled { opacity: .45; cursor: default; }
.hr-cuts :is(input, button):focus-visible { outline: 2px solid var(--c-focus); outline-offset: 1px; }
.hr-cuts .hint { color: var(--c-muted); font-size: 13px; } .hr-cuts .wrong { color: var(--bad, #a3231f); font-size: 13px; }
`;

function addStyle() {
  if (document.getElementById("hr-cuts-style")) return;
  const style = document.createElement("style");
  style.id = "hr-cuts-style";
  style.textContent = STYLE;
  document.head.append(style);
}

export default {
  props: { bins: Array, cuts: Array, width: String, step: Number, decimals: Number, label: String },
  emits: ["cuts", "width"],
  template: `
    <div class="hr-cuts">
      <svg :viewBox="'0 0 ' + wide + ' 220'" ref="drawing" role="group" :aria-label="label + ': records by number, with cuts'" data-testid="cut-line" @dblclick="addAt">
        <rect v-for="segment in segments" :key="'s' + segment.x" class="odd-segment" :x="segment.x" :width="segment.wide" y="${TOP}" :height="${BASE - TOP}"/>
        <rect v-for="(bin, i) in drawn" :key="i" class="bin" :x="bin.x" :y="bin.y" :width="bin.wide" :height="bin.tall"><title>{{ bin.text }}</title></rect>
        <line class="axis" x1="0" :x2="wide" y1="${BASE}" y2="${BASE}"/>
        <text x="${SIDE}" y="${BASE + 18}">{{ shown(least) }}</text>
        <text :x="wide - ${SIDE}" y="${BASE + 18}" text-anchor="end">{{ shown(greatest) }}</text>
        <g v-if="widest > 0"><line class="width-bar" :x1="wide / 2 - widest / 2" :x2="wide / 2 + widest / 2" y1="${BASE + 10}" y2="${BASE + 10}"/>
          <text :x="wide / 2" y="${BASE + 26}" text-anchor="middle">widest interval</text></g>
        <g v-for="(cut, i) in points" :key="'c' + i" class="cut" role="slider" tabindex="0" :transform="'translate(' + at(cut) + ' 0)'"
          :aria-label="'Cut ' + (i + 1)" :aria-valuenow="cut" :aria-valuetext="shown(cut)" :aria-valuemin="least" :aria-valuemax="greatest"
          :data-testid="'cut-' + i" @pointerdown="grab($event, i)" @pointermove="drag($event, i)" @pointerup="drop" @pointercancel="drop"
          @keydown="onKey($event, i)" @dblclick.stop="remove(i)">
          <rect class="grab" x="-14" width="28" y="0" height="${BASE}"/>
          <line y1="${TOP - 6}" y2="${BASE}" x1="0" x2="0"/>
          <rect class="flag" rx="5" y="0" height="22" :x="-flag(cut) / 2" :width="flag(cut)"/><text y="15">{{ shown(cut) }}</text>
        </g>
      </svg>
      <div class="row">
        <label>Points that no interval may cross
          <input class="points" data-testid="cuts-text" :value="text" @change="typed($event.target.value)" placeholder="none" inputmode="decimal" autocomplete="off"/></label>
        <button type="button" data-testid="add-cut" @click="addWidest">Add a cut</button>
        <button type="button" data-testid="clear-cuts" :disabled="!points.length" @click="set([])">Remove all cuts</button>
        <label>Greatest width
          <input class="width" data-testid="cut-width" :value="width" @change="widthTyped($event.target.value)" placeholder="any" inputmode="decimal" autocomplete="off"/></label>
      </div>
      <span v-if="wrong" class="wrong" role="alert">{{ wrong }}</span>
      <span class="hint">Drag a cut, or move it with the arrow keys (with Shift ten steps); Delete removes it, a double click on the picture adds one.</span>
    </div>
  `,
  data() {
    return { points: [], held: -1, wrong: "", wide: 720 }; // as wide as the place it gets, so that text keeps its size
  },
  created() {
    addStyle();
    this.points = this.numbers(this.cuts);
  },
  mounted() {
    this.watcher = new ResizeObserver(() => (this.wide = Math.max(240, this.$el.clientWidth)));
    this.watcher.observe(this.$el);
  },
  beforeUnmount() {
    this.watcher.disconnect();
    clearTimeout(this.soon);
  },
  watch: {
    cuts(cuts) {
      if (this.held < 0) this.points = this.numbers(cuts);
    },
  },
  computed: {
    least() {
      return this.bins.length ? this.bins[0][0] : 0;
    },
    greatest() {
      return this.bins.length ? this.bins[this.bins.length - 1][1] : 1;
    },
    text() {
      return this.points.map((cut) => cut.toFixed(this.decimals)).join(", ");
    },
    widest() {
      const width = Number(this.width || 0);
      return width > 0 ? Math.min(1, width / (this.greatest - this.least || 1)) * (this.wide - 2 * SIDE) : 0;
    },
    drawn() {
      const most = Math.max(1, ...this.bins.map((bin) => bin[2]));
      return this.bins.map(([low, high, count]) => {
        const tall = (count / most) * (BASE - TOP - 12);
        const [x, end] = [this.at(low), this.at(high)];
        const text = `${this.shown(low)} to ${this.shown(high)}: ${count.toLocaleString("en")} records`;
        return { x: x + 0.5, wide: Math.max(1, end - x - 1), y: BASE - tall, tall, text };
      });
    },
    segments() {
      const ends = [this.least, ...this.points, this.greatest];
      const found = [];
      for (let i = 1; i + 1 < ends.length; i += 2) found.push({ x: this.at(ends[i]), wide: Math.max(0, this.at(ends[i + 1]) - this.at(ends[i])) });
      return found;
    },
  },
  methods: {
    numbers(cuts) {
      return cuts.map(Number).sort((a, b) => a - b);
    },
    at(number) {
      const share = (number - this.least) / (this.greatest - this.least || 1);
      return SIDE + Math.min(1, Math.max(0, share)) * (this.wide - 2 * SIDE);
    },
    shown(number) {
      return Number(number.toFixed(this.decimals)).toLocaleString("en", { maximumFractionDigits: 6 });
    },
    flag(cut) {
      return 14 + 7.4 * this.shown(cut).length;
    },
    onGrid(number) {
      return Number((Math.round(number / this.step) * this.step).toFixed(this.decimals));
    },
    numberAt(event) {
      const box = this.$refs.drawing.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.wide;
      const share = Math.min(1, Math.max(0, (x - SIDE) / (this.wide - 2 * SIDE)));
      return this.onGrid(this.least + share * (this.greatest - this.least));
    },
    set(points, wait = 0) {
      const before = this.text;
      this.points = points;
      clearTimeout(this.soon);
      this.soon = setTimeout(() => {
        const tidy = [...new Set(points)].sort((a, b) => a - b);
        this.points = tidy;
        this.wrong = "";
        this.$emit("cuts", { cuts: tidy.map((cut) => cut.toFixed(this.decimals)) });
      }, wait);
      return before;
    },
    grab(event, i) {
      this.held = i;
      event.currentTarget.setPointerCapture(event.pointerId);
      event.currentTarget.focus();
    },
    drag(event, i) {
      if (this.held === i) this.points = this.points.map((cut, j) => (j === i ? this.numberAt(event) : cut));
    },
    drop() {
      if (this.held < 0) return;
      this.held = -1;
      if (this.text !== this.numbers(this.cuts).map((cut) => cut.toFixed(this.decimals)).join(", ")) this.set(this.points);
    },
    remove(i) {
      this.set(this.points.filter((_, j) => j !== i));
    },
    addAt(event) {
      this.set([...this.points, this.numberAt(event)]);
    },
    addWidest() {
      const ends = [this.least, ...this.points, this.greatest];
      let best = 0;
      for (let i = 0; i + 1 < ends.length; i++) if (ends[i + 1] - ends[i] > ends[best + 1] - ends[best]) best = i;
      this.set([...this.points, this.onGrid((ends[best] + ends[best + 1]) / 2)]);
    },
    typed(text) {
      if (/\d,\d/.test(text) && text.includes(";")) {
        this.wrong = "Write decimals with a point: 18.5; 25.";
        return;
      }
      const parts = text.split(/[\s;,]+/).filter(Boolean);
      if (parts.some((part) => !Number.isFinite(Number(part)))) {
        this.wrong = "Write numbers with commas between them, such as 18, 65.";
        return;
      }
      this.set(parts.map(Number));
    },
    widthTyped(text) {
      const width = text.trim();
      if (width && !(Number(width) >= 0)) {
        this.wrong = "The width must be a number of 0 or more.";
        return;
      }
      this.wrong = "";
      this.$emit("width", { width });
    },
    onKey(event, i) {
      const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      const ends = { Home: this.least, End: this.greatest }[event.key];
      if (steps) {
        const to = this.onGrid(this.points[i] + steps * (event.shiftKey ? 10 : 1) * this.step);
        this.set(this.points.map((cut, j) => (j === i ? Math.min(this.greatest, Math.max(this.least, to)) : cut)), 350);
      } else if (ends !== undefined) this.set(this.points.map((cut, j) => (j === i ? this.onGrid(ends) : cut)), 350);
      else if (event.key === "Delete" || event.key === "Backspace") this.remove(i);
      else return;
      event.preventDefault();
    },
  },
};
