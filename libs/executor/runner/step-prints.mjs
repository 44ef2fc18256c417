// What steps print. At the end of a step a mark goes down each of the two pipes, so that the worker separates its prints from
// those of the next step. Code that is contained can print by `console` and by no other way, so what it prints travels as
// messages of its step, and needs no mark.
import { isUtf8 } from 'node:buffer';
import { Writable } from 'node:stream';

/** Of what is printed, in a message. */
const PIECE_BYTES = 64 * 1024;

export class StepPrints {
  #mark;
  #streams;
  #writes;
  /** Kept here: a step may change its own. */
  #write = Writable.prototype.write;
  /** Of the step at work; null: there is none, and what is printed is of no step. */
  #print = null;

  /** `token`: what the worker knows marks by. Opens both now: their pipes would else look like what a step left behind. */
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
    // A step that shuts an output down: its mark does not come, and the worker replaces the process.
    for (const stream of this.#streams) stream.on('error', () => {});
    this.#catch();
  }

  /** `send` takes prints as messages; null: they go down the pipes. */
  begin(send) {
    this.#print = send ?? 'pipe';
    this.#catch();
  }

  /** Again for each step: the one before may have put something else there. */
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

  /** After this no print is of the step. */
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

/** The outputs are the process's: as a step's last word, and no more. */
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
    // Bytes that are no text, such as a part of a character, travel as what they are.
    send({ t: 'print', from, ...(isUtf8(piece) ? { text: piece.toString() } : { base64: piece.toString('base64') }) });
  }
}
