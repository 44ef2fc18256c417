// The text of a Python module with the types of one method, for Python 3.9 and newer without further packages. JSON
// objects are TypedDicts, so that values from and for the API need no conversion.
import { definitionsOf, type MethodShape, oneLine, TypeNames } from './method-shape.ts';
import { PythonTypes } from './python-types.ts';
import { wordsOf } from './schema-words.ts';

const TYPING = ['Any', 'Dict', 'Final', 'List', 'Literal', 'Optional', 'TypedDict', 'Union'];

/** `about` names the source of the types in the module's first line. */
export function pythonFile(shape: MethodShape, about: string): string {
  const names = new TypeNames(shape.name, TYPING);
  const writer = new PythonTypes(names);
  const { title, inputs, result, answers } = shape;
  const inputsName = names.take('Inputs');
  const resultName = names.take('Result');
  const definitions = definitionsOf(shape);
  // Defines all names first, since types may refer to each other.
  for (const name of definitions.keys()) names.define(name);
  for (const [name, definition] of definitions) {
    writer.declare(names.ofDefinition(name) ?? name, definition, wordsOf(definition));
  }
  writer.declare(inputsName, inputs, [`What ${title} is started with.`]);
  writer.declare(resultName, result, [`What ${title} gives.`]);
  for (const [step, form] of answers) {
    writer.declare(names.take(`${step}/answer`), form, [`An answer to the question of ${step}.`]);
  }
  const body = writer.text();
  const id = shape.id === null ? '' : `METHOD_ID: Final = ${JSON.stringify(shape.id)}\n\n\n`;
  const used = TYPING.filter((name) => new RegExp(`\\b${name}\\b`).test(withoutComments(id + body)));
  const imports = used.length === 0 ? '' : `from typing import ${used.join(', ')}\n\n`;
  return `# ${oneLine(about)}\n\n${imports}${imports === '' ? '' : '\n'}${id}${body}`;
}

function withoutComments(text: string): string {
  return text.replace(/^ *#.*$/gm, '');
}
