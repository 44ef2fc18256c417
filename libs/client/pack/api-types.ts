// Writes the types of runs and their questions as TypeScript, from the schemas by which the server describes them.
import { Question } from '@methods/api/question';
import { Run } from '@methods/api/run';
import { Sealed } from '@methods/api/value';
import { typescriptOfSchema } from '@methods/cli/method-types/typescript-types';
import type { JsonSchema } from '@methods/method/json';

/** The text of `api.d.ts`. */
export function apiTypes(): string {
  // A sealed question has only some of the fields; the library opens it before it passes it on.
  const question = { ...Question, properties: { ...Question.properties, sealed: Sealed } };
  const run = { ...Run, properties: { ...Run.properties, question: { $ref: '#/$defs/Question' } } };
  const types = { Question: question, Run: run, RunStatus: Run.properties.status };
  const texts = Object.entries(types).map(
    ([name, schema]) => `export type ${name} = ${typescriptOfSchema(schema as unknown as JsonSchema, (each) => each)};`,
  );
  return `${texts.join('\n')}\n`;
}
