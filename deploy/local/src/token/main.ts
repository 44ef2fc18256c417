// `npm run token`: prints an access token of a running local stack, for scripts and tests.
import { StackError } from '../embedded/stack-error.ts';
import { chooseStack, fetchToken } from './running-stack.ts';
import { readTokenOptions, TokenUsageError, tokenUsage } from './token-options.ts';

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
