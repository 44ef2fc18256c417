// `methods start`: starts a run on the server.
import { randomUUID } from 'node:crypto';
import { productionMethodId } from '@methods/base/ids';
import type { Command } from '../command/command.ts';
import { UsageError } from '../command/command-error.ts';
import { EXIT } from '../command/exit-code.ts';
import { readJsonOption } from '../local-run/local-inputs.ts';
import { namingValues, RUNS } from '../runs/server-run.ts';
import { watchToRest } from '../runs/show-server-run.ts';
import { namedMethod } from '../server/named-method.ts';
import { openServer } from '../server/open-server.ts';
import { SERVER_OPTIONS } from '../server/server-options.ts';

export const startCommand: Command = {
  name: 'start',
  usage: 'METHOD [--inputs JSON|@FILE] [--wait] [--key IDEMPOTENCY_KEY] [--version V] [--server URL]',
  summary: 'Start a run of a published method on the server',
  details: [
    'METHOD is an id (wf_…), a saved file or a display name. With --wait the run is shown until it has finished or',
    'waits for an answer (exit code 4). The same --key and values start one run, however often they are sent.',
  ],
  options: {
    inputs: { value: 'JSON|@FILE', help: 'the inputs; @- reads them from standard input' },
    wait: { help: 'watch the run and print its result' },
    key: { value: 'IDEMPOTENCY_KEY', help: '8 to 200 characters; default: a new one' },
    version: { value: 'V', help: 'a version id, ver_…; default: the published one' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: [
    'methods start refund-order.method --inputs \'{"order_id": "ord_1", "amount": 20}\' --wait',
    'methods start wf_01hzy3k9q8m2n4p6r8s0t2v4w6 --inputs @inputs.json --key refund-ord_1 --json',
  ],

  async run(line, context) {
    const { output, cwd } = context;
    const [word = ''] = line.operands;
    const option = line.text('inputs');
    const inputs = option === undefined ? {} : await readJsonOption('--inputs', option, cwd);
    const key = line.text('key');
    if (key !== undefined && (Array.from(key).length < 8 || Array.from(key).length > 200)) {
      throw new UsageError('--key has 8 to 200 characters');
    }
    const version = line.text('version');
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, cwd);
    const body = {
      method: productionMethodId(id),
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
