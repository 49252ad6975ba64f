/* Browsers start no worker for pages that are opened from a folder. There the search runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.waiting = [];
      this.frame.onload = () => {
        for (const message of this.waiting) this.deliver(message);
        this.waiting = null;
      };
      window.addEventListener("message", (event) => {
        if (event.source === this.frame.contentWindow) {
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        }
      });
      // In a worker postMessage tells the page; in a frame it would tell the frame itself.
      const tell = "self.postMessage = (message) => parent.postMessage(message, '*')";
      this.frame.srcdoc = `<script>${tell}</` + `script><script src="${url}"></` + "script>";
      document.documentElement.appendChild(this.frame);
    }

    deliver(data) {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.deliver(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
