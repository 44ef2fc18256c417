// A process that logs far more than a pipe holds and replies to its parent meanwhile; ends when the parent asks for it.
import { LogOutput } from './log-output.ts';
import { createLogger } from './logger.ts';

const lines = Number(process.argv[2]);
const output = new LogOutput({ waitingBytesMax: 256 << 10 });
const logger = createLogger({ name: 'chatty', destination: output });
for (let line = 0; line < lines; line++) logger.info({ line }, 'x'.repeat(1_000));
process.on('message', (word) => {
  if (word === 'exit') process.exit(0);
  if (word === 'fault') throw new Error('a fault');
  if (word === 'log') logger.info({ line: lines }, 'last');
  process.send?.(word);
});
process.send?.('ready');
