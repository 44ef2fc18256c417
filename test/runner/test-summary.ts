// Reads the closing lines of Node's test reporter from its output: adds up the counts of several runs, and keeps what
// each says of its failed tests, which else is found only far above the end of the output.
import { stripVTControlCharacters } from 'node:util';

const FIELDS = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'] as const;
const LINE = new RegExp(`^ℹ (${FIELDS.join('|')}) ([0-9.]+)$`);
const FAILURES = '✖ failing tests:';
/** What CI keeps of an output is its end: room for some failures and the counts. */
const FAILURE_LINES_MAX = 200;

export class TestSummary {
  private readonly totals = new Map<string, number>();
  private readonly failed: string[] = [];
  private inFailures = false;

  /** The lines that follow are of another run of the reporter. */
  beginRun(): void {
    this.inFailures = false;
  }

  /** Takes one line of a reporter's output; ignores all but the closing ones. */
  read(line: string): void {
    const plain = stripVTControlCharacters(line);
    if (this.inFailures) this.failed.push(line);
    else if (plain === FAILURES) this.inFailures = true;
    const [, field, value] = LINE.exec(plain) ?? [];
    if (field !== undefined) this.totals.set(field, (this.totals.get(field) ?? 0) + Number(value));
  }

  /** In the reporter's own form. */
  lines(): string[] {
    return FIELDS.map((field) => `ℹ ${field} ${this.totals.get(field) ?? 0}`);
  }

  /** What the reporter said of the failed tests of all runs, the first lines of it. */
  failures(): string[] {
    return this.failed.slice(0, FAILURE_LINES_MAX);
  }
}
