// The live picture. The next frame is requested when the last one has been drawn. A hidden tab requests no frames.

import { askPicture, isAbort, pause, Refused } from "./server.js";

/** @import { Box } from "./calls.js" */

const SECOND = 1000;

export class Picture {
  /**
   * @param {HTMLImageElement} image
   * @param {HTMLElement} box
   * @param {(text: string) => void} onMessage
   */
  constructor(image, box, onMessage) {
    this.image = image;
    this.box = box;
    this.onMessage = onMessage;
    this.size = { width: 0, height: 0 };
    this.frames = 0;
    /** @type {string | null} */
    this.session = null;
    this.page = "";
    /** @type {AbortController | null} */
    this.asking = null;
    document.addEventListener("visibilitychange", () => this.restart());
  }

  /** @type {(session: string | null, page: string) => void} */
  show(session, page) {
    if (this.session === session && this.page === page) return;
    this.session = session;
    this.page = page;
    this.image.hidden = true;
    this.box.hidden = true;
    this.restart();
  }

  /** @returns {void} */
  restart() {
    this.asking?.abort();
    this.asking = null;
    if (this.session && !document.hidden) this.run(this.session, new AbortController());
  }

  /** @type {(session: string, asking: AbortController) => Promise<void>} */
  async run(session, asking) {
    this.asking = asking;
    let after = 0;
    let hasFailed = false;
    while (this.asking === asking) {
      try {
        const response = await askPicture(session, this.page, after, asking.signal);
        if (response.status === 200) {
          after = Number(response.headers.get("X-Frame"));
          await this.draw(response);
        }
        if (hasFailed) this.onMessage(""); // Do not clear messages of other parts of the page.
        hasFailed = false;
      } catch (error) {
        if (this.asking !== asking || isAbort(error)) return;
        if (!(error instanceof Refused)) throw error;
        this.onMessage(error.message);
        hasFailed = true;
        if (error.status === 410) return;
        await pause(SECOND);
      }
    }
  }

  /** @type {(response: Response) => Promise<void>} */
  async draw(response) {
    const [width, height] = (response.headers.get("X-Size") ?? "").split("x").map(Number);
    const address = URL.createObjectURL(await response.blob());
    const before = this.image.src;
    this.image.src = address;
    await this.image.decode().catch(() => {});
    this.size = { width: width || this.image.naturalWidth, height: height || this.image.naturalHeight };
    this.image.hidden = false;
    this.frames += 1;
    this.image.dataset.frames = String(this.frames);
    this.image.dataset.lag = String(Date.now() - Number(response.headers.get("X-Drawn-At")));
    if (before) URL.revokeObjectURL(before);
  }

  /** @type {(box: Box | null) => void} */
  frame(box) {
    this.box.hidden = !box;
    if (!box) return;
    const [left, top, width, height] = box.map((part) => `${(100 * part).toFixed(2)}%`);
    Object.assign(this.box.style, { left, top, width, height });
  }

  /**
   * Return the position of a pointer in pixels of the page.
   *
   * @type {(event: MouseEvent) => { x: number, y: number }}
   */
  pointOf(event) {
    const area = this.image.getBoundingClientRect();
    const x = ((event.clientX - area.left) / area.width) * this.size.width;
    const y = ((event.clientY - area.top) / area.height) * this.size.height;
    return { x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 };
  }
}
