// `methods offer`: offers a method to agents as a separate tool, or withdraws it.
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/exit-code.ts';
import type { ServerMethod } from '../server/method-calls.ts';
import { plainText } from '../terminal/plain-text.ts';

export const offerCommand: Command = {
  name: 'offer',
  usage: 'METHOD [--off] [--server URL]',
  summary: 'Offer a published method to agents as a tool of its own',
  details: [
    'Agents that are connected to the server then have the tool run_NAME with the inputs of the published version. It',
    'starts runs in the name of the person whose agent calls it. Admins only; at most 100 methods. --off takes it back.',
  ],
  options: { off: { help: 'agents no longer get it' }, ...SERVER_OPTIONS },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: ['methods offer refund-order.method', 'methods offer "Refund an order" --off'],

  async run(line, context) {
    const [word = ''] = line.operands;
    const offered = !line.flag('off');
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, context.cwd);
    const change = { offer_to_agents: offered };
    const { value: method } = await api.send<ServerMethod>('PATCH', `/api/methods/${id}`, change, { idempotent: true });
    const name = `${plainText(method.display_name)} (${method.production_id})`;
    context.output.document(method);
    context.output.line(`${name} is ${offered ? 'offered' : 'no longer offered'} to agents.`);
    if (!offered || method.published_version !== null) return EXIT.done;
    context.output.note(`warning: no version of it is published; agents get it after  methods publish wf_${id}`);
    return EXIT.warnings;
  },
};
