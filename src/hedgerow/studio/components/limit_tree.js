// A tree of values with the line of limits drawn across it. Only the rows in view are in the page: nodes are kept in
// typed arrays in depth-first order, so that the rows of an open tree are one pass over them.
//
// Above the limits (what values may not become) rows are hatched and muted; a limit starts a line down the left of all
// that is below it. Keyboard: the ARIA tree pattern, see HELP.

const ROW = 36;
const NARROW_ROW = 56;
const NARROW = 560; // pixels of the component, not of the window
const SPARE = 8; // rows kept ready above and below the view
const DEEPEST_INDENT = 12;
const HELP =
  "Arrow keys move and open, Enter sets or lifts a limit, Control and Space selects a row, " +
  "F2 renames and Delete dissolves a group, Control and X takes rows up and Control and V puts them under a node.";
const HEDGE = [4, 10, 16].map((x) => `M${x - 2.6} 6.2a2.6 2.8 0 1 1 5.2 0 2.6 2.8 0 1 1-5.2 0zM${x} 9v4`).join("") + "M1 13.6h18"; // a row of bushes

const STYLE = `
.hr-tree {
  --t-text: var(--ink, #1c2922); --t-muted: var(--muted, #59665f); --t-line: var(--line, #d8dfda);
  --t-surface: var(--card, #ffffff); --t-hover: var(--paper, #f1f5f2);
  --t-limit: var(--accent, #2c7a4b); --t-tint: var(--accent-soft, #e6f3ea);
  --t-warning: var(--chart-warning, #a4470a); --t-bar: var(--hedge-bar, #9db8a8); --t-track: var(--hedge-track, #e7ece9);
  --t-hatch: var(--hedge-hatch, rgba(60, 75, 67, .07)); --t-select: var(--hedge-select, #dbe9f6);
  --t-focus: var(--chart-3, #1a64b8); --t-on-limit: var(--accent-ink, #ffffff);
  display: flex; flex-direction: column; min-width: 0; width: 100%; color: var(--t-text); background: var(--t-surface);
  border: 1px solid var(--t-line); border-radius: 10px; overflow: clip; font-size: 14px; line-height: 1.3;
}
.body--dark .hr-tree {
  --t-text: var(--ink, #e3ebe6); --t-muted: var(--muted, #9fb0a7); --t-line: var(--line, #36433c);
  --t-surface: var(--card, #18201c); --t-hover: var(--paper, #222c27);
  --t-limit: var(--accent, #6fcb92); --t-tint: var(--accent-soft, #1d3a29);
  --t-warning: var(--chart-warning, #ffb072); --t-bar: var(--hedge-bar, #5c7567); --t-track: var(--hedge-track, #2a342f);
  --t-hatch: var(--hedge-hatch, rgba(200, 220, 208, .06)); --t-select: var(--hedge-select, #1f3b57);
  --t-focus: var(--chart-3, #7db8f5); --t-on-limit: var(--accent-ink, #0e1a13);
}
:where(.hr-tree) :is(button, input) { font: inherit; color: inherit; }
.hr-tree .hr-sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.hr-tools { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 10px 12px; border-bottom: 1px solid var(--t-line); }
.hr-search { flex: 1 1 180px; max-width: 420px; margin-right: auto; display: flex; align-items: center; gap: 8px; min-width: 0; }
.hr-search input { flex: 1; min-width: 0; height: 34px; padding: 0 10px; border: 1px solid var(--t-line); border-radius: 8px; background: transparent; }
.hr-found { color: var(--t-muted); font-size: 13px; white-space: nowrap; }
.hr-buttons { display: flex; flex-wrap: wrap; gap: 6px; }
.hr-button { min-height: 32px; padding: 0 10px; border: 1px solid var(--t-line); border-radius: 8px; background: transparent; cursor: pointer; font-size: 13px; white-space: nowrap; }
.hr-button:hover:not(:disabled) { background: var(--t-hover); }
.hr-button:disabled { opacity: .45; cursor: default; }
.hr-button[aria-pressed=true] { background: var(--t-select); border-color: var(--t-focus); }
.hr-tree :is(button, input, .hr-row):focus-visible { outline: 2px solid var(--t-focus); outline-offset: -2px; }
.hr-head, .hr-row { display: grid; grid-template-columns: minmax(0, 1fr) 84px 92px 116px 44px; align-items: center; column-gap: 10px; padding-right: 8px; }
.hr-head { padding-left: 14px; height: 28px; font-size: 12px; color: var(--t-muted); border-bottom: 1px solid var(--t-line); scrollbar-gutter: stable; overflow-y: hidden; }
.hr-head span:nth-child(n+3) { text-align: right; } .hr-head span:last-child { text-align: center; }
.hr-scroll { position: relative; overflow-y: auto; overflow-x: hidden; min-height: 120px; scrollbar-gutter: stable; outline: none; }
.hr-row { position: absolute; left: 0; right: 0; top: 0; cursor: default; user-select: none; -webkit-user-select: none; }
.hr-row:hover { background-color: var(--t-hover); }
.hr-row[aria-selected=true] { background-color: var(--t-select); }
.hr-row.beyond { color: var(--t-muted); background-image: repeating-linear-gradient(135deg, var(--t-hatch) 0 5px, transparent 5px 10px); }
.hr-row.partly::before { content: ""; position: absolute; inset: 0; pointer-events: none; background-image: repeating-linear-gradient(135deg, var(--t-hatch) 0 5px, transparent 5px 10px); mask-image: linear-gradient(90deg, #000 10%, transparent 45%); -webkit-mask-image: linear-gradient(90deg, #000 10%, transparent 45%); }
.hr-row.limit:not([aria-selected=true]) { background-image: linear-gradient(90deg, transparent var(--from), var(--t-tint) var(--from)); }
.hr-row.limit .hr-name { font-weight: 600; }
.hr-row.taken { opacity: .55; } .hr-row.target { box-shadow: inset 0 0 0 2px var(--t-focus); }
.hr-across { position: absolute; top: -1px; right: 0; height: 2px; background: var(--t-limit); pointer-events: none; z-index: 1; }
.hr-rail { position: absolute; top: -1px; bottom: 0; width: 2px; background: var(--t-limit); pointer-events: none; }
.hr-rail.idle, .hr-across.idle { background: repeating-linear-gradient(90deg, var(--t-limit) 0 4px, transparent 4px 8px); opacity: .7; }
.hr-label { display: flex; align-items: center; min-width: 0; height: 100%; }
.hr-open { flex: none; width: 26px; height: 26px; padding: 0; border: 0; border-radius: 6px; background: transparent; cursor: pointer; display: grid; place-items: center; }
.hr-open:hover { background: var(--t-track); } .hr-open svg { transition: transform .12s; } .hr-open.is-open svg { transform: rotate(90deg); }
.hr-blank { flex: none; width: 26px; }
.hr-name { overflow: hidden; text-overflow: ellipsis; white-space: pre; min-width: 0; } .hr-name.odd { font-style: italic; }
.hr-name mark { background: color-mix(in srgb, var(--t-warning) 25%, transparent); color: inherit; border-radius: 2px; }
.hr-below { margin-left: 8px; color: var(--t-muted); font-size: 12px; white-space: nowrap; flex: none; }
.hr-share { height: 6px; border-radius: 3px; background: var(--t-track); overflow: hidden; display: flex; }
.hr-share i { display: block; height: 100%; background: var(--t-bar); } .hr-share i.gone { background: var(--t-warning); }
.hr-count { text-align: right; font-variant-numeric: tabular-nums; }
.hr-gone { text-align: right; font-variant-numeric: tabular-nums; color: var(--t-warning); white-space: nowrap; font-size: 13px; }
.hr-toggle { justify-self: center; width: 36px; height: 28px; padding: 0; border: 1px solid transparent; border-radius: 8px; background: transparent; cursor: pointer; display: grid; place-items: center; color: var(--t-muted); }
.hr-toggle:hover { border-color: var(--t-limit); color: var(--t-limit); }
.hr-toggle path { fill: none; stroke: currentColor; stroke-width: 1.4; }
.hr-toggle[aria-pressed=true] { background: var(--t-limit); color: var(--t-on-limit); }
.hr-toggle[aria-pressed=true] path { fill: currentColor; } .hr-toggle.idle[aria-pressed=true] { background: transparent; color: var(--t-limit); border: 1px dashed var(--t-limit); }
.hr-toggle.waiting { animation: hr-wait .8s ease-in-out infinite alternate; } @keyframes hr-wait { to { opacity: .35; } }
.hr-foot { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; min-height: 48px; padding: 8px 12px; border-top: 1px solid var(--t-line); color: var(--t-muted); font-size: 13px; }
.hr-foot.near { position: sticky; bottom: var(--bar, 3.6rem); z-index: 2; background: var(--t-surface); box-shadow: 0 -4px 12px rgba(0, 0, 0, .12); }
.hr-key { display: inline-flex; align-items: center; gap: 6px; } .hr-swatch { width: 22px; height: 14px; border-radius: 3px; border: 1px solid var(--t-line); flex: none; }
.hr-swatch.beyond { background-image: repeating-linear-gradient(135deg, var(--t-hatch) 0 3px, transparent 3px 6px); background-color: var(--t-hover); }
.hr-swatch.limit { border: 0; border-top: 2px solid var(--t-limit); border-left: 2px solid var(--t-limit); border-radius: 0; background: var(--t-tint); }
.hr-edit { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-left: auto; }
.hr-chosen { color: var(--t-text); }
.hr-none { padding: 24px 16px; color: var(--t-muted); }
.hr-tree.plain:not(.narrow) :is(.hr-head, .hr-row) { grid-template-columns: minmax(0, 1fr) 84px 92px; } .hr-tree.plain :is(.hr-gone, .hr-head span:nth-child(n+4)) { display: none; }
.hr-tree.narrow .hr-head { display: none; }
.hr-tree.narrow .hr-row { grid-template-columns: calc(var(--inset) + 56px) auto minmax(0, 1fr) 44px; grid-template-rows: 32px 18px; row-gap: 0; padding-right: 6px; }
.hr-tree.narrow .hr-label { grid-column: 1 / 4; grid-row: 1; } .hr-tree.narrow .hr-share { grid-area: 2 / 1; } .hr-tree.narrow .hr-count { grid-area: 2 / 2; } .hr-tree.narrow .hr-gone { grid-area: 2 / 3; } .hr-tree.narrow .hr-toggle { grid-column: 4; grid-row: 1 / 3; width: 40px; height: 40px; }
.hr-tree.narrow .hr-share { margin-left: var(--inset); min-width: 40px; width: 56px; }
.hr-tree.narrow .hr-count { font-size: 12px; color: var(--t-muted); } .hr-tree.narrow .hr-gone { font-size: 12px; text-align: left; overflow: hidden; text-overflow: ellipsis; }
.hr-tree.narrow .hr-edit { margin-left: 0; }
@media (prefers-reduced-motion: reduce) { .hr-tree * { animation: none !important; transition: none !important; } }
`;

function addStyle() {
  if (document.getElementById("hr-tree-style")) return;
  const style = document.createElement("style");
  style.id = "hr-tree-style";
  style.textContent = STYLE;
  document.head.append(style);
}

const MOST_KEPT = 5000; // open nodes that are told
const thousands = new Intl.NumberFormat("en");

/** The tree itself: who is below whom, which rows are open, and what the limits make of every node. */
class Tree {
  constructor(nodes) {
    this.names = nodes.names;
    this.size = nodes.names.length;
    this.parents = Int32Array.from(nodes.parents);
    this.counts = Float64Array.from(nodes.counts);
    this.withheld = Float64Array.from(nodes.withheld);
    this.marked = new Uint8Array(this.size);
    for (const node of nodes.marked) this.marked[node] = 1;
    const size = this.size;
    this.depths = new Int32Array(size);
    this.heights = new Int32Array(size);
    this.end = new Int32Array(size).map((_, node) => node + 1); // one after the last node below
    this.leaves = new Int32Array(size);
    this.place = new Int32Array(size); // among its siblings, from 1
    this.family = new Int32Array(size); // children
    for (let node = 1; node < size; node++) {
      const above = this.parents[node];
      this.depths[node] = this.depths[above] + 1;
      this.place[node] = ++this.family[above];
    }
    this.place[0] = 1;
    for (let node = size - 1; node >= 0; node--) {
      if (!this.family[node]) this.leaves[node] = 1;
      const above = this.parents[node];
      if (above < 0) continue;
      this.leaves[above] += this.leaves[node];
      this.heights[above] = Math.max(this.heights[above], this.heights[node] + 1);
      this.end[above] = Math.max(this.end[above], this.end[node]);
    }
    this.open = new Uint8Array(size);
    this.filter = null; // while searching: { keep, open, found }
    this.rows = new Int32Array(size);
    this.at = new Int32Array(size);
    this.shown = 0;
    this.drawLimits();
    if (nodes.open) for (const node of nodes.open) this.open[node] = 1;
    else this.openFirst();
  }

  /** Count, for every node, the leaves below it that may not become it. */
  drawLimits() {
    this.blocked = new Int32Array(this.size);
    this.limits = 0;
    for (let node = this.size - 1; node > 0; node--) {
      this.blocked[this.parents[node]] += this.marked[node] ? this.leaves[node] : this.blocked[node];
      this.limits += this.marked[node];
    }
    this.limits += this.marked[0];
  }

  isBeyond(node) {
    return this.blocked[node] === this.leaves[node];
  }

  isIdle(node) {
    return this.marked[node] === 1 && this.isBeyond(node); // limits below it hold instead
  }

  isOdd(node) {
    return this.names[node].startsWith("\0"); // missing values: not a node of the plan
  }

  name(node) {
    return this.isOdd(node) ? "(missing)" : this.names[node];
  }

  get opened() {
    return this.filter ? this.filter.open : this.open;
  }

  /** Open as much as fits a few screens, and the way to every limit if these are few. */
  openFirst() {
    let level = this.heights[0] - 1;
    const rowsAt = (lowest) => {
      let rows = 1;
      for (let node = 1; node < this.size; node++) if (this.heights[this.parents[node]] > lowest) rows++;
      return rows;
    };
    while (level > 0 && rowsAt(level - 1) <= 60) level--;
    this.openTo(level);
    if (this.limits <= 200) for (let node = 1; node < this.size; node++) if (this.marked[node]) this.openAbove(node);
  }

  openTo(level) {
    for (let node = 0; node < this.size; node++) this.opened[node] = this.heights[node] > level ? 1 : 0;
  }

  openAbove(node) {
    for (let above = this.parents[node]; above >= 0; above = this.parents[above]) this.opened[above] = 1;
  }

  search(text) {
    const wanted = text.trim().toLocaleLowerCase();
    if (!wanted) {
      this.filter = null;
      return;
    }
    const keep = new Uint8Array(this.size); // 1: on the way to a find, 2: found, 3: below a find
    const open = new Uint8Array(this.size);
    let found = 0;
    for (let node = this.size - 1; node >= 0; node--) {
      if (this.name(node).toLocaleLowerCase().includes(wanted)) {
        keep[node] = 2;
        found++;
      }
      const above = this.parents[node];
      if (keep[node] && above >= 0) {
        open[above] = 1;
        if (!keep[above]) keep[above] = 1;
      }
    }
    for (let node = 1; node < this.size; node++) {
      if (!keep[node] && keep[this.parents[node]] >= 2) keep[node] = 3;
    }
    this.filter = { keep, open, found };
  }

  layOut() {
    const keep = this.filter && this.filter.keep;
    const opened = this.opened;
    this.at.fill(-1);
    let shown = 0;
    for (let node = 0; node < this.size; ) {
      if (keep && !keep[node]) {
        node = this.end[node];
        continue;
      }
      this.at[node] = shown;
      this.rows[shown++] = node;
      node = opened[node] ? node + 1 : this.end[node];
    }
    this.shown = shown;
  }

  visible(node) {
    while (this.at[node] < 0 && node > 0) node = this.parents[node];
    return node;
  }

  isBelow(node, upper) {
    return upper <= node && node < this.end[upper];
  }

  /** Ways to every open node, by name, so that a changed tree can be shown as the old one was. */
  openNames() {
    return new Set(this.names.filter((_, node) => this.open[node]));
  }
}

export default {
  props: {
    nodes: Object,
    label: String,
    editable: Boolean,
    limitable: { type: Boolean, default: true },
    height: String,
  },
  emits: ["limit", "move", "group", "rename", "dissolve", "opened"],
  template: `
    <div class="hr-tree" :class="{ narrow, plain: !limitable }">
      <div class="hr-tools">
        <label class="hr-search">
          <span class="hr-sr">Search the tree</span>
          <input type="search" v-model="query" placeholder="Search" data-testid="tree-search" autocomplete="off"
            @keydown.down.prevent="focusOn(current)" @keydown.esc.stop="query = ''" />
          <span class="hr-found" role="status">{{ found }}</span>
        </label>
        <div class="hr-buttons" role="group" aria-label="How far the tree is open">
          <button type="button" class="hr-button" @click="openTo(height0 - 1)" data-testid="tree-close-all">Close all</button>
          <button type="button" class="hr-button" v-for="level in between" :key="level" @click="openTo(level)"
            :data-testid="'tree-open-' + level" :aria-label="'Open to groups such as ' + like(level)">{{ like(level) }} …</button>
          <button type="button" class="hr-button" @click="openTo(0)" data-testid="tree-open-all">Open all</button>
        </div>
      </div>
      <div class="hr-head" aria-hidden="true"><span>Value</span><span>Share</span><span>Records</span><span>Withheld</span><span>{{ limitable ? 'Limit' : '' }}</span></div>
      <span class="hr-sr" :id="uid">{{ help }}</span>
      <span class="hr-sr" role="status">{{ said }}</span>
      <div class="hr-scroll" ref="scroll" role="tree" :aria-label="label" :aria-multiselectable="editable" :aria-describedby="uid"
        data-testid="tree" :style="{ height: boxHeight }" @scroll.passive="onScroll" @keydown="onKey" @dragover="onDragOver"
        @drop.prevent="onDrop" @dragend="endDrag" tabindex="-1">
        <div v-if="!shown" class="hr-none">Nothing is called “{{ query }}”.</div>
        <div role="presentation" :style="{ height: shown * rowHeight + 'px', position: 'relative' }">
          <div v-for="row in view" :key="row.id" class="hr-row" role="treeitem" :class="row.kind" :style="row.style"
            :data-id="row.id" :data-testid="'tree-row-' + row.id" :tabindex="row.id === current ? 0 : -1" :draggable="row.drag"
            :aria-level="row.level" :aria-setsize="row.setsize" :aria-posinset="row.place" :aria-expanded="row.expanded"
            :aria-selected="row.selected" :aria-label="row.text"
            @click="onClick($event, row.id)" @dblclick="toggle(row.id)" @dragstart="onDragStart($event, row.id)" @focus="current = row.id">
            <span v-for="rail in row.rails" class="hr-rail" :class="{ idle: rail.idle }" :style="{ left: rail.left }"></span>
            <span v-if="row.limit" class="hr-across" :class="{ idle: row.idle }" :style="{ left: row.left }"></span>
            <span class="hr-label" :style="{ paddingLeft: row.left }">
              <button v-if="row.expanded !== undefined" type="button" class="hr-open" :class="{ 'is-open': row.open }" tabindex="-1"
                aria-hidden="true" :data-testid="'tree-open-row-' + row.id" @click.stop="toggle(row.id)" @dblclick.stop>
                <svg width="10" height="10" viewBox="0 0 10 10"><path d="M3 1l4 4-4 4" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/></svg>
              </button>
              <span v-else class="hr-blank"></span>
              <span class="hr-name" :class="{ odd: row.odd }" :title="row.name">{{ row.head }}<mark v-if="row.hit">{{ row.hit }}</mark>{{ row.tail }}</span>
              <span v-if="row.below && !narrow" class="hr-below">{{ row.below }}</span>
            </span>
            <span class="hr-share" aria-hidden="true"><i :style="{ width: row.kept }"></i><i class="gone" :style="{ width: row.lost }"></i></span>
            <span class="hr-count">{{ row.count }}</span>
            <span class="hr-gone">{{ row.gone }}</span>
            <button v-if="limitable && !row.odd" type="button" class="hr-toggle" :class="{ idle: row.idle, waiting: row.waiting }" tabindex="-1"
              :aria-pressed="row.limit" :aria-label="row.toggle" :title="row.toggle" :data-testid="'tree-limit-' + row.id"
              @click.stop="askLimit(row.id)" @dblclick.stop>
              <svg width="20" height="16" viewBox="0 0 20 16" aria-hidden="true"><path d="${HEDGE}" stroke-linejoin="round"/></svg>
            </button>
          </div>
        </div>
      </div>
      <div class="hr-foot" :class="{ near: inPage && (chosen.length || taken.length) }" v-if="limitable || editable">
        <template v-if="limitable && !chosen.length && !taken.length">
          <span class="hr-key"><span class="hr-swatch limit"></span>limit: values below may become this, nothing coarser</span>
          <span class="hr-key"><span class="hr-swatch beyond"></span>what values may not become</span>
        </template>
        <div v-if="editable" class="hr-edit" role="group" aria-label="Regroup">
          <template v-if="taken.length">
            <span class="hr-chosen" role="status">Choose the group that {{ counted(taken.length) }} should go under.</span>
            <button type="button" class="hr-button" data-testid="tree-move-cancel" @click="taken = []; draw()">Cancel</button>
          </template>
          <template v-else-if="chosen.length">
            <span class="hr-chosen">{{ counted(chosen.length) }} selected</span>
            <button type="button" class="hr-button" data-testid="tree-several" :aria-pressed="several" @click="several = !several">Select several</button>
            <button type="button" class="hr-button" data-testid="tree-group" :disabled="!siblings" @click="$emit('group', { nodes: chosen })">Group…</button>
            <button type="button" class="hr-button" data-testid="tree-rest" :disabled="!rest.length" @click="$emit('group', { nodes: rest, rest: true })">Group the rest…</button>
            <button type="button" class="hr-button" data-testid="tree-move" :disabled="chosen.includes(0)" @click="takeUp">Move…</button>
            <button type="button" class="hr-button" data-testid="tree-rename" :disabled="!oneGroup" @click="$emit('rename', { node: chosen[0] })">Rename…</button>
            <button type="button" class="hr-button" data-testid="tree-dissolve" :disabled="!oneGroup || chosen[0] === 0" @click="$emit('dissolve', { node: chosen[0] })">Dissolve</button>
          </template>
          <span v-else>Select rows to regroup them, or drag them onto a group.</span>
        </div>
      </div>
    </div>
  `,
  data() {
    return {
      beat: 0, // raised when what is drawn has changed
      query: "",
      current: 0,
      chosen: [],
      taken: [],
      several: false,
      target: -1,
      scrollTop: 0,
      viewHeight: 400,
      narrow: false,
      said: "",
      help: HELP,
      uid: "hr-tree-" + Math.random().toString(36).slice(2),
    };
  },
  created() {
    addStyle();
    this.tree = new Tree(Vue.toRaw(this.nodes)); // not reactive: a hundred thousand proxies would be slow
    this.waiting = new Set();
    this.anchor = 0;
    this.typed = "";
    this.tree.layOut();
  },
  mounted() {
    this.watcher = new ResizeObserver(() => this.measure());
    this.watcher.observe(this.$el);
    if (this.inPage) {
      this.moved = () => this.measure();
      document.addEventListener("scroll", this.moved, { passive: true });
      window.addEventListener("resize", this.moved, { passive: true });
    }
    this.measure();
    this.$nextTick(() => {
      if (this.inPage) return;
      const first = this.tree.marked.indexOf(1);
      if (first > 0 && this.tree.at[first] >= 0) this.scrollTo(this.tree.at[first], true);
    });
  },
  beforeUnmount() {
    this.watcher.disconnect();
    if (this.moved) {
      document.removeEventListener("scroll", this.moved);
      window.removeEventListener("resize", this.moved);
    }
    clearTimeout(this.typing);
    clearTimeout(this.hovering);
    clearTimeout(this.telling);
  },
  watch: {
    nodes(nodes) {
      const open = this.tree.openNames();
      const names = new Set(this.tree.names);
      const focus = this.tree.names[this.current];
      const tree = new Tree(Vue.toRaw(nodes));
      for (let node = 0; node < tree.size; node++) {
        tree.open[node] = open.has(tree.names[node]) || !names.has(tree.names[node]) ? 1 : 0;
      }
      this.tree = tree;
      this.waiting.clear();
      this.chosen = [];
      this.taken = [];
      this.current = Math.max(0, tree.names.indexOf(focus));
      tree.search(this.query);
      this.draw();
    },
    query(text) {
      this.tree.search(text);
      if (!text.trim()) this.tree.openAbove(this.current);
      this.draw();
      if (this.$refs.scroll && !this.inPage) this.$refs.scroll.scrollTop = 0;
      if (!text.trim()) this.scrollTo(this.tree.at[this.current]);
    },
  },
  computed: {
    height0() {
      return this.beat, this.tree.heights[0];
    },
    between() {
      const levels = [];
      for (let level = this.height0 - 2; level > 0; level--) levels.push(level);
      return levels.slice(0, 6);
    },
    shown() {
      return this.beat, this.tree.shown;
    },
    rowHeight() {
      return this.narrow ? NARROW_ROW : ROW;
    },
    boxHeight() {
      return this.inPage ? "auto" : this.height || "min(62vh, 640px)";
    },
    inPage() {
      return this.height === "page"; // as long as its rows: the page scrolls, and not a box in it
    },
    found() {
      this.beat;
      return this.tree.filter ? thousands.format(this.tree.filter.found) + " found" : "";
    },
    siblings() {
      this.beat;
      const above = new Set(this.chosen.map((node) => this.tree.parents[node]));
      return above.size === 1 && !above.has(-1);
    },
    rest() {
      if (!this.siblings) return [];
      const { tree, chosen } = this;
      const above = tree.parents[chosen[0]];
      const left = [];
      for (let node = above + 1; node < tree.end[above]; node = tree.end[node])
        if (!chosen.includes(node) && !tree.isOdd(node)) left.push(node);
      return left;
    },
    oneGroup() {
      return this.beat, this.chosen.length === 1 && this.tree.family[this.chosen[0]] > 0;
    },
    view() {
      this.beat;
      const first = Math.max(0, Math.floor(this.scrollTop / this.rowHeight) - SPARE);
      const last = Math.min(this.tree.shown, Math.ceil((this.scrollTop + this.viewHeight) / this.rowHeight) + SPARE);
      const rows = [];
      for (let at = first; at < last; at++) rows.push(this.row(this.tree.rows[at], at));
      const focused = this.tree.at[this.current]; // the focused row stays in the page, or the focus would be lost
      if (focused >= 0 && (focused < first || focused >= last)) rows.push(this.row(this.current, focused));
      return rows;
    },
  },
  methods: {
    // -- what the server calls ----------------------------------------------------------------------------------------

    refresh(news) {
      const { tree } = this;
      for (const node of news.unmark || []) tree.marked[node] = 0;
      for (const node of news.mark || []) tree.marked[node] = 1;
      (news.nodes || []).forEach((node, i) => (tree.withheld[node] = news.withheld[i]));
      if (this.waiting.size === 1) {
        const node = [...this.waiting][0];
        this.said = (tree.marked[node] ? "Limit at " : "No limit at ") + tree.name(node);
      }
      this.waiting.clear();
      tree.drawLimits();
      this.draw();
    },

    // -- drawing ------------------------------------------------------------------------------------------------------

    draw() {
      this.tree.layOut();
      this.current = this.tree.visible(this.current);
      this.beat++;
    },
    left(depth) {
      const step = this.narrow ? 12 : 20;
      return 6 + Math.min(depth, DEEPEST_INDENT) * step;
    },
    row(id, at) {
      const { tree } = this;
      const depth = tree.depths[id];
      const total = tree.counts[0] || 1;
      const limit = tree.marked[id] === 1;
      const idle = tree.isIdle(id);
      const beyond = tree.blocked[id] > 0 && tree.isBeyond(id);
      const partly = !beyond && tree.blocked[id] > 0;
      const rails = [];
      for (let node = id; node >= 0; node = tree.parents[node]) {
        if (tree.marked[node]) rails.push({ left: this.left(tree.depths[node]) + "px", idle: tree.isIdle(node) });
      }
      const name = tree.name(id);
      const wanted = tree.filter ? this.query.trim().toLocaleLowerCase() : "";
      const spot = wanted ? name.toLocaleLowerCase().indexOf(wanted) : -1;
      const group = tree.family[id] > 0;
      const open = group && tree.opened[id] === 1;
      const count = thousands.format(tree.counts[id]);
      const gone = tree.withheld[id] > 0 ? thousands.format(tree.withheld[id]) + " withheld" : "";
      const state = limit ? (idle ? "limit, but limits below it hold" : "limit") : beyond ? "beyond the limits" : partly ? "beyond the limits of some values" : "";
      return {
        id, name, limit, idle, open, gone, count, rails,
        odd: tree.isOdd(id),
        level: depth + 1,
        place: tree.place[id],
        setsize: id ? tree.family[tree.parents[id]] : 1,
        expanded: group ? open : undefined,
        selected: this.editable ? this.chosen.includes(id) : undefined,
        drag: this.editable && id > 0 && !tree.isOdd(id),
        head: spot < 0 ? name : name.slice(0, spot),
        hit: spot < 0 ? "" : name.slice(spot, spot + wanted.length),
        tail: spot < 0 ? "" : name.slice(spot + wanted.length),
        below: partly ? `for ${thousands.format(tree.leaves[id] - tree.blocked[id])} of ${thousands.format(tree.leaves[id])} values only` : group && !open ? thousands.format(tree.leaves[id]) + (tree.leaves[id] === 1 ? " value" : " values") : "",
        kept: (100 * (tree.counts[id] - tree.withheld[id])) / total + "%",
        lost: (100 * tree.withheld[id]) / total + "%",
        left: this.left(depth) + "px",
        waiting: this.waiting.has(id),
        kind: {
          limit: limit && !idle, beyond, partly,
          taken: this.taken.includes(id), target: id === this.target,
        },
        toggle: (limit ? "Lift the limit at " : "Set a limit at ") + name,
        text: [name, count + " records", gone, state].filter(Boolean).join(", "),
        style: {
          transform: `translateY(${at * this.rowHeight}px)`,
          height: this.rowHeight + "px",
          "--inset": this.left(depth) + 26 + "px",
          "--from": this.left(depth) + "px",
        },
      };
    },
    like(level) {
      for (let node = 0; node < this.tree.size; node++) if (this.tree.heights[node] === level) return this.tree.name(node);
      return level;
    },
    counted(number) {
      return thousands.format(number) + (number === 1 ? " row" : " rows");
    },
    measure() {
      this.narrow = this.$el.clientWidth < NARROW;
      if (this.inPage) {
        this.scrollTop = Math.max(0, -this.$refs.scroll.getBoundingClientRect().top);
        this.viewHeight = window.innerHeight;
      } else this.viewHeight = this.$refs.scroll.clientHeight;
    },
    onScroll() {
      this.scrollTop = this.$refs.scroll.scrollTop;
    },
    scrollTo(at, middle = false) {
      const box = this.$refs.scroll;
      if (!box || at < 0) return;
      if (this.inPage) return void this.$nextTick(() => this.$el.querySelector(`[data-id="${this.tree.rows[at]}"]`)?.scrollIntoView({ block: "nearest" }));
      const top = at * this.rowHeight;
      if (middle) {
        if (top + this.rowHeight > box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
      } else if (top < box.scrollTop) box.scrollTop = top;
      else if (top + this.rowHeight > box.scrollTop + box.clientHeight) {
        box.scrollTop = top + this.rowHeight - box.clientHeight;
      }
      this.scrollTop = box.scrollTop;
    },
    async focusOn(node) {
      if (this.tree.at[node] < 0) return;
      this.current = node;
      this.scrollTo(this.tree.at[node]);
      await this.$nextTick();
      this.$el.querySelector(`[data-id="${node}"]`)?.focus({ preventScroll: true });
    },
    openTo(level) {
      this.tree.openTo(Math.max(level, 0));
      this.draw();
      this.tellOpened();
    },
    toggle(node) {
      if (!this.tree.family[node]) return;
      this.tree.opened[node] ^= 1;
      this.draw();
      this.tellOpened();
    },
    /** Tell which nodes are open, so that they are so again when the page is loaded anew; what a search opens is not kept. */
    tellOpened() {
      if (this.tree.filter) return;
      clearTimeout(this.telling);
      this.telling = setTimeout(() => {
        const nodes = [];
        for (let node = 0; node < this.tree.size && nodes.length <= MOST_KEPT; node++) if (this.tree.open[node]) nodes.push(node);
        if (nodes.length <= MOST_KEPT) this.$emit("opened", { nodes });
      }, 150);
    },

    // -- limits and selection -----------------------------------------------------------------------------------------

    askLimit(node) {
      if (!this.limitable || this.tree.isOdd(node)) return;
      this.waiting.add(node);
      this.beat++;
      this.$emit("limit", { node });
    },
    choose(node, event) {
      if (!this.editable || this.tree.isOdd(node)) return;
      if (event.shiftKey) {
        const [from, to] = [this.tree.at[this.tree.visible(this.anchor)], this.tree.at[node]].sort((a, b) => a - b);
        this.chosen = Array.from(this.tree.rows.subarray(from, to + 1)).filter((id) => !this.tree.isOdd(id));
        return;
      }
      this.anchor = node;
      if (event.ctrlKey || event.metaKey || this.several) {
        const others = this.chosen.filter((id) => id !== node);
        this.chosen = others.length < this.chosen.length ? others : [...others, node];
      } else this.chosen = [node];
    },
    onClick(event, node) {
      if (this.taken.length) this.putUnder(node);
      else this.choose(node, event);
      this.focusOn(node);
    },
    takeUp() {
      if (!this.editable) return;
      const nodes = this.chosen.length ? this.chosen : [this.current];
      this.taken = nodes.filter((node) => node > 0 && !this.tree.isOdd(node));
      this.draw();
      this.focusOn(this.current);
    },
    mayHold(node, nodes) {
      return this.tree.family[node] > 0 && !nodes.some((id) => this.tree.isBelow(node, id));
    },
    putUnder(node) {
      if (!this.mayHold(node, this.taken)) {
        this.said = this.tree.name(node) + " cannot hold them";
        return;
      }
      this.$emit("move", { nodes: [...this.taken], parent: node });
      this.taken = [];
      this.draw();
    },

    // -- dragging -----------------------------------------------------------------------------------------------------

    onDragStart(event, node) {
      if (!this.chosen.includes(node)) this.chosen = [node];
      this.taken = this.chosen.filter((id) => id > 0);
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", this.counted(this.taken.length));
    },
    onDragOver(event) {
      const row = event.target.closest?.(".hr-row");
      const node = row ? Number(row.dataset.id) : -1;
      const may = node >= 0 && this.taken.length > 0 && this.mayHold(node, this.taken);
      if (may) {
        event.preventDefault();
        event.dataTransfer.dropEffect = "move";
      }
      const target = may ? node : -1;
      if (target === this.target) return;
      this.target = target;
      clearTimeout(this.hovering);
      if (may && !this.tree.opened[node]) this.hovering = setTimeout(() => this.toggle(node), 700);
    },
    onDrop() {
      if (this.target >= 0) this.putUnder(this.target);
      this.endDrag();
    },
    endDrag() {
      clearTimeout(this.hovering);
      this.target = -1;
      this.taken = [];
      this.draw();
    },

    // -- keyboard -----------------------------------------------------------------------------------------------------

    onKey(event) {
      if (event.altKey || event.target.tagName === "INPUT") return;
      const { tree, current } = this;
      const at = tree.at[current];
      const page = Math.max(1, Math.floor(this.viewHeight / this.rowHeight) - 1);
      const go = (to) => {
        const node = tree.rows[Math.min(Math.max(to, 0), tree.shown - 1)];
        if (event.shiftKey && this.editable) this.choose(node, { shiftKey: true });
        this.focusOn(node);
      };
      const control = event.ctrlKey || event.metaKey;
      const act = {
        ArrowDown: () => go(at + 1),
        ArrowUp: () => go(at - 1),
        PageDown: () => go(at + page),
        PageUp: () => go(at - page),
        Home: () => go(0),
        End: () => go(tree.shown - 1),
        ArrowRight: () => (tree.family[current] ? (tree.opened[current] ? go(at + 1) : this.toggle(current)) : null),
        ArrowLeft: () =>
          tree.family[current] && tree.opened[current]
            ? this.toggle(current)
            : tree.parents[current] >= 0 && this.focusOn(tree.parents[current]),
        Enter: () => (this.taken.length ? this.putUnder(current) : this.askLimit(current)),
        " ": () => (control ? this.choose(current, { ctrlKey: true }) : this.taken.length ? this.putUnder(current) : this.askLimit(current)),
        Escape: () => {
          this.taken = [];
          this.chosen = [];
          this.several = false;
          this.draw();
        },
        F2: () => this.editable && tree.family[current] && this.$emit("rename", { node: current }),
        Delete: () => this.editable && current && tree.family[current] && this.$emit("dissolve", { node: current }),
        "*": () => {
          const above = tree.parents[current];
          for (let node = Math.max(above, 0); node < (above < 0 ? 1 : tree.end[above]); node++) {
            if (tree.parents[node] === above && tree.family[node]) tree.opened[node] = 1;
          }
          this.draw();
        },
      }[event.key];
      if (act) act();
      else if (control && this.editable && event.key === "a") {
        const above = tree.parents[current];
        this.chosen = Array.from(tree.rows.subarray(0, tree.shown)).filter((node) => tree.parents[node] === above && !tree.isOdd(node));
      } else if (control && this.editable && event.key === "x") this.takeUp();
      else if (control && this.taken.length && event.key === "v") this.putUnder(current);
      else if (!control && event.key.length === 1) {
        if (event.key.toLowerCase() === "l" && !this.typed) this.askLimit(current);
        else this.typeAhead(event.key);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    },
    typeAhead(letter) {
      this.typed += letter.toLocaleLowerCase();
      clearTimeout(this.typing);
      this.typing = setTimeout(() => (this.typed = ""), 700);
      const { tree } = this;
      const from = tree.at[this.current] + (this.typed.length === 1 ? 1 : 0);
      for (let step = 0; step < tree.shown; step++) {
        const node = tree.rows[(from + step) % tree.shown];
        if (tree.name(node).toLocaleLowerCase().startsWith(this.typed)) {
          this.focusOn(node);
          return;
        }
      }
    },
  },
};
