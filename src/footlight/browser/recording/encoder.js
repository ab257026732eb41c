// Encodes pictures as a video, in a page of Footlight: `add` a picture, `finish` at the end, both with milliseconds
// since the first picture. Each call returns the frames that are encoded so far: [milliseconds, is key, base64].
(() => {
  const KEY_EVERY_MS = 5000;
  // A page that does not change sends no second picture that could improve the first one, so the quality of each
  // picture matters. If it cannot be set, a high bitrate gives the first picture a good quality.
  const QUANTIZER = 20;
  const BITS_PER_PIXEL = 8;
  /** @type {(Omit<VideoEncoderConfig, 'width' | 'height'> & { codec: string })[]} */
  const CODECS = [
    { codec: "vp09.00.31.08", bitrateMode: "quantizer", latencyMode: "realtime" },
    { codec: "vp8", bitrateMode: "variable" },
  ];
  /** @typedef {[ms: number, isKey: boolean, base64: string]} Frame */

  /** @type {Frame[]} */
  const encoded = [];
  /** @typedef {(typeof CODECS)[0]} Codec */
  /** @typedef {{ encoder: VideoEncoder, canvas: OffscreenCanvas, pen: OffscreenCanvasRenderingContext2D, codec: Codec }} Video */

  /** @type {Codec | undefined} */
  let chosen;
  /** @type {Video | undefined} started with the first picture */
  let video;
  /** @type {DOMException | undefined} */
  let failure;
  /** @type {number | undefined} milliseconds of the last key frame */
  let keyed;
  /** @type {number | undefined} milliseconds of the last frame */
  let last;

  /** @type {(chunk: EncodedVideoChunk) => string} */
  const base64 = (chunk) => {
    const bytes = new Uint8Array(chunk.byteLength);
    chunk.copyTo(bytes);
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) {
      text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    }
    return btoa(text);
  };

  /** @type {(picture: ImageBitmap) => Video} */
  const begin = (picture) => {
    const canvas = new OffscreenCanvas(picture.width & ~1 || 2, picture.height & ~1 || 2);
    const pen = canvas.getContext("2d");
    if (!chosen || !pen) throw new Error("This browser cannot encode a video");
    const { width, height } = canvas;
    const encoder = new VideoEncoder({
      output: (chunk) => encoded.push([Math.round(chunk.timestamp / 1000), chunk.type === "key", base64(chunk)]),
      error: (error) => {
        failure = error;
      },
    });
    const bitrate = chosen.bitrateMode === "variable" ? { bitrate: Math.round(width * height * BITS_PER_PIXEL) } : {};
    encoder.configure({ ...chosen, width, height, ...bitrate });
    return { encoder, canvas, pen, codec: chosen };
  };

  /**
   * Draw a picture into the middle of the video. The size of a viewport may change, but not that of a video.
   *
   * @type {(video: Video, picture: ImageBitmap) => void}
   */
  const draw = ({ canvas, pen }, picture) => {
    const scale = Math.min(canvas.width / picture.width, canvas.height / picture.height);
    const width = Math.round(picture.width * scale);
    const height = Math.round(picture.height * scale);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(picture, (canvas.width - width) >> 1, (canvas.height - height) >> 1, width, height);
  };

  /** @type {(video: Video, ms: number) => void} */
  const encode = ({ canvas, encoder }, ms) => {
    const at = last === undefined ? ms : Math.max(ms, last + 1);
    const keyFrame = keyed === undefined || at - keyed >= KEY_EVERY_MS;
    const frame = new VideoFrame(canvas, { timestamp: at * 1000, alpha: "discard" });
    encoder.encode(frame, /** @type {VideoEncoderEncodeOptions} */ ({ keyFrame, vp9: { quantizer: QUANTIZER } }));
    frame.close();
    last = at;
    if (keyFrame) keyed = at;
  };

  /** @type {(video: Video) => { codec: string, width: number, height: number, frames: Frame[] }} */
  const takeFrames = ({ canvas, codec }) => {
    if (failure) throw failure;
    const { width, height } = canvas;
    return { codec: codec.codec === "vp8" ? "VP8" : "VP9", width, height, frames: encoded.splice(0) };
  };

  /** @type {any} */ (globalThis).add = async (/** @type {[jpeg: string, ms: number]} */ [jpeg, ms]) => {
    const bytes = Uint8Array.from(atob(jpeg), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    video ??= begin(picture);
    draw(video, picture);
    picture.close();
    encode(video, ms);
    return takeFrames(video);
  };

  /** @type {any} */ (globalThis).finish = async (/** @type {number} */ ms) => {
    if (!video) throw new Error("There is no picture");
    encode(video, ms);
    await video.encoder.flush();
    return takeFrames(video);
  };

  /** @type {any} */ (globalThis).choose = async () => {
    for (const each of globalThis.VideoEncoder ? CODECS : []) {
      const { supported } = await VideoEncoder.isConfigSupported({ ...each, width: 1280, height: 720 });
      if (supported && !chosen) chosen = each;
    }
    return chosen !== undefined;
  };
})();
