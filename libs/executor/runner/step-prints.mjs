// Separates the prints of steps. At the end of a step a mark is written to both pipes, so that the worker can separate
// its prints from those of the next step. Contained code can print only by `console`, so its prints are sent as
// messages of its step, and need no mark.
import { isUtf8 } from 'node:buffer';
import { Writable } from 'node:stream';

/** For the prints in a message. */
const PIECE_BYTES = 64 * 1024;

export class StepPrints {
  #mark;
  #streams;
  #writes;
  /** Stored here, since a step may change its own. */
  #write = Writable.prototype.write;
  /** For the present step; null: there is none, and prints belong to no step. */
  #print = null;

  /**
   * `token`: identifies marks to the worker. Opens both pipes now; otherwise they would look like something a step left
   * behind.
   */
  constructor(token) {
    this.#mark = Buffer.from(`\0${token}\n`);
    const streams = [
      ['stdout', process.stdout],
      ['stderr', process.stderr],
    ];
    this.#streams = streams.map(([, stream]) => stream);
    this.#writes = streams.map(([from, stream]) => (chunk, encoding, done) => {
      if (this.#print === 'pipe') return this.#write.call(stream, chunk, encoding, done);
      if (this.#print !== null) sendPrint(this.#print, from, chunk, encoding);
      const then = typeof encoding === 'function' ? encoding : done;
      if (typeof then === 'function') process.nextTick(then);
      return true;
    });
    // If a step shuts an output down its mark does not arrive, and the worker replaces the process.
    for (const stream of this.#streams) stream.on('error', () => {});
    this.#catch();
  }

  /** `send` takes prints as messages; null: they are written to the pipes. */
  begin(send) {
    this.#print = send ?? 'pipe';
    this.#catch();
  }

  /** Again for each step, since the previous one may have replaced it. */
  #catch() {
    for (const [i, stream] of this.#streams.entries()) {
      stream.write = this.#writes[i];
      stream.end = endWithout;
    }
  }

  /** Resolves when the pipes have taken what the step printed. */
  async flushed() {
    for (const stream of this.#streams) {
      while (stream.writableCorked > 0) stream.uncork();
      if (stream.writableLength > 0) await new Promise((sent) => this.#write.call(stream, '', sent));
    }
  }

  /** Prints after this do not belong to the step. */
  end() {
    this.#print = null;
  }

  /** False: the step has closed an output. */
  mark() {
    if (!this.#streams.every((stream) => stream.writable)) return false;
    for (const stream of this.#streams) this.#write.call(stream, this.#mark);
    return true;
  }
}

/** The outputs belong to the process: a step may only write its last output to them. */
function endWithout(...given) {
  const done = given.find((it) => typeof it === 'function');
  const [chunk, encoding] = given.filter((it) => it !== done);
  if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
  if (done !== undefined) process.nextTick(done);
  return this;
}

function sendPrint(send, from, chunk, encoding) {
  const isText = typeof chunk === 'string' && (typeof encoding !== 'string' || /^utf-?8$/i.test(encoding));
  if (isText && chunk.length <= PIECE_BYTES) return send({ t: 'print', from, text: chunk });
  const { buffer, byteOffset, byteLength } = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
  for (let at = 0; at < byteLength; at += PIECE_BYTES) {
    const piece = Buffer.from(buffer, byteOffset + at, Math.min(PIECE_BYTES, byteLength - at));
    // Bytes that are not text, such as a part of a character, are sent as bytes.
    send({ t: 'print', from, ...(isUtf8(piece) ? { text: piece.toString() } : { base64: piece.toString('base64') }) });
  }
}
