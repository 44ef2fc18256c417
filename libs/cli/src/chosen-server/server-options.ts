// The option of every command that talks to a server.
import type { OptionWords } from '../command/command-words.ts';

/** Spread into a command's options; read by `openServer`. */
export const SERVER_OPTIONS = {
  server: { value: 'URL', help: 'the server; default METHODS_SERVER, the last sign-in, or the local stack' },
} as const satisfies Readonly<Record<string, OptionWords>>;
