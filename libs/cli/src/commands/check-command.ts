// `methods check`: the diagnostics of files, without running anything.
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/command-error.ts';
import { CHECK_WORDS } from '../help-words.ts';
import { checkFile } from '../method-file/local-method.ts';
import { diagnosticsText, readMethodFile } from '../method-file/method-file.ts';
import { countOf } from '../terminal/words.ts';

export const checkCommand: Command = {
  ...CHECK_WORDS,

  async run(line, { cwd, output, config }) {
    const files = [];
    for (const name of line.operands) {
      const file = await readMethodFile(name, cwd);
      const diagnostics = await checkFile(file, config);
      const errors = diagnostics.filter((found) => found.severity === 'error').length;
      output.result(diagnosticsText(file, diagnostics, output));
      output.line(`${name}: ${verdict(errors, diagnostics.length - errors)}`);
      files.push({ file: name, ok: errors === 0, diagnostics });
    }
    const ok = files.every((file) => file.ok);
    output.document({ ok, files });
    if (!ok) return EXIT.failed;
    const warned = files.some((file) => file.diagnostics.length > 0);
    return warned && line.flag('strict') ? EXIT.warnings : EXIT.done;
  },
};

function verdict(errors: number, warnings: number): string {
  if (errors + warnings === 0) return 'ok';
  const counts = [countOf(errors, 'error'), countOf(warnings, 'warning')];
  return counts.filter((count) => !count.startsWith('0 ')).join(', ');
}
