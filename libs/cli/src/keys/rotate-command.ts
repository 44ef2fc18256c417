// `methods keys rotate`: run where the old key is, it makes the key that takes its place.
import { openServer } from '../chosen-server/open-server.ts';
import type { CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, EXIT, type ExitCode } from '../errors/command-error.ts';
import { withFileLock } from '../files/file-lock.ts';
import { hintIfUncertain } from '../server/server-refusal.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { checkedKeyId } from './key-calls.ts';
import { keyOfFile, localKey } from './local-key.ts';
import { type Rotated, rotateKey } from './rotate-key.ts';
import { UnfinishedRotations } from './unfinished-rotations.ts';

export async function rotate(line: CommandLine, context: CommandContext, word: string): Promise<ExitCode> {
  const { config, cwd, output, interrupted } = context;
  const id = checkedKeyId(word);
  const file = line.text('key-file');
  const api = await openServer(line, context);
  const key = await (file === undefined ? localKey(context, api.baseUrl) : keyOfFile(file, cwd));
  if (key === null) {
    const hint = 'run it where SERVICE_API_KEY or .env has the old key, or name its file with --key-file';
    throw new CommandError('no_key', `the old key ${id} is not here`, { hint });
  }
  const unfinished = new UnfinishedRotations(config.stateDir, api.baseUrl, id);
  return withFileLock(unfinished.lock, interrupted, async () => {
    const rotated = await rotateKey(api, { id, key }, line.text('name'), unfinished).catch(
      hintIfUncertain(repeatHint(id)),
    );
    output.ifLost = repeatHint(id);
    show(rotated, id, output);
    // After it was shown: a repeat of an interrupted rotation shows the same key.
    await output.written();
    output.ifLost = null;
    await unfinished.forget();
    showNext(rotated, id, output);
    return rotated.lost.length > 0 ? EXIT.warnings : EXIT.done;
  });
}

function repeatHint(id: string): string {
  return `run  methods keys rotate ${id}  again: it continues with the same new key`;
}

function show({ keyId, name, serviceKey, webhookSecret, granted, lost }: Rotated, oldId: string, output: Output): void {
  output.document({
    key: { id: keyId, name },
    service_key: serviceKey,
    webhook_secret: webhookSecret,
    rotated: oldId,
    content_granted: granted,
    content_lost: lost,
  });
  output.line(`Made the key "${plainText(name)}" (${keyId}), which opens the runs that ${oldId} sealed.`);
  if (granted.length > 1) output.line(`It also opens those of ${granted.slice(1).join(', ')}.`);
  for (const id of lost) {
    output.note(`It does not open the runs of ${id}: that grant does not open, or 20 newer keys are before it.`);
  }
  output.line('This is shown once:');
  output.result(`SERVICE_API_KEY=${serviceKey}${webhookSecret === null ? '' : `\nWEBHOOK_SECRET=${webhookSecret}`}`);
}

function showNext({ keyId, webhookSecret }: Rotated, oldId: string, output: Output): void {
  if (webhookSecret === null) output.line(`It needs a webhook secret:  methods keys webhook-secret ${keyId}`);
  output.line();
  output.line('Next:');
  output.line('1. Put SERVICE_API_KEY in the place of the old one, where apps and workers run, and start them again.');
  output.line('   Webhooks of new runs are signed with WEBHOOK_SECRET, those of earlier runs with the old secret.');
  output.line(`2. When nothing uses the old key any more (methods keys list):  methods keys revoke ${oldId}`);
  output.line('   Runs that wait are not lost by that: the new key continues them.');
}
