// Attempts lost at any moment: finished steps never run again, and the run ends as if nothing had been lost.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue } from '@methods/method/json';
import fc from 'fast-check';
import type { RunOptions } from '../run-options.ts';
import type { RunOutcome } from '../run-outcome.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

let serial = 0;

/** Steps as source lines, at an indent; names are new for each. */
type Piece = (indent: string) => { lines: string[]; names: string[] };

const leaf: Piece = (indent) => {
  const name = `s${++serial}`;
  return { lines: [`${indent}- { name: ${name}, node: "return {}", out: { n: integer } }`], names: [name] };
};

function holding(head: (name: string) => string[], key: string, inner: readonly Piece[], local: boolean): Piece {
  return (indent) => {
    const name = `g${++serial}`;
    const inside = inner.map((piece) => piece(`${indent}    `));
    const lines = [
      `${indent}- name: ${name}`,
      ...head(name).map((line) => `${indent}  ${line}`),
      `${indent}  ${key}:`,
      ...inside.flatMap((piece) => piece.lines),
    ];
    return { lines, names: local ? [] : inside.flatMap((piece) => piece.names) };
  };
}

const { piece } = fc.letrec<{ piece: Piece }>((tie) => {
  const inner = fc.array(tie('piece'), { minLength: 1, maxLength: 3 });
  return {
    piece: fc.oneof(
      { depthSize: 'small', withCrossShrink: true, maxDepth: 3 },
      fc.constant(leaf),
      inner.map((steps) => holding(() => [], 'steps', steps, false)),
      inner.map((steps) => holding(() => [], 'parallel', steps, false)),
      fc
        .tuple(inner, fc.integer({ min: 1, max: 3 }))
        .map(([steps, lanes]) =>
          holding((name) => ['each: inputs.list', `as: of_${name}`, `at_once: ${lanes}`], 'steps', steps, true),
        ),
      inner.map((steps) => holding(() => ['repeat: { until: inputs.never, max: 2 }'], 'steps', steps, true)),
    ),
  };
});

const runs = fc.record({
  pieces: fc.array(piece, { minLength: 1, maxLength: 4 }),
  /** Journal calls of each attempt before it is lost. */
  lives: fc.array(fc.nat({ max: 12 }), { maxLength: 12 }),
  failing: fc.option(fc.nat({ max: 30 }), { freq: 3 }),
});

describe('a run whose attempts are lost', () => {
  it('never runs a finished step again, and ends as one that was never lost', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async ({ pieces, lives, failing }) => {
        serial = 0;
        const built = pieces.map((make) => make('  '));
        const names = built.flatMap((part) => part.names);
        const result = names.length === 0 ? '{}' : `{ ${names.map((name) => `${name}: =steps.${name}.n`).join(', ')} }`;
        const method = methodOf(
          `steps:\n${built.flatMap((part) => part.lines).join('\n')}\nresult: ${result}`,
          'inputs: { list: list<integer>, never: boolean }',
        );
        const begin = (onAct: (path: string) => void) => {
          const options: Partial<RunOptions> = {
            inputs: { list: [1, 2], never: false },
            substitute: async ({ path, step }) => {
              onAct(path);
              await new Promise((resolve) => setImmediate(resolve));
              if (step.name === `s${failing}`) return { error: { kind: 'exit', message: 'fails always' } };
              return { out: { n: path.length as JsonValue } };
            },
          };
          return new Attempts(method, options);
        };
        const whole = await begin(() => {}).run();

        const lossy: Attempts = begin((path) => {
          const kept = lossy.finished.get(path)?.status;
          assert.ok(kept === undefined || kept === 'running', `${path} had ${kept} and ran again`);
        });
        for (const life of lives) await lossy.run({}, life);
        const end = await lossy.run();
        assert.deepEqual(plain(end), plain(whole));
        assert.equal(new Set(lossy.paths).size, lossy.paths.length, 'no step is recorded twice');
      }),
      { numRuns: 150 },
    );
  });
});

/** Without times, and without texts that only the failed attempt knew. */
function plain(outcome: RunOutcome) {
  if (outcome.status === 'failed') return { status: 'failed', step: outcome.error.step };
  return outcome.status === 'succeeded' ? { status: 'succeeded', result: outcome.result } : outcome;
}
