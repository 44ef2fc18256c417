// The files that the guides print: blocks whose fence has a name after the language.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fencedBlocks } from '../docs/fenced-blocks.ts';

const GUIDES = fileURLToPath(new URL('../../docs/guides/', import.meta.url));

const files = new Map(
  readdirSync(GUIDES).flatMap((page) =>
    fencedBlocks({ path: page, text: readFileSync(join(GUIDES, page), 'utf8') }).flatMap(({ info, text }) => {
      const [, name] = info.split(' ');
      return name === undefined ? [] : [[name, text] as const];
    }),
  ),
);

/** The text of a file, word for word. */
export function guideFile(name: string): string {
  const text = files.get(name);
  if (text === undefined) throw new Error(`no guide prints ${name}`);
  return text;
}

export interface ContainerFile {
  readonly image: string;
  /** The shell commands that build it. */
  readonly runs: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly command: readonly string[];
}

/** What of it a worker depends on. */
export function containerFile(): ContainerFile {
  const lines = guideFile('Containerfile')
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n');
  const all = (word: string) =>
    lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const only = (word: string) => {
    const [first, ...others] = all(word);
    if (first === undefined || others.length > 0) throw new Error(`the Containerfile has not one ${word}`);
    return first;
  };
  return {
    image: only('FROM'),
    runs: all('RUN'),
    folder: only('WORKDIR'),
    env: Object.fromEntries(
      only('ENV')
        .split(' ')
        .map((pair) => pair.split('=') as [string, string]),
    ),
    volumes: all('VOLUME'),
    command: JSON.parse(only('CMD')) as string[],
  };
}
