// Owns writing the schema of a type where an author declared it. One that is too large is a finding there.
import type { JsonSchema } from '../json.ts';
import type { Range } from '../source/source-text.ts';
import { SchemaTooLarge } from '../types/json-schema.ts';
import type { ObjectType } from '../types/type.ts';
import type { MethodContext } from './step-context.ts';

export interface Declared {
  readonly path: string;
  readonly range: Range;
}

export function writtenSchema(
  { schemas, findings }: Pick<MethodContext, 'schemas' | 'findings'>,
  type: ObjectType,
  { path, range }: Declared,
): JsonSchema {
  try {
    return schemas.schemaOf(type);
  } catch (error) {
    if (!(error instanceof SchemaTooLarge)) throw error;
    if (path === 'result') {
      findings.add('M803', 'the types of the result are too large together', path, range, {
        hint: 'name them under types:',
      });
    } else {
      findings.add('M313', `the types of ${path} are too large together: ${error.message}`, path, range, {
        hint: 'fewer fields, or lists and maps that nest less',
      });
    }
    return {};
  }
}
