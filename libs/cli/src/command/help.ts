// The layout of `--help`, and where it goes.
import type { HelpConfiguration, OutputConfiguration } from 'commander';

/** The process's own, or what is used in their place. */
export type HelpStreams = Pick<NodeJS.Process, 'stdout' | 'stderr'>;

export const HELP_LAYOUT: HelpConfiguration = {
  commandUsage: (command) => [command.parent?.name() ?? '', command.name(), command.usage()].join(' ').trim(),
  optionTerm: ({ flags }) => flags.replace(/<(.*)>$/s, '$1'),
  subcommandTerm: (command) => command.name(),
};

/** Lines are folded on a terminal only. */
export function helpOutput({ stdout, stderr }: HelpStreams): OutputConfiguration {
  const widthOf = (stream: NodeJS.WriteStream) => (stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY);
  return {
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    // Errors of the line are printed as all others are.
    outputError: () => {},
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
  };
}
