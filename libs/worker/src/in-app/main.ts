// Runs the worker of an application: as a thread of a Node process, whose port carries orders and reports, or as a child
// process of another language, by lines on standard input and output. The child ends when its input does, so it does not
// outlive a parent that was killed.
import { createInterface } from 'node:readline';
import { parentPort } from 'node:worker_threads';
import { applicationEnvironment } from './config.ts';
import { InAppWorker, type Order, type Report } from './in-app-worker.ts';

const AFTER_INPUT_MS = 2_000;

if (parentPort === null) runProcess();
else runThread(parentPort);

function runThread(port: NonNullable<typeof parentPort>): void {
  const worker = new InAppWorker({
    report: (report) => {
      port.postMessage(report);
      if (report.report === 'stopped') port.close();
    },
    environment: applicationEnvironment(),
  });
  port.on('message', (order: Order) => worker.obey(order));
}

function runProcess(): void {
  const report = (each: Report) => {
    process.stdout.write(`${JSON.stringify(each)}\n`, () => {
      if (each.report === 'stopped') process.exit();
    });
  };
  // Nothing reads the reports any more.
  process.stdout.on('error', () => {});
  // A terminal, and many a supervisor, signals the whole group: the parent decides, and may let its runs end first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const worker = new InAppWorker({ report, environment: applicationEnvironment() });
  createInterface({ input: process.stdin })
    .on('line', (line) => worker.obey(JSON.parse(line) as Order))
    .on('close', () => {
      setTimeout(() => process.exit(), AFTER_INPUT_MS).unref();
      void worker.stop();
    });
}
