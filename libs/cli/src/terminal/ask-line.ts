// Asks for one plain line on the terminal, for a question without a form.
import { createInterface } from 'node:readline/promises';
import type { Output } from './output.ts';

/** Without the spaces around it; null: the input ended. @throws the signal's reason */
export async function askLine(question: string, output: Output, signal: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input: output.streams.stdin, output: output.streams.stdout });
  // In this mode Ctrl-C arrives as a key, and must act as it does elsewhere.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // The question itself waits indefinitely if the input ends.
  const ended = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
  try {
    const line = await Promise.race([lines.question(question, { signal }), ended]);
    return line === null ? null : line.trim();
  } finally {
    lines.close();
  }
}
