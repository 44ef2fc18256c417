// Sends and receives JSON lines to and from the worker over file descriptor 3.
import { Socket } from 'node:net';

/** A longer line ends the step that wrote it, or the one after it. */
const LINE_BYTES_MAX = 8 * 1024 * 1024;
/** Stored here, with `parse`, since a step may replace the originals. */
const { stringify, parse } = JSON;
/** The beginning of a plain step's text, which the code's realm parses. */
const PLAIN = '{"t":"plain"';

/**
 * `handlers`: message type to function; `parsePlain` returns the message of a plain step. Ends the process group when
 * the worker is gone.
 */
export function connectWorker(handlers, parsePlain) {
  const socket = new Socket({ fd: 3 });
  let rest = [];
  socket.on('data', (chunk) => {
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      const line = rest.length === 0 ? chunk.toString('utf8', from, to) : joined(rest, chunk.subarray(from, to));
      rest = [];
      from = to + 1;
      const message = line.startsWith(PLAIN) ? parsePlain(line) : parse(line);
      handlers[message.t](message);
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  });
  socket.on('error', leave);
  socket.on('close', leave);
  const sendLines = (lines) => socket.write(lines);
  const sendText = (text) => sendLines(`${text}\n`);
  /** Resolves when all sent bytes have left the process. */
  const flushed = () => (socket.writableLength === 0 ? undefined : new Promise((sent) => socket.write('', sent)));
  return { flushed, sendLines, sendText, send: (message) => sendText(lineOf(message)) };
}

function lineOf(message) {
  const text = stringify(message);
  if (text.length <= LINE_BYTES_MAX / 3 || Buffer.byteLength(text) <= LINE_BYTES_MAX) return text;
  throw Object.assign(new Error('The step sent more than a message may hold'), { stepKind: 'limit' });
}

function joined(parts, last) {
  return Buffer.concat([...parts, last]).toString('utf8');
}

/** There is no one to report to; processes that a step started must end too. */
function leave() {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } finally {
    process.exit(1);
  }
}
