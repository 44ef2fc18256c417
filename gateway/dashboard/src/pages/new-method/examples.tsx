// The examples of the language, each with what it is for and a preview.
import { Button } from '@mantine/core';
import { SourceEditor } from '../../editor/source-editor.tsx';
import { useGo, useSearchState } from '../../frame/navigate.ts';
import classes from './new-method.module.css';

// Part of this page's own script: they are the files that the documentation shows.
const FILES = import.meta.glob<string>('../../../../../libs/method/examples/*.method', {
  query: '?raw',
  import: 'default',
  eager: true,
});

interface Example {
  readonly name: string;
  readonly purpose: string;
  readonly source: string;
}

const EXAMPLES: readonly Example[] = Object.entries(FILES).map(([path, source]) => ({
  name: /([^/]+)\.method$/.exec(path)?.[1] ?? path,
  purpose: purposeOf(source),
  source,
}));

export function exampleSource(name: string): string {
  return EXAMPLES.find((each) => each.name === name)?.source ?? '';
}

/** Of the comment that an example begins with, or its title. */
function purposeOf(source: string): string {
  const comment = (/^(?:# .*\n)+/.exec(source)?.[0] ?? '')
    .trim()
    .replace(/^# |\n# /g, ' ')
    .trim();
  return comment || (/^(?:title|description): *(.+)$/m.exec(source)?.[1] ?? '');
}

export function Examples() {
  const go = useGo();
  const [search, change] = useSearchState();
  const shown = EXAMPLES.find(({ name }) => name === search.preview) ?? EXAMPLES[0];
  return (
    <div className={classes.examples}>
      <ul className={classes.list} aria-label="Examples">
        {EXAMPLES.map(({ name, purpose }) => (
          <li key={name}>
            <button type="button" aria-pressed={name === shown?.name} onClick={() => change({ preview: name }, false)}>
              <strong>{name}</strong>
              <span>{purpose}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown !== undefined && (
        <section className={classes.preview} aria-label="Preview">
          <div className={classes.head}>
            <h2>{shown.name}</h2>
            <Button size="xs" onClick={() => go('/methods/new', { from: 'example', example: shown.name })}>
              Begin with it
            </Button>
          </div>
          <SourceEditor key={shown.name} text={shown.source} label={`Preview of ${shown.name}`} isReadOnly />
        </section>
      )}
    </div>
  );
}
