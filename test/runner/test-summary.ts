// Reads the closing lines of Node's test reporter from its output and adds them up over several runs.
import { stripVTControlCharacters } from 'node:util';

const FIELDS = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'] as const;
const LINE = new RegExp(`^ℹ (${FIELDS.join('|')}) ([0-9.]+)$`);

export class TestSummary {
  private readonly totals = new Map<string, number>();

  /** Takes one line of a reporter's output; ignores all but the closing ones. */
  read(line: string): void {
    const [, field, value] = LINE.exec(stripVTControlCharacters(line)) ?? [];
    if (field !== undefined) this.totals.set(field, (this.totals.get(field) ?? 0) + Number(value));
  }

  /** In the reporter's own form. */
  lines(): string[] {
    return FIELDS.map((field) => `ℹ ${field} ${this.totals.get(field) ?? 0}`);
  }
}
