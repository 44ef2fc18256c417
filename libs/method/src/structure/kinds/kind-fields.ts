// Owns what the reader of a kind gives back to the reader of the step.
import type { CompiledStep, StepBase } from '../../compiled-method.ts';
import type { ObjectType } from '../../types/type.ts';
import type { MethodContext } from '../step-context.ts';

type FieldsOf<Step> = Step extends CompiledStep ? Omit<Step, keyof StepBase> & Partial<Pick<Step, 'secrets'>> : never;

export interface KindFields {
  /** The fields the kind adds to `StepBase`, and the secrets it read. */
  readonly fields: FieldsOf<CompiledStep>;
  /** The value of one round, where it is not the declared `out`. */
  readonly value?: ObjectType;
  /** The scope after the steps inside. */
  readonly inner?: MethodContext;
}
