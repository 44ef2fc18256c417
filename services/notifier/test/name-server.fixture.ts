// A real name server for tests, over UDP on loopback: gives a configured answer for each name, or none.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** `null`: no reply. An empty list: the name does not exist. */
export type NameAnswers = (name: string) => { readonly addresses: readonly string[]; readonly ttlS: number } | null;

export interface TestNameServer extends AsyncDisposable {
  /** As `setServers` takes it. */
  readonly address: string;
  /** Names asked for, with the type of record, in order. */
  readonly questions: readonly string[];
}

const A = 1;

export async function nameServer(answers: NameAnswers): Promise<TestNameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = questionOf(message);
    questions.push(`${type === A ? 'A' : 'AAAA'} ${name}`);
    const answer = answers(name);
    if (answer !== null) socket.send(replyTo(message, end, type === A ? answer.addresses : [], answer), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async [Symbol.asyncDispose]() {
      socket.close();
    },
  };
}

function questionOf(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function replyTo(
  question: Buffer,
  end: number,
  records: readonly string[],
  { addresses, ttlS }: { readonly addresses: readonly string[]; readonly ttlS: number },
): Buffer {
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  // A reply, recursion desired and available; 3: the name does not exist.
  head.writeUInt16BE(0x8180 | (addresses.length === 0 ? 3 : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  const record = (address: string) => {
    const fixed = Buffer.alloc(12);
    fixed.writeUInt16BE(0xc00c, 0);
    fixed.writeUInt16BE(A, 2);
    fixed.writeUInt16BE(1, 4);
    fixed.writeUInt32BE(ttlS, 6);
    fixed.writeUInt16BE(4, 10);
    return Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))]);
  };
  return Buffer.concat([head, question.subarray(12, end), ...records.map(record)]);
}
