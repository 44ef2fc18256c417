// `methods keys`: creates, lists and revokes service keys. Secrets are printed once, when they are created.
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import type { Page } from '../server/server-api.ts';
import { plainText } from '../terminal/plain-text.ts';
import { table, tableWidth } from '../terminal/table.ts';
import { timeOf } from '../terminal/words.ts';
import { makeKey, newWebhookSecret, revokeKey, type ServerKey } from './key-calls.ts';
import { rotate } from './rotate-command.ts';

const ACTIONS = { create, list, revoke, rotate, 'webhook-secret': renew } as const;

export const keysCommand: Command = {
  name: 'keys',
  usage:
    'create --name NAME | list | rotate KEY_ID [--key-file FILE] | revoke KEY_ID | webhook-secret KEY_ID [--server URL]',
  summary: 'Make, list, rotate and revoke service keys',
  details: [
    'create prints the key and its webhook secret, once. The key is made on this machine; the server gets a hash of it.',
    'rotate makes the key that takes the place of an old one, and lets it open the runs in device mode that the old one',
    'sealed. It runs where the old key is: in SERVICE_API_KEY, in .env, or in --key-file FILE. After an interruption run it',
    'again: it continues with the same new key. Then deploy that key, and revoke the old one.',
    'webhook-secret gives a key a new webhook secret; the earlier one no longer signs after 30 s.',
  ],
  options: {
    name: { value: 'NAME', help: 'of the new key, such as the app that will use it; rotate keeps that of the old one' },
    'key-file': { value: 'FILE', help: 'has the whole old key, by itself or as SERVICE_API_KEY=…' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 2, word: 'create, list, rotate, revoke or webhook-secret', choices: Object.keys(ACTIONS) },
  examples: [
    'methods keys create --name billing',
    'methods keys rotate key_01kac0t6xgy9s2m4n8p3q5r7v1 --key-file old-key.txt',
  ],

  async run(line, context) {
    const [word = '', id] = line.operands;
    const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word as keyof typeof ACTIONS] : undefined;
    if (action === undefined) {
      throw new UsageError(`keys cannot "${word}"`, `usage: methods keys ${keysCommand.usage}`);
    }
    const takesId = action !== create && action !== list;
    if (takesId && id === undefined) throw new UsageError(`keys ${word} needs a KEY_ID`, 'see  methods keys list');
    if (!takesId && id !== undefined) throw new UsageError(`keys ${word} does not take "${id}"`);
    if (action !== create && action !== rotate && line.text('name') !== undefined) {
      throw new UsageError(`keys ${word} has no option --name`);
    }
    if (action !== rotate && line.text('key-file') !== undefined) {
      throw new UsageError(`keys ${word} has no option --key-file`);
    }
    return action(line, context, id ?? '');
  },
};

async function create(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const name = line.text('name');
  if (name === undefined) throw new UsageError('keys create needs --name NAME', 'methods keys create --name billing');
  const { key, serviceKey, webhookSecret } = await makeKey(await openServer(line, context), name);
  output.ifLost = `no one has the key ${key.id} that was made:  methods keys revoke ${key.id},  and make another one`;
  output.document({ key, service_key: serviceKey, webhook_secret: webhookSecret });
  output.line(`Made the key "${plainText(key.name)}" (${key.id}). This is shown once; keep it where the app runs:`);
  output.result(`SERVICE_API_KEY=${serviceKey}\nWEBHOOK_SECRET=${webhookSecret}`);
  return EXIT.done;
}

async function list(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const api = await openServer(line, context);
  const page = await api.get<Page<ServerKey>>('/api/keys');
  output.document(page);
  const rows = page.items.map((key) => [
    key.id,
    timeOf(key.created_at),
    key.created_by?.name ?? '-',
    key.last_used_at === null ? 'never' : timeOf(key.last_used_at),
    key.revoked_at === null ? '' : `revoked ${timeOf(key.revoked_at)}`,
    key.name,
  ]);
  output.result(table(['ID', 'MADE', 'BY', 'USED', '', 'NAME'], rows, tableWidth(output)).join('\n'));
  if (rows.length === 0) output.note('There are no keys. Make one:  methods keys create --name NAME');
  return EXIT.done;
}

async function revoke(line: CommandLine, context: CommandContext, id: string): Promise<ExitCode> {
  const key = await revokeKey(await openServer(line, context), id);
  context.output.document({ key });
  context.output.line(`Revoked the key "${plainText(key.name)}" (${key.id}). Runs started with it continue.`);
  return EXIT.done;
}

async function renew(line: CommandLine, context: CommandContext, id: string): Promise<ExitCode> {
  const secret = await newWebhookSecret(await openServer(line, context), id);
  context.output.ifLost = `no one has the new secret of ${id}: make another one with the same command`;
  context.output.document({ webhook_secret: secret });
  context.output.line(`${id} has a new webhook secret. This is shown once; keep it where the app runs:`);
  context.output.result(`WEBHOOK_SECRET=${secret}`);
  return EXIT.done;
}
