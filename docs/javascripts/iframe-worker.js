/* The site's search where the pages are opened from a folder: browsers start no worker there, so a hidden frame is one. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inner.importScripts = (...scripts) => scripts.reduce((before, script) => before.then(() => this.load(script)), Promise.resolve());
      this.loaded = this.load(address);
    }
    load(address) {
      return new Promise((resolve, reject) => {
        const script = this.inner.document.createElement("script");
        script.src = new URL(address, location).href;
        script.onload = resolve;
        script.onerror = reject;
        this.inner.document.body.append(script);
      });
    }
    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
