// sliding: where frames come slowly, the picture moves as it is, and is drawn again once the map rests.

const REST_MILLISECONDS = 250;
const HELD_MILLISECONDS = 700;
const FURTHEST = 0.6;
const LARGEST = 4;
const SLOW_FRAME_MILLISECONDS = 40;
const SLOW_FRAMES = 3;
const PROBED = 4;
const QUICK_WEIGHT = 0.05;
const WATCH_MILLISECONDS = 500;

/** Watches the frames of a sigma while its camera moves. layers: the canvases that move with it. */
export class Sliding {
  constructor(sigma, layers) {
    this.sigma = sigma;
    this.layers = layers;
    this.on = false;
    this.moved = false;
    this.watching = false;
    this.slides = 0;
    this.slow = 0;
    this.drawings = 0;
    this.drawNow = sigma.scheduleRender.bind(sigma);
    sigma.on("afterRender", () => this.#drawn());
    this.#lookLess();
    sigma.getCamera().on("updated", () => {
      this.movedAt = performance.now();
      if (!this.on && !this.watching) this.#watch();
    });
  }

  /** No dot is looked for under a mouse that drags the map: to look means to wait for the drawing. */
  #lookLess() {
    const look = this.sigma.getNodeAtPosition?.bind(this.sigma);
    if (look) this.sigma.getNodeAtPosition = (position) => (this.sigma.getMouseCaptor().isMouseDown ? undefined : look(position));
  }

  /** Count the slow frames of movements; many quick ones outweigh a slow one. */
  #watch() {
    this.watching = true;
    let last = performance.now();
    const next = (now) => {
      this.slow = Math.max(0, this.slow + (now - last > SLOW_FRAME_MILLISECONDS ? 1 : -QUICK_WEIGHT));
      last = now;
      if (this.slow >= SLOW_FRAMES) this.begin();
      else if (now - this.movedAt < WATCH_MILLISECONDS) return void requestAnimationFrame(next);
      this.watching = false;
    };
    requestAnimationFrame(next);
  }

  /** From now on, the picture slides. */
  begin() {
    this.on = true;
    this.sigma.scheduleRender = () => (this.#slide(), this.sigma);
  }

  #slide() {
    const { scale, x, y } = this.#shift();
    const { width, height } = this.sigma.getDimensions();
    clearTimeout(this.timer);
    if (Math.abs(x) > FURTHEST * width || Math.abs(y) > FURTHEST * height || scale > LARGEST || scale < 1 / LARGEST) return this.drawNow();
    this.slides += 1;
    const held = this.sigma.getMouseCaptor().isMouseDown;
    this.timer = setTimeout(() => this.#rest(this.slides), held ? HELD_MILLISECONDS : REST_MILLISECONDS);
    this.moved = true;
    for (const layer of this.layers) layer.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  }

  /** Draw, unless the map moves on in the next frames: where they come slowly, time alone says little. */
  #rest(slides) {
    const unmoved = () => slides === this.slides;
    requestAnimationFrame(() => unmoved() && requestAnimationFrame(() => unmoved() && this.drawNow()));
  }

  /** How the picture that was drawn lies in the present view. */
  #shift() {
    const middle = { x: this.drawnAt.x, y: this.drawnAt.y };
    const from = this.sigma.framedGraphToViewport(middle, { cameraState: this.drawnAt });
    const to = this.sigma.framedGraphToViewport(middle);
    const scale = this.drawnAt.ratio / this.sigma.getCamera().ratio;
    return { scale, x: to.x - scale * from.x, y: to.y - scale * from.y };
  }

  /** Time one drawing to its end, once. The first ones say little: shaders are still being made. */
  #probe() {
    const canvas = this.sigma.getCanvases().nodes;
    const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
    const begin = performance.now();
    context.bindFramebuffer(context.FRAMEBUFFER, null);
    context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, new Uint8Array(4));
    if (performance.now() - begin > SLOW_FRAME_MILLISECONDS) this.begin();
  }

  #drawn() {
    this.drawings += 1;
    if (this.drawings === PROBED && !this.on) this.#probe();
    this.slides += 1;
    this.drawnAt = this.sigma.getCamera().getState();
    clearTimeout(this.timer);
    if (this.moved) for (const layer of this.layers) layer.style.transform = "";
    this.moved = false;
  }

  kill() {
    this.slides += 1;
    clearTimeout(this.timer);
  }
}
