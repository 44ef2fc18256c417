// `methods start`: starts a run on the server.
import { randomUUID } from 'node:crypto';
import { productionMethodId } from '@methods/base/ids';
import { INPUT_FILE_LIMITS } from '@methods/method/file-limits';
import type { JsonObject } from '@methods/method/json';
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { SealedStarts } from '../device/sealed-starts.ts';
import { EXIT, UsageError } from '../errors/command-error.ts';
import { START_WORDS } from '../help-words.ts';
import { givenInputs } from '../local-run/given-inputs.ts';
import { watchToRest } from '../runs/show-server-run.ts';
import { namingValues, type StartedRun, startedRun, unlessStarted } from '../server/run-calls.ts';
import { sendFile } from '../server/send-file.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { startFrom } from './start-from.ts';

export const startCommand: Command = {
  ...START_WORDS,

  async run(line, context) {
    const { output, cwd } = context;
    const [word = ''] = line.operands;
    const key = line.text('key');
    if (key !== undefined && (Array.from(key).length < 8 || Array.from(key).length > 200)) {
      throw new UsageError('--key has 8 to 200 characters');
    }
    const version = line.text('version');
    const from = line.text('from');
    if (from !== undefined && (line.flag('wait') || line.texts('inputs').length > 0)) {
      throw new UsageError('--from replaces --inputs, and waits for no run', 'methods runs list --method METHOD');
    }
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, cwd);
    const method = productionMethodId(id);
    const sealing = await SealedStarts.ifKept(api, context);
    if (from !== undefined) return startFrom(api, { file: from, method, version, key: key ?? '', sealing }, context);
    const ownKey = key ?? randomUUID();
    const { values: inputs } = await givenInputs(line.texts('inputs'), context, INPUT_FILE_LIMITS, (file) =>
      sealing === null ? sendFile(api, file, ownKey) : sealing.sendFile(file, ownKey),
    );
    const body = {
      method,
      inputs,
      idempotency_key: ownKey,
      ...(version === undefined ? {} : { version }),
    };
    const value = await started(api, sealing, body).catch((error: unknown) => {
      const again = key === undefined ? `with  --key ${ownKey},  which starts` : 'whose --key starts';
      throw unlessStarted(namingValues(error), `repeat the command ${again} it once`);
    });
    if (line.flag('wait')) return watchToRest(api, value.run_id, context);
    output.document(value);
    output.result(value.run_id);
    output.note(`Watch it with:  methods runs watch ${value.run_id}`);
    return EXIT.done;
  },
};

/** Sends a start as it may be sent. */
async function started(api: ServerApi, sealing: SealedStarts | null, body: JsonObject): Promise<StartedRun> {
  if (sealing === null) return startedRun(api, body);
  for (let sent: JsonObject | null = sealing.sealed(body), grant = 0; ; grant++) {
    try {
      return await startedRun(sealing.api, sent);
    } catch (error) {
      if (!(error instanceof ServerRefusal) || error.code !== 'idempotency_conflict') throw error;
      sent = sealing.earlier(body, grant);
      if (sent === null) throw error;
    }
  }
}
