// `methods start`: starts a run on the server.
import { randomUUID } from 'node:crypto';
import { productionMethodId } from '@methods/base/ids';
import { INPUT_FILE_LIMITS } from '@methods/method/file-limits';
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { UsageError } from '../errors/command-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { START_WORDS } from '../help-words.ts';
import { givenInputs } from '../local-run/given-inputs.ts';
import { namingValues, RUNS } from '../runs/server-run.ts';
import { watchToRest } from '../runs/show-server-run.ts';
import { sendFile } from './send-file.ts';
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
    if (from !== undefined) return startFrom(api, { file: from, method, version, key: key ?? '' }, context);
    const { values: inputs } = await givenInputs(line.texts('inputs'), cwd, INPUT_FILE_LIMITS, (file) =>
      sendFile(api, file),
    );
    const body = {
      method,
      inputs,
      idempotency_key: key ?? randomUUID(),
      ...(version === undefined ? {} : { version }),
    };
    const { value } = await api
      .send<{ run_id: string; status: string }>('POST', RUNS, body, { idempotent: true })
      .catch((error: unknown) => {
        throw namingValues(error);
      });
    if (line.flag('wait')) return watchToRest(api, value.run_id, context);
    output.document(value);
    output.result(value.run_id);
    output.note(`Watch it with:  methods runs watch ${value.run_id}`);
    return EXIT.done;
  },
};
