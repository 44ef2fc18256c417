// The time from a question's commit until its mail is handed over to an SMTP server, which this process plays. One question
// at a time, so that none waits for the work of another.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { openPool } from '@methods/postgres/pool';
import { startBenchStack } from './bench-stack.ts';
import type { WorkloadResult } from './report.ts';
import { RunCaller } from './run-caller.ts';

const QUESTIONS = 200;
const MAILED_WITHIN_MS = 60_000;

export async function measureMailedQuestions(scale: number): Promise<WorkloadResult> {
  const mails = new MailTimes();
  const SMTP_URL = await mails.start();
  const stack = await startBenchStack(['--workers', '1'], '', { SMTP_URL, MAIL_FROM: 'bench@local.example' });
  const sql = openPool({ url: stack.postgresUrl, applicationName: 'bench', max: 1, statementTimeoutMs: 60_000 });
  const caller = new RunCaller(stack, 1);
  const tookMs: number[] = [];
  try {
    const questions = Math.max(5, Math.ceil(QUESTIONS * scale));
    for (let n = 0; n < questions; n++) {
      // One person gets few mails an hour.
      await sql`delete from notifier.mail_counts`;
      const mailed = mails.next();
      const { run_id: runId } = await caller.post('mailed-question', '?wait_ms=30000', { inputs: {} });
      const mailedAtMs = await mailed;
      const [row] = await sql<{ asked_at_ms: number }[]>`
        select asked_at_ms::float8 as asked_at_ms from scheduler.questions where run_id = ${runId}`;
      tookMs.push(mailedAtMs - (row?.asked_at_ms ?? Number.NaN));
    }
  } finally {
    await caller.close();
    await sql.end({ timeout: 1 });
    await stack.stop();
    await mails.stop();
  }
  const sorted = tookMs.sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(0);
  const note = `from a question to its mail at the SMTP server: median ${at(0.5)} ms, p95 ${at(0.95)} ms, ${sorted.length} questions`;
  return { measurements: [], notes: [note] };
}

/** As much of SMTP as a sender without sign-in and TLS needs. */
class MailTimes {
  private readonly server: Server = createServer((socket) => {
    let rest = '';
    let inMail = false;
    socket.on('error', () => {});
    socket.write('220 bench\r\n');
    socket.on('data', (chunk) => {
      const lines = `${rest}${chunk.toString('latin1')}`.split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (inMail && line !== '.') continue;
        if (inMail) this.came?.(Date.now());
        inMail = !inMail && line === 'DATA';
        socket.write(inMail ? '354 mail\r\n' : '250 ok\r\n');
      }
    });
  });
  private came: ((atMs: number) => void) | null = null;

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `smtp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** When the next mail has come. */
  next(): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no mail came')), MAILED_WITHIN_MS);
      this.came = (atMs) => {
        clearTimeout(timer);
        resolve(atMs);
      };
    });
  }

  async stop(): Promise<void> {
    this.server.close();
    await once(this.server, 'close');
  }
}
