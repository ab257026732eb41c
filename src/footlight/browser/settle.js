// Whether a document has come to rest. A selector engine of Playwright, in a world of its own: the page can neither
// see it nor bend its clock and its frames. Only named fields still shadow members (`<img name=getAnimations>`).
//
// The body `begin` begins to watch, `go-on` asks again. The reply is an element made for the purpose; its attribute
// `v` holds the milliseconds after which to ask again, 0 where there is rest: two frames without a change to the
// document or its open shadow trees, and no animation that ends within the time that is left.
(() => {
  "use strict";

  const REST_MS = 500;        // A page that is not at rest by then may never be;
  const RESTLESS_MS = 100;    // one that was not the last time gets no more than this.
  const FRAME_MS = 1000 / 60;
  const NO_FRAME_MS = 25;     // Pages in the background draw none, and those that nobody sees few.
  const LONG_FRAME_MS = 50;   // A script that computes for long has not been at work that often.
  const MIN_WAIT_MS = 3;
  const FRAMES = 2;
  const EVERYTHING = { subtree: true, childList: true, attributes: true, characterData: true };

  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot").get;
  const stateOf = Object.getOwnPropertyDescriptor(Document.prototype, "readyState").get;
  const { createElement, createTreeWalker, getAnimations } = Document.prototype;

  let watch = null;
  let restless = false;

  class Watch {
    constructor(root) {
      this.document = root;
      this.roots = new Set();
      this.frame = performance.now();
      this.left = restless ? RESTLESS_MS : REST_MS;
      this.drawn = false;
      this.changed = false;
      this.quiet = 0;
      this.observer = new MutationObserver(records => this.note(records));
      this.observe(root);
      this.nextFrame();
    }

    observe(root) {
      this.roots.add(root);
      this.observer.observe(root, EVERYTHING);
      this.enter(root);
    }

    // Observers do not see into shadow trees by themselves.
    enter(node) {
      const walker = createTreeWalker.call(this.document, node, NodeFilter.SHOW_ELEMENT);
      for (let each = walker.currentNode; each; each = walker.nextNode()) {
        const shadow = each.nodeType === Node.ELEMENT_NODE && shadowOf.call(each);
        if (shadow) this.observe(shadow);
      }
    }

    note(records) {
      this.changed = true;
      for (const record of records)
        for (const node of record.addedNodes) if (node.nodeType === Node.ELEMENT_NODE) this.enter(node);
    }

    nextFrame() {
      const drawn = requestAnimationFrame(() => this.onFrame());
      const late = setTimeout(() => this.onFrame(), NO_FRAME_MS);
      this.forgetFrame = () => (cancelAnimationFrame(drawn), clearTimeout(late));
    }

    onFrame() {
      this.forgetFrame();
      const now = performance.now();
      this.left -= Math.min(now - this.frame, LONG_FRAME_MS);
      if (this.left < -REST_MS) return this.end(); // Nobody asks any more.
      this.frame = now;
      this.drawn = true;
      this.quiet = this.changed || stateOf.call(this.document) === "loading" ? 0 : this.quiet + 1;
      this.changed = false;
      this.nextFrame();
    }

    // How long to wait before it is worth asking again; 0 where there is nothing to wait for.
    wait() {
      const missing = this.drawn ? FRAMES - this.quiet : 1;
      if (missing > 0) {
        const next = this.frame + missing * FRAME_MS + 1 - performance.now();
        return this.left > 0 ? Math.max(MIN_WAIT_MS, next) : this.end(true);
      }
      const animated = this.animated();
      return animated > 0 ? animated + FRAMES * FRAME_MS : this.end();
    }

    // Milliseconds until the last of the animations that end within the time that is left. Those without an end,
    // and those that follow the scroll position, are not waited for.
    animated() {
      let longest = 0;
      for (const root of this.roots)
        for (const animation of root === this.document ? getAnimations.call(root) : root.getAnimations()) {
          if (animation.playState !== "running" || !(animation.timeline instanceof DocumentTimeline)) continue;
          const { currentTime, effect, playbackRate } = animation;
          const way = playbackRate > 0 ? effect.getComputedTiming().endTime - currentTime : currentTime;
          const time = way / Math.abs(playbackRate);
          if (time > longest && time <= this.left) longest = time;
        }
      return longest;
    }

    end(unresting = false) {
      restless = unresting;
      this.forgetFrame();
      this.observer.disconnect();
      watch = null;
      return 0;
    }
  }

  function queryAll(root, body) {
    if (body === "begin") watch?.end(restless);
    watch ||= new Watch(root);
    const reply = createElement.call(root, "i");
    reply.setAttribute("v", String(watch.wait()));
    return [reply];
  }

  return { query: (root, body) => queryAll(root, body)[0], queryAll };
})()
