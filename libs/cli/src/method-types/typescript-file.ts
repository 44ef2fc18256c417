// The text of a TypeScript file with the types of one method. With the method's id it also types calls of the client
// library: `client.run({ method: 'wf_…' })` finds them by the id in the library's interface `MethodTypes`.
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { definitionsOf, type MethodShape, oneLine, TypeNames } from './method-shape.ts';
import { commentOf, typescriptOfSchema } from './typescript-of-schema.ts';

/** `about` names the source of the types in the file's first line. */
export function typescriptFile(shape: MethodShape, about: string): string {
  const { title, inputs, result, answers } = shape;
  const names = new TypeNames(shape.name);
  const inputsName = names.take('Inputs');
  const resultName = names.take('Result');
  const answersName = answers.size > 0 ? names.take('Answers') : 'Record<string, never>';
  const definitions = definitionsOf(shape);
  // Defines all names first, since types may refer to each other.
  for (const name of definitions.keys()) names.define(name);
  const answerTypes = [...answers].map(([step, form]) => ({ step, form, name: names.take(`${step}/answer`) }));
  const parts = [
    ...[...definitions].map(([name, definition]) => declared(names.ofDefinition(name) ?? name, definition, '', names)),
    declared(inputsName, inputs, `What ${title} is started with.`, names),
    declared(resultName, result, `What ${title} gives.`, names),
    ...answerTypes.map(({ step, form, name }) => declared(name, form, `An answer to the question of ${step}.`, names)),
  ];
  if (answers.size > 0) {
    const fields = answerTypes.map(({ step, name }) => `  ${JSON.stringify(step)}: ${name};`);
    parts.push(`/** Answers by the step that asks. */\nexport type ${answersName} = {\n${fields.join('\n')}\n};`);
  }
  if (shape.id !== null) parts.push(merged(shape.id, { inputsName, resultName, answersName }));
  return `// ${oneLine(about)}\n\n${parts.join('\n\n')}\n`;
}

function declared(typeName: string, schema: JsonValue, about: string, names: TypeNames): string {
  const described = isJsonObject(schema) ? schema : {};
  const comment = commentOf(about === '' ? described : { description: about }, '');
  const type = typescriptOfSchema(schema, (name) => names.ofDefinition(name));
  return [...comment, `export type ${typeName} = ${type};`].join('\n');
}

interface Names {
  readonly inputsName: string;
  readonly resultName: string;
  readonly answersName: string;
}

function merged(id: string, { inputsName, resultName, answersName }: Names): string {
  return `declare module '@methods/client' {
  interface MethodTypes {
    ${id}: { inputs: ${inputsName}; result: ${resultName}; answers: ${answersName} };
  }
}`;
}
