// What the libraries that browsers share make of a source: the same function asks them in Node and in a browser.
import type { readForm } from '@methods/form/field';
import type { readPostedAnswer } from '@methods/form/posted-answer';
import type { compileMethod } from '@methods/method/compile';
import type { upgradeSource } from '@methods/method/upgrade/upgrade-source';

interface PureLibraries {
  readonly compileMethod: typeof compileMethod;
  readonly upgradeSource: typeof upgradeSource;
  readonly readForm: typeof readForm;
  readonly readPostedAnswer: typeof readPostedAnswer;
}

/** As JSON, so that two runtimes can be compared. */
export function findingsOfSource(libraries: PureLibraries, source: string): string {
  const { method, diagnostics } = libraries.compileMethod(source);
  const form = libraries.readForm(method?.inputSchema ?? {});
  const names = form.fields.map(({ name, kind, label }) => ({ name, kind, label }));
  const posted = libraries.readPostedAnswer(form, [['/amount', '12.5']]);
  return JSON.stringify({
    diagnostics,
    names,
    answer: posted.answer,
    faults: [...posted.faults],
    upgraded: libraries.upgradeSource(source),
  });
}
