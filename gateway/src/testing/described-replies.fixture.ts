// Compares replies with the API's own description: their status, type and shape, without undocumented fields.
import assert from 'node:assert/strict';
import { Check, Errors } from 'typebox/schema';

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: Shape }>>;
}

type Operations = Readonly<Record<string, { readonly responses: Readonly<Record<string, Described>> }>>;

export interface ReplyToCheck {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** From the header content-type. */
  readonly type: string | null;
  readonly text: string;
}

export class DescribedReplies {
  private constructor(private readonly paths: readonly (readonly [RegExp, Operations])[]) {}

  static async of(url: string): Promise<DescribedReplies> {
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, Operations> };
    // A path with fewer parameters is more specific.
    const sorted = Object.entries(paths).sort(([a], [b]) => a.split('{').length - b.split('{').length);
    return new DescribedReplies(
      sorted.map(([path, operations]) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), operations]),
    );
  }

  /** A route without a description must not exist. */
  check({ method, path, status, type, text }: ReplyToCheck): void {
    const [pathname = ''] = path.split('?');
    const verb = method.toLowerCase();
    const operation = this.paths.find(([pattern, operations]) => pattern.test(pathname) && verb in operations)?.[1];
    const what = `${method} ${pathname} ${status}`;
    if (operation === undefined) return assert.equal(status, 404, `${what}: the route is not described`);
    const { responses } = operation[verb] ?? { responses: {} };
    const described = responses[status] ?? responses[`${String(status).charAt(0)}XX`];
    assert.ok(described, `${what}: the status is not described`);
    if (text === '') return;
    const [mediaType = ''] = (type ?? '').split(';');
    const shape = described.content?.[mediaType]?.schema;
    assert.ok(shape, `${what}: ${mediaType} is not described`);
    if (mediaType !== 'application/json') return;
    const value: unknown = JSON.parse(text);
    assert.ok(Check(shape, value), `${what}: ${JSON.stringify(Errors(shape, value)[1])}`);
    assert.deepEqual(undescribed(shape, value, ''), [], `${what}: fields that are not described`);
  }
}

function undescribed(shape: Shape, value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { anyOf, items, properties } = shape;
  if (anyOf !== undefined) return undescribed(anyOf.find((each) => Check(each, value)) ?? {}, value, path);
  if (Array.isArray(value)) return value.flatMap((each) => undescribed(items ?? {}, each, `${path}[]`));
  if (properties === undefined || shape.additionalProperties === true) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const known = properties[name];
    return known === undefined ? [`${path}/${name}`] : undescribed(known, field, `${path}/${name}`);
  });
}
