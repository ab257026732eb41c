// Mouse and keyboard input on the picture, sent to the page while a person controls the session.

const KEYS_MS = 150; // Keys that are typed within this time are sent in one request, which keeps their order.
const MAX_PASTED = 2000;
const MODIFIERS = ["Alt", "Control", "Meta"];
const KEYS_WITHOUT_EFFECT = [...MODIFIERS, "Shift", "CapsLock", "AltGraph", "Dead"];

export class RemoteInput {
  /**
   * @param {HTMLElement} stage the element that has the picture
   * @param {object} options
   * @param {() => boolean} options.isActive returns whether this person controls the session
   * @param {(event: MouseEvent) => object} options.pointOf returns the point of the page
   * @param {(event: object) => unknown} options.send sends an event to the page
   * @param {() => void} options.onEscape moves the focus out of the picture
   */
  constructor(stage, options) {
    this.options = options;
    this.typed = "";
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null;
    stage.addEventListener("click", (event) => {
      if (!options.isActive()) return;
      stage.focus();
      this.send(event, { type: "click", count: Math.min(event.detail || 1, 3) });
    });
    stage.addEventListener("contextmenu", (event) => {
      if (options.isActive()) this.send(event, { type: "click", button: "right" });
    });
    stage.addEventListener(
      "wheel",
      (event) => {
        if (options.isActive()) this.send(event, { type: "wheel", dx: event.deltaX, dy: event.deltaY });
      },
      { passive: false },
    );
    stage.addEventListener("keydown", (event) => this.press(event));
    stage.addEventListener("blur", () => this.flush());
    stage.addEventListener("paste", (event) => this.paste(event));
  }

  /**
   * Send an event of the mouse, with its point of the page.
   *
   * @type {(event: MouseEvent, details: object) => void}
   */
  send(event, details) {
    event.preventDefault();
    this.options.send({ ...details, ...this.options.pointOf(event) });
  }

  /** @type {(event: KeyboardEvent) => void} */
  press(event) {
    if (!this.options.isActive() || event.isComposing) return;
    if (event.key === "Escape" && !event.shiftKey) {
      this.options.onEscape();
      return;
    }
    event.preventDefault();
    const pressed = MODIFIERS.filter((name) => event.getModifierState(name));
    if (event.key.length === 1 && !pressed.length) {
      this.typed += event.key;
      this.timer ??= setTimeout(() => this.flush(), KEYS_MS);
      return;
    }
    if (KEYS_WITHOUT_EFFECT.includes(event.key)) return;
    this.flush();
    const modifiers = event.shiftKey ? [...pressed, "Shift"] : pressed;
    this.options.send({ type: "key", key: event.key === " " ? "Space" : event.key, modifiers });
  }

  /** @type {(event: ClipboardEvent) => void} */
  paste(event) {
    if (!this.options.isActive()) return;
    event.preventDefault();
    this.flush();
    const text = event.clipboardData?.getData("text");
    if (text) this.options.send({ type: "text", text: text.slice(0, MAX_PASTED) });
  }

  /**
   * Send what was typed.
   *
   * @returns {void}
   */
  flush() {
    clearTimeout(this.timer ?? undefined);
    this.timer = null;
    if (this.typed) this.options.send({ type: "text", text: this.typed });
    this.typed = "";
  }
}
