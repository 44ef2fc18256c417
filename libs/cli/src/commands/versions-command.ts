// `methods versions`: lists the saved versions of a method, by whom and why.
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { getMethod, type ServerVersion } from '../server/method-calls.ts';
import { noteMore, PAGE_OPTIONS, readPage } from '../server/page.ts';
import { table, tableWidth } from '../terminal/table.ts';
import { timeOf } from '../terminal/time-of.ts';

export const versionsCommand: Command = {
  name: 'versions',
  usage: 'METHOD [--limit N] [--cursor CURSOR] [--server URL]',
  summary: "List a method's versions, newest first",
  options: { ...PAGE_OPTIONS, ...SERVER_OPTIONS },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: ['methods versions refund-order.method', 'methods versions wf_01kac0t6xgy9s2m4n8p3q5r7v1 --json'],

  async run(line, context) {
    const { output } = context;
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, line.operands[0] ?? '', context.cwd);
    const page = await readPage<ServerVersion>(api, `/api/methods/${id}/versions`, line);
    output.document(page);
    if (output.json) return EXIT.done;
    const { published_version: published } = await getMethod(api, id);
    const rows = page.items.map((version) => [
      version.version_id,
      timeOf(version.created_at),
      version.created_by?.name ?? '-',
      version.version_id === published ? 'published' : '',
      version.reason,
    ]);
    output.result(table(['VERSION', 'SAVED', 'BY', '', 'REASON'], rows, tableWidth(output)).join('\n'));
    noteMore(page, output);
    return EXIT.done;
  },
};
