// `methods whoami`: shows who is signed in, where, and in which role.
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { type CallerFacts, callerWords, showField } from '../server/server-facts.ts';

export const whoamiCommand: Command = {
  name: 'whoami',
  usage: '[--server URL]',
  summary: 'Show who is signed in, in which organization and role',
  options: SERVER_OPTIONS,
  operands: { min: 0, max: 0, word: 'argument' },
  examples: ['methods whoami', 'methods whoami --json'],

  async run(line, context) {
    const { output } = context;
    const server = await openServer(line, context);
    const caller = await server.get<CallerFacts>('/api/whoami');
    output.document(caller);
    output.result(callerWords(caller));
    showField(output, 'server', server.baseUrl);
    if (server.facts.issuer !== null) showField(output, 'issuer', server.facts.issuer);
    showField(output, 'by', BY[server.credentialKind('/api/')]);
    return EXIT.done;
  },
};

const BY = {
  'sign-in': 'your sign-in',
  'local-stack': 'the local stack on this machine, without a sign-in',
  'service-key': 'SERVICE_API_KEY',
  none: 'nothing',
} as const;
