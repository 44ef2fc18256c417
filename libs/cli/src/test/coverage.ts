// Steps and checks of a method that none of its tests reached.
import type { StepEnd } from '@methods/executor/run-outcome';
import type { CompiledCheck, CompiledMethod, CompiledStep } from '@methods/method/compiled-method';
import { withoutRounds } from './step-pattern.ts';

export interface NeverReached {
  /** Paths as in the source. */
  readonly steps: readonly string[];
  readonly checks: readonly { readonly step: string; readonly name: string }[];
}

export class Coverage {
  private readonly acted = new Set<string>();
  private readonly judged = new Set<string>();

  add(records: readonly StepEnd[]): void {
    for (const { path, status, checks } of records) {
      const place = withoutRounds(path);
      if (status !== 'skipped') this.acted.add(place);
      for (const check of checks) this.judged.add(`${place}\n${check.name}`);
    }
  }

  neverReached(method: CompiledMethod): NeverReached {
    const steps: string[] = [];
    const checks: { step: string; name: string }[] = [];
    const judge = (step: string, list: readonly CompiledCheck[]) => {
      for (const { name } of list) if (!this.judged.has(`${step}\n${name}`)) checks.push({ step, name });
    };
    const walk = (list: readonly CompiledStep[], above: string) => {
      for (const step of list) {
        const path = above + step.name;
        if (!this.acted.has(path)) steps.push(path);
        judge(path, [...step.require, ...(step.kind === 'check' ? step.checks : []), ...step.ensure]);
        if (step.kind === 'steps' || step.kind === 'parallel') walk(step.steps, `${path}/`);
      }
    };
    judge('@require', method.require);
    walk(method.steps, '');
    judge('@ensure', method.ensure);
    walk(method.onFailure, 'on_failure/');
    walk(method.finally, 'finally/');
    return { steps, checks };
  }
}
