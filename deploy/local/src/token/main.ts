// `npm run token`: prints an access token of a running local stack, for scripts and tests. Every fault of an option is
// one sentence.

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StackError } from '../embedded/stack-error.ts';
import type { TokenRequest } from '../identity/token-request.ts';
import { chooseStack, fetchToken } from './running-stack.ts';

interface TokenOptions extends TokenRequest {
  /** null: the only stack that runs. */
  readonly dataDir: string | null;
}

class TokenUsageError extends Error {
  override readonly name = 'TokenUsageError';
}

const tokenUsage = `Usage: npm run --silent token -- [options]

Prints an access token of a running local stack, good for 15 minutes.

  --org NAME         the organization (default: Local, the stack's own)
  --user MAIL        who acts (default: developer@example.com)
  --audience A       machine: the HTTP API and the command line (default); mcp: the MCP endpoint
  --role ROLE        viewer, member or admin (default: the service decides)
  --data-dir DIR     which stack, where several run
`;

const TEXT = { type: 'string' } as const;

/** @throws TokenUsageError */
function readTokenOptions(args: readonly string[], cwd: string): TokenOptions | 'help' {
  const values = parsed(args);
  if (values.help === true) return 'help';
  const text = (name: string, otherwise: string) => {
    const value = values[name] ?? otherwise;
    if (typeof value !== 'string' || (value === '' && otherwise !== ''))
      throw new TokenUsageError(`--${name} takes a value.`);
    return value;
  };
  const audience = text('audience', 'machine');
  if (audience !== 'machine' && audience !== 'mcp') throw new TokenUsageError('--audience is machine or mcp.');
  const dataDir = text('data-dir', '');
  return {
    organization: text('org', 'Local'),
    email: text('user', 'developer@example.com'),
    role: text('role', ''),
    audience,
    dataDir: dataDir === '' ? null : resolve(cwd, dataDir),
  };
}

function parsed(args: readonly string[]): Record<string, string | boolean | undefined> {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        org: TEXT,
        user: TEXT,
        audience: TEXT,
        role: TEXT,
        'data-dir': TEXT,
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new TokenUsageError(error instanceof Error ? `${error.message.split('. ')[0]}.` : 'Unknown option.');
  }
}

async function main(): Promise<void> {
  const options = readTokenOptions(process.argv.slice(2), process.env.INIT_CWD ?? process.cwd());
  if (options === 'help') {
    process.stdout.write(tokenUsage);
    return;
  }
  const token = await fetchToken(chooseStack(options.dataDir), options);
  process.stdout.write(`${token}\n`);
}

main().catch((error: unknown) => {
  const usage = error instanceof TokenUsageError;
  const text = error instanceof Error ? (usage || error instanceof StackError ? error.message : error.stack) : error;
  process.stderr.write(`${text}\n${usage ? `\n${tokenUsage}` : ''}`);
  process.exitCode = usage ? 2 : 1;
});
