// Imports point one way. .dependency-cruiser.json holds the arrows between the folders of production code; this holds
// those of tests, of packages' names and of what has no file.
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { codeFiles, type SourceFile, sources } from './source-files.ts';

interface Import {
  readonly from: string;
  /** A package's name and path, or a path from the root. */
  readonly to: string;
}

function importsOf({ path, text }: SourceFile): Import[] {
  const named = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"\n]+)['"]/g;
  return [...text.matchAll(named)].map(([, name = '']) => ({
    from: path,
    to: name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
  }));
}

/** `gateway`, `services/<name>`, `libs/<name>`, `deploy/local` or `test`. */
function packageOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return ['services', 'libs', 'deploy'].includes(first) ? `${first}/${second}` : first;
}

const SERVICES = ['gateway', 'method-registry', 'run-scheduler', 'notifier'];

test('the gateway and the services know each other only through proto', () => {
  const crossing = codeFiles
    .filter(({ path }) => path.startsWith('services/') || path.startsWith('gateway/'))
    .flatMap(importsOf)
    .filter(({ from, to }) => {
      const own = packageOf(from).split('/').at(-1);
      const [scope, name = ''] = to.split('/');
      if (scope === '@methods') return SERVICES.includes(name) && name !== own;
      return /^(services|gateway)\//.test(to) && packageOf(to) !== packageOf(from);
    });
  assert.deepEqual(crossing, []);
});

test('a library knows only libraries', () => {
  const outward = sources
    .filter(({ path }) => path.startsWith('libs/'))
    .flatMap(importsOf)
    .filter(({ to }) => /^@methods\/(gateway|method-registry|run-scheduler|notifier|local-stack|test)\b/.test(to));
  assert.deepEqual(outward, []);
});

test('across packages, imports name the package', () => {
  const reaching = codeFiles
    .flatMap(importsOf)
    .filter(({ from, to }) => /^(services|libs|deploy|gateway|test)\//.test(to) && packageOf(to) !== packageOf(from));
  assert.deepEqual(reaching, []);
});

test('the rules of a run read no clock and no chance', () => {
  const pure = sources.filter(({ path }) => path.startsWith('services/run-scheduler/src/run/'));
  assert.ok(pure.length > 10);
  for (const { path, text } of pure)
    assert.doesNotMatch(text, /Date\.now|new Date|Math\.random|performance|process\./, path);
});

test('the client of NATS is used only in libs/bus', () => {
  const users = sources.flatMap(importsOf).filter(({ to }) => to === 'nats');
  assert.deepEqual(
    users.filter(({ from }) => !from.startsWith('libs/bus/')),
    [],
  );
});
