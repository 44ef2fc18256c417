import { deepEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Of releases that have no files in steps, or of tables that stay small. */
const BEFORE = /(method-registry.migrations.000[1-5]|notifier.migrations.000[12]|run-scheduler.migrations.000[1-4])\./;

const files = ['method-registry', 'notifier', 'run-scheduler']
  .map((service) => `services/${service}/migrations/`)
  .flatMap((folder) => readdirSync(`${ROOT}${folder}`).map((name) => folder + name))
  .filter((file) => !BEFORE.test(file))
  .map((file) => ({ file, text: readFileSync(`${ROOT}${file}`, 'utf8') }));
const isInSteps = (text: string) => text.startsWith('-- In steps.\n');

test('an index on a table that is there already is made in steps', () => {
  const locking = files
    .filter(({ text }) => !isInSteps(text))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/create (?:unique )?index \S+\s+on (\S+)/g)]
        .filter(([, table]) => !text.includes(`create table ${table} `))
        .map(([statement]) => `${file}: ${statement}`),
    );
  deepEqual(locking, []);
});

test('a file in steps can be repeated: each index is dropped before it is made, and nothing else is made', () => {
  const wrong = files
    .filter(({ text }) => isInSteps(text))
    .flatMap(({ file, text }) => {
      const schema = /services.(?:method-)?(?:run-)?(\w+)/.exec(file)?.[1];
      return [...text.matchAll(/^create .*$/gm)].map(([line]) => {
        const name = /^create (?:unique )?index concurrently (\S+)/.exec(line)?.[1];
        const dropped = `drop index concurrently if exists ${schema}.${name};\n${line}`;
        return text.includes(dropped) ? null : `${file}: ${line}`;
      });
    })
    .filter((line) => line !== null);
  deepEqual(wrong, []);
});
