// How wide a table may be: as wide as the terminal, and whole where programs read it.
import type { Output } from './output.ts';

export function tableWidth(output: Output): number | undefined {
  return output.streams.stdout.isTTY ? output.columns : undefined;
}
