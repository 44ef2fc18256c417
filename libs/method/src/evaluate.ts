// Owns evaluation of compiled values: expressions run, texts are put together, structures are built.
import type { CompiledExpression, CompiledValue, Frame, Scope } from './compiled-value.ts';
import { charge, chargeText, ExpressionError, FUEL, scalarText } from './expression/runtime.ts';
import { type JsonValue, objectOf } from './json.ts';

export type { Scope } from './compiled-value.ts';
export { ExpressionError, FUEL } from './expression/runtime.ts';

/**
 * The value in this scope. Throws `ExpressionError` (message without content, `kind` is `expression`) when it cannot be
 * computed: a null where a value is needed, a division by zero, more than 200,000 steps. Pure; never changes the scope.
 * Steps are taken from the `tank`, which several values may share.
 */
export function evaluate(value: CompiledValue, scope: Scope, tank = { left: FUEL }): JsonValue {
  const given = Math.min(tank.left, FUEL);
  const frame: Frame = { scope, locals: [], fuel: given };
  try {
    return run(value, frame);
  } catch (error) {
    // Values nested so deep that recursion over them fails are the run's fault, not ours.
    if (error instanceof RangeError)
      throw new ExpressionError('the expression met a value that is too large or too deep');
    throw error;
  } finally {
    tank.left -= given - Math.max(0, frame.fuel);
  }
}

function run(value: CompiledValue, frame: Frame): JsonValue {
  switch (value.kind) {
    case 'expression':
      return runExpression(value, frame);
    case 'literal':
      return value.value;
    case 'text':
      return runText(value, frame);
    case 'list':
      return value.items.map((item) => run(item, frame));
    case 'map':
      return objectOf(value.entries.map(([name, item]) => [name, run(item, frame)] as const));
    case 'secret': {
      if (!frame.scope.secrets) throw new ExpressionError(`the secret ${value.name} is not available here`);
      return frame.scope.secrets(value.name);
    }
  }
}

function runExpression(expression: CompiledExpression, frame: Frame): JsonValue {
  charge(frame, expression.size);
  return expression.run(frame);
}

function runText(value: CompiledValue & { kind: 'text' }, frame: Frame): string {
  let text = '';
  for (const [index, part] of value.parts.entries()) {
    if (typeof part === 'string') text += part;
    else {
      const inserted = scalarText(runExpression(part, frame), part.source);
      // A leading insertion is the address itself (scheme, host); anything later is data inside it.
      text += value.encoding === 'url' && index > 0 ? encode(inserted, part.source) : inserted;
    }
    chargeText(frame, text.length);
  }
  return text;
}

function encode(text: string, place: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new ExpressionError(`${place} is not valid Unicode`);
  }
}
