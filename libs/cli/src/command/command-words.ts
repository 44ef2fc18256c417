// The words a command takes: its name, its options and its operands.

export interface OptionWords {
  /** Word for the value in the help, such as `FILE`; absent: the option is a switch. */
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
  /** Fewest and most arguments that are no options. */
  readonly operands: { readonly min: number; readonly max: number; readonly word: string };
}

/** A command's description. */
export interface CommandHelp extends CommandWords {
  /** One sentence without its full stop. */
  readonly summary: string;
  /** More lines for its own help. */
  readonly details?: readonly string[];
  readonly examples: readonly [string, string];
}
