// The words that a command takes: its name, its options and its operands; and its help.

export interface OptionWords {
  /** The name of the value in the help, such as `FILE`; absent: the option is a switch. */
  readonly value?: string;
  readonly short?: string;
  /** May be given several times. */
  readonly many?: true;
  readonly help: string;
}

export interface CommandWords {
  readonly name: string;
  /** Arguments as the help shows them, such as `FILE… [--strict]`. */
  readonly usage: string;
  readonly options: Readonly<Record<string, OptionWords>>;
  readonly operands: {
    /** The minimum and maximum of arguments that are not options. */
    readonly min: number;
    readonly max: number;
    readonly word: string;
    /** The words the first one may be, such as `create`; absent: any. */
    readonly choices?: readonly string[];
  };
}

/** A command's description. */
export interface CommandHelp extends CommandWords {
  /** One sentence without its full stop. */
  readonly summary: string;
  /** More lines for its own help. */
  readonly details?: readonly string[];
  readonly examples: readonly [string, string];
}

/** Every command has them. */
export const COMMON_OPTIONS = {
  json: { help: 'print one JSON document and nothing else' },
  quiet: { short: 'q', help: 'print results and errors only' },
  debug: { help: 'show where in the program an error comes from' },
  help: { short: 'h', help: 'show this help' },
} as const satisfies Readonly<Record<string, OptionWords>>;
