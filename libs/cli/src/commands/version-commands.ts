// `methods versions`, `source` and `diff`: the saved versions of a method, by whom and why, their exact texts, and what
// changed between two of them.
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/command-error.ts';
import { getMethod, getSource, type ServerVersion, versionNamed } from '../server/method-calls.ts';
import { noteMore, PAGE_OPTIONS, readPage } from '../server/page.ts';
import { showDifference, unifiedDifference } from '../terminal/difference.ts';
import { table, tableWidth } from '../terminal/table.ts';
import { timeOf } from '../terminal/words.ts';

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

export const sourceCommand: Command = {
  name: 'source',
  usage: 'METHOD [--version VERSION] [--server URL]',
  summary: 'Print the exact text of a saved version',
  options: {
    version: { value: 'VERSION', help: 'ver_…, published or current; default current' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: [
    'methods source wf_01kac0t6xgy9s2m4n8p3q5r7v1 > refund-order.method',
    'methods source Greet --version published',
  ],

  async run(line, context) {
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, line.operands[0] ?? '', context.cwd);
    const asked = line.text('version');
    const version = await getSource(api, id, asked === undefined ? null : await versionNamed(api, id, asked));
    context.output.document(version);
    // Adds not even a line feed at the end, since the version is its bytes.
    if (!context.output.json) context.output.streams.stdout.write(version.source);
    return EXIT.done;
  },
};

export const diffCommand: Command = {
  name: 'diff',
  usage: 'METHOD VERSION VERSION [--server URL]',
  summary: 'Show what changed between two versions, as a unified difference',
  details: ['A VERSION is ver_…, published or current. Nothing is printed where both hold the same text.'],
  options: { ...SERVER_OPTIONS },
  operands: { min: 3, max: 3, word: 'METHOD and two VERSIONs' },
  examples: ['methods diff refund-order.method published current', 'methods diff Greet published current --json'],

  async run(line, context) {
    const { output } = context;
    const [word = '', before = '', after = ''] = line.operands;
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, context.cwd);
    const [from, to] = await Promise.all(
      [before, after].map(async (version) => getSource(api, id, await versionNamed(api, id, version))),
    );
    if (from === undefined || to === undefined) return EXIT.failed;
    const difference = unifiedDifference(from.source, to.source, [from.version_id, to.version_id]);
    output.document({
      method_id: id,
      from: from.version_id,
      to: to.version_id,
      changed: difference !== '',
      difference,
    });
    // Unchanged for `patch`; on a terminal nothing in it may act on the screen.
    if (output.streams.stdout.isTTY) output.result(showDifference(difference, output));
    else output.result(difference);
    return EXIT.done;
  },
};
