// Owns the compiled form of a declared `out`.
import { compileCheck, type ValueCheck } from '../../check-value.ts';
import type { OutFields } from '../../compiled-method.ts';
import type { JsonValue } from '../../json.ts';
import type { SchemaWriter } from '../../types/json-schema.ts';
import { contains, type ObjectType } from '../../types/type.ts';

export function outFields(schemas: SchemaWriter, type: ObjectType): OutFields {
  const schema = schemas.schemaOf(type);
  let check: ((value: JsonValue) => ValueCheck) | undefined;
  return {
    names: [...type.fields.keys()],
    schema,
    hasSecret: contains(type, 'secret'),
    hasFile: contains(type, 'file'),
    check: (value) => {
      // Compiling takes milliseconds, and most processes that hold a method never check this out.
      check ??= compileCheck(schema);
      return check(value);
    },
  };
}
