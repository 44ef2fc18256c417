// Owns the compiled form of a declared `out`.
import { type CheckValue, compileCheck } from '../../check-value.ts';
import type { OutFields } from '../../compiled-method.ts';
import { contains, type ObjectType } from '../../types/type.ts';
import type { MethodContext } from '../step-context.ts';
import { type Declared, writtenSchema } from '../written-schema.ts';

/** `declared`: the place of the `out`. */
export function outFields(
  context: Pick<MethodContext, 'schemas' | 'findings'>,
  type: ObjectType,
  declared: Declared,
): OutFields {
  const schema = writtenSchema(context, type, declared);
  let check: CheckValue | undefined;
  return {
    names: [...type.fields.keys()],
    schema,
    hasSecret: contains(type, 'secret'),
    hasFile: contains(type, 'file'),
    check: (value, effort) => {
      // Compiling takes milliseconds, and most processes that hold a method never check this out.
      check ??= compileCheck(schema);
      return check(value, effort);
    },
  };
}
