// A process that plays workers, given as one JSON argument. Prints a line when all are welcome; ends with its standard
// input.
import { type Played, playWorker } from './played-worker.ts';

const all = JSON.parse(process.argv[2] ?? '[]') as Played[];
let missing = all.length;
const workers = all.map((played) =>
  playWorker(played, () => {
    if (--missing === 0) process.stdout.write('ready\n');
  }),
);
process.stdin.resume().on('close', () => {
  for (const worker of workers) worker.close();
});
