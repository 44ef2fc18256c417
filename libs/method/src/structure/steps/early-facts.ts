// Owns what the `if` of a step with `each` shows before there is an item: enough to have the list only where it is needed.
import { type Expr, ExpressionProblem } from '../../expression/expression-tree.ts';
import { conjunctsOf, factsOf } from '../../expression/narrowing.ts';
import { parseExpression } from '../../expression/parse-expression.ts';
import type { SourceEntry } from '../../source/source-node.ts';

/**
 * The facts of the conditions before the first one about the item. Where one of them is false the step is skipped
 * without its list, so the list may count on them.
 */
export function earlyFacts(entry: SourceEntry | undefined, item: string): Set<string> {
  const facts = new Set<string>();
  if (entry?.value.kind !== 'scalar') return facts;
  const source = entry.value.text.replace(/^=(?!=)/, '');
  for (const part of conjunctsIn(source)) {
    const text = source.slice(part.start, part.end);
    if (text.match(/[A-Za-z_]\w*/g)?.includes(item)) break;
    for (const fact of factsOf(part, (node) => source.slice(node.start, node.end)).yes) facts.add(fact);
  }
  return facts;
}

function conjunctsIn(source: string): readonly Expr[] {
  try {
    return conjunctsOf(parseExpression(source));
  } catch (error) {
    // Reported where the condition itself is read.
    if (error instanceof ExpressionProblem) return [];
    throw error;
  }
}
