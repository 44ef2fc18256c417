// The table of tools in docs/agents.md, made of the tools themselves. `npm run generate:agents` writes it; a test
// compares.
import { ALL_TOOLS } from '@methods/gateway/mcp/tools/all-tools';

export const AGENTS_PAGE = 'docs/agents.md';

const BEGIN = '<!-- Begin of what `npm run generate:agents` writes. -->';
const END = '<!-- End of what `npm run generate:agents` writes. -->';

/** Markdown, without the markers. */
export function toolTable(): string {
  const rows = ALL_TOOLS.map(({ name, access, hints, description }) => {
    const [first = ''] = /^.*?\.(?= |$)/.exec(description) ?? [];
    return [`\`${name}\``, access, hints.readOnly ? '' : hints.destructive ? 'yes, with care' : 'yes', first];
  });
  const head = ['Tool', 'Role', 'Changes', 'Does'];
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** The page with this table between its markers. @throws Error where the markers are missing */
export function withToolTable(page: string, table: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`${AGENTS_PAGE} has no place for the tools`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`;
}
