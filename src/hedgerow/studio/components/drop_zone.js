// A file picker and drop target that sends one file as it is to the studio, with progress.
export default {
  props: { label: String, hint: String, accept: String, testid: String },
  template: `
    <label class="drop-zone" :class="{ over, busy }" :data-testid="testid"
           @dragover.prevent="over = true" @dragleave="over = false" @drop.prevent="dropped">
      <input ref="input" type="file" class="drop-input" :accept="accept" :aria-label="label"
             :data-testid="testid + '-input'" :disabled="busy" @change="picked">
      <span class="drop-label">{{ label }}</span>
      <span class="drop-hint" v-if="!busy && !problem">{{ hint }}</span>
      <span class="drop-hint" v-if="busy" role="status">sending {{ name }} … {{ percent }} %</span>
      <span class="drop-problem" v-if="problem" role="alert" :data-testid="testid + '-problem'">{{ problem }}</span>
      <progress v-if="busy" max="100" :value="percent"></progress>
    </label>`,
  data() {
    return { over: false, busy: false, percent: 0, name: "", problem: "" };
  },
  methods: {
    picked(event) {
      if (event.target.files.length) this.send(event.target.files[0]);
      event.target.value = "";
    },
    dropped(event) {
      this.over = false;
      if (event.dataTransfer.files.length) this.send(event.dataTransfer.files[0]);
    },
    send(file) {
      if (this.busy) return;
      Object.assign(this, { busy: true, percent: 0, name: file.name, problem: "" });
      const request = new XMLHttpRequest();
      request.open("POST", "/files?name=" + encodeURIComponent(file.name));
      request.upload.onprogress = (at) => { this.percent = at.total ? Math.round((100 * at.loaded) / at.total) : 0; };
      request.onload = () => {
        this.busy = false;
        if (request.status === 200) this.$emit("sent", JSON.parse(request.responseText));
        else this.problem = request.responseText || "The file was refused.";
      };
      request.onerror = () => {
        this.busy = false;
        this.problem = "The file did not arrive: it is larger than this studio takes, or the studio has ended.";
      };
      request.send(file);
    },
  },
};
