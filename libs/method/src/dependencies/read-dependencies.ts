// Owns the top-level `dependencies`: what a worker must have, or prepare, before the method can run on it.
import type { ExactPackage, MethodDependencies } from '../compiled-method.ts';
import type { Findings } from '../source/findings.ts';
import { isEmptyNode, type SourceEntry, type SourceMap } from '../source/source-node.ts';
import { checkKeys } from '../structure/check-keys.ts';
import { DEPENDENCY_KEYS } from './dependency-keys.ts';
import { NPM, type PackageNotation, PIP } from './exact-packages.ts';

const ENTRIES_MAX = 100;
// No registry has packages with longer names; the patterns never see them.
const ENTRY_CHARACTERS_MAX = 300;
const RUNTIME_VERSION = /^\d{1,3}(?:\.\d{1,5}){0,2}$/;
const COMMAND = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/;

/** Reads `dependencies`; without the key nothing is needed. */
export function readDependencies(findings: Findings, entry: SourceEntry | undefined): MethodDependencies {
  const map = entry?.value.kind === 'map' ? entry.value : undefined;
  if (entry && !map && !isEmptyNode(entry.value)) {
    findings.add('M701', 'dependencies is a mapping', 'dependencies', entry.value.range, {
      hint: `for example  dependencies: { npm: [${NPM.example}] }`,
    });
  }
  if (map) checkKeys(findings, map, DEPENDENCY_KEYS, 'dependencies');
  return {
    node: readRuntime(findings, map, 'node', '20'),
    python: readRuntime(findings, map, 'python', '3.11'),
    npm: readPackages(findings, map, 'npm', NPM),
    pip: readPackages(findings, map, 'pip', PIP),
    commands: readCommands(findings, map),
  };
}

/** The lowest version of a runtime. Numbers count in the author's spelling: 3.10 is not 3.1. */
function readRuntime(findings: Findings, map: SourceMap | undefined, key: string, example: string): string | null {
  const node = map?.entries.get(key)?.value;
  if (!node) return null;
  const text = node.kind === 'scalar' ? node.text : '';
  if (RUNTIME_VERSION.test(text)) return text;
  const bare = /^[>=^~v ]+(\d[\d.]{0,12})$/.exec(text.slice(0, 40))?.[1];
  findings.add('M701', `${key} is the lowest version that serves`, `dependencies.${key}`, node.range, {
    hint: `write  ${key}: ${bare ?? example}`,
  });
  return null;
}

function readPackages(
  findings: Findings,
  map: SourceMap | undefined,
  key: 'npm' | 'pip',
  notation: PackageNotation,
): ExactPackage[] {
  const packages = new Map<string, ExactPackage>();
  for (const { text, path, range } of itemsOf(findings, map, key, notation.example)) {
    const found = text.length > ENTRY_CHARACTERS_MAX ? undefined : notation.split(text);
    const same = found && notation.sameAs(found.name);
    if (!found || same === undefined) {
      findings.add('M701', `this is not the name of a package of ${key}`, path, range, {
        hint: `for example  ${notation.example}`,
      });
    } else if (!notation.isExact(found.version)) {
      const digits = /\d+(?:\.\d+){2}/.exec(found.version)?.[0] ?? '1.2.3';
      findings.add('M702', `${found.name} needs one exact version`, path, range, {
        hint: `write  ${found.name}${notation.mark}${digits}`,
      });
    } else if (packages.has(same)) {
      findings.add('M003', `the package ${found.name} is listed twice`, path, range, { hint: 'remove one of the two' });
    } else packages.set(same, found);
  }
  return [...packages.values()];
}

function readCommands(findings: Findings, map: SourceMap | undefined): string[] {
  const commands = new Set<string>();
  for (const { text, path, range } of itemsOf(findings, map, 'commands', 'git')) {
    if (COMMAND.test(text)) commands.add(text);
    else
      findings.add('M701', 'this is not the name of a command', path, range, {
        hint: 'a name on PATH such as git, without folder or options',
      });
  }
  return [...commands];
}

/** The texts of a list, at most 100. */
function* itemsOf(findings: Findings, map: SourceMap | undefined, key: string, example: string) {
  const entry = map?.entries.get(key);
  if (!entry) return;
  const at = `dependencies.${key}`;
  if (entry.value.kind !== 'list') {
    findings.add('M701', `${key} is a list`, at, entry.value.range, { hint: `for example  ${key}: [${example}]` });
    return;
  }
  if (entry.value.items.length > ENTRIES_MAX)
    findings.add('M803', `${key} has at most ${ENTRIES_MAX} entries`, at, entry.keyRange);
  for (const [index, item] of entry.value.items.slice(0, ENTRIES_MAX).entries()) {
    yield { text: item.kind === 'scalar' ? item.text : '', path: `${at}[${index}]`, range: item.range };
  }
}
