// `methods rename`: changes the name that people see. Ids and files keep theirs.
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { UsageError } from '../errors/command-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import type { ServerMethod } from '../server/method-calls.ts';
import { plainText } from '../terminal/plain-text.ts';

const NAME_CHARACTERS_MAX = 200;

export const renameCommand: Command = {
  name: 'rename',
  usage: 'METHOD NAME [--server URL]',
  summary: 'Give a method another display name',
  options: { ...SERVER_OPTIONS },
  operands: { min: 2, max: 2, word: 'METHOD and a NAME' },
  examples: ['methods rename refund-order.method "Refund an order"', 'methods rename "Greet" "Greet a customer"'],

  async run(line, context) {
    const [word = '', name = ''] = line.operands;
    if (name.trim() === '' || name.length > NAME_CHARACTERS_MAX) {
      throw new UsageError(`a name has 1 to ${NAME_CHARACTERS_MAX} characters`);
    }
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, context.cwd);
    const change = { display_name: name };
    const { value: method } = await api.send<ServerMethod>('PATCH', `/api/methods/${id}`, change, { idempotent: true });
    context.output.document(method);
    context.output.line(`${method.production_id} is called "${plainText(method.display_name)}" now.`);
    return EXIT.done;
  },
};
