// `methods list`: the methods of the organization, newest first.
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/command-error.ts';
import type { ServerMethod } from '../server/method-calls.ts';
import { noteMore, PAGE_OPTIONS, readPage } from '../server/page.ts';
import { table, tableWidth } from '../terminal/table.ts';
import { timeOf } from '../terminal/words.ts';

export const listCommand: Command = {
  name: 'list',
  usage: '[--search TEXT] [--limit N] [--cursor CURSOR] [--server URL]',
  summary: 'List the methods of the organization, newest first',
  options: {
    search: { value: 'TEXT', help: 'only those with this in their display name' },
    ...PAGE_OPTIONS,
    ...SERVER_OPTIONS,
  },
  operands: { min: 0, max: 0, word: 'METHOD' },
  examples: ['methods list', 'methods list --search refund --json'],

  async run(line, context) {
    const { output } = context;
    const search = line.text('search');
    const api = await openServer(line, context);
    const page = await readPage<ServerMethod>(api, '/api/methods', line, search === undefined ? {} : { q: search });
    output.document(page);
    const rows = page.items.map((method) => [
      method.production_id,
      stateOf(method),
      timeOf(method.updated_at),
      method.display_name,
    ]);
    output.result(table(['ID', 'STATE', 'CHANGED', 'NAME'], rows, tableWidth(output)).join('\n'));
    if (rows.length === 0)
      output.note(
        search === undefined ? 'There are no methods. Save one:  methods save FILE' : 'There are no such methods.',
      );
    noteMore(page, output);
    return EXIT.done;
  },
};

function stateOf({ status, current_version: current, published_version: published }: ServerMethod): string {
  if (status !== 'ready') return status;
  if (published === null) return current === null ? 'no version' : 'not published';
  return published === current ? 'published' : 'newer saved';
}
