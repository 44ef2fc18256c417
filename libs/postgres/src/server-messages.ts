// Reads a server's first messages on a connection: its session, or that there will be none (protocol 3.0: each message
// is a type, a length, and its content).

const BYTES_MAX = 16 * 1024;
const BACKEND_KEY_DATA = 0x4b;
const ERROR_RESPONSE = 0x45;

export interface Session {
  readonly pid: number;
  readonly secret: number;
}

export class Greeting {
  private bytes: Buffer | null = Buffer.alloc(0);
  /** Null: not yet known, or never. */
  session: Session | null = null;
  /** The server wants no session: it is starting, stopping or full, or it refuses the caller. */
  refused = false;

  hear(chunk: Buffer): void {
    if (this.bytes === null) return;
    this.bytes = Buffer.concat([this.bytes, chunk]);
    this.read(this.bytes);
    if (this.session !== null || this.refused || this.bytes.length > BYTES_MAX) this.bytes = null;
  }

  private read(bytes: Buffer): void {
    for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
      if (bytes[at] === ERROR_RESPONSE) this.refused = true;
      if (bytes[at] !== BACKEND_KEY_DATA || at + 13 > bytes.length) continue;
      this.session = { pid: bytes.readUInt32BE(at + 5), secret: bytes.readUInt32BE(at + 9) };
      return;
    }
  }
}
