// Array types for a pool. postgres.js 3.4 reads them from the server on each new connection, and a connection lost
// during that rejects a promise that nothing awaits, which ends the process. The built-in ones have fixed numbers.
import type { Sql } from './sql.ts';

/** Element type and its array type, as in pg_type: any other array reads as text. */
const BUILT_IN: readonly (readonly [element: number, array: number])[] = [
  [16, 1000], // boolean
  [17, 1001], // bytea
  [18, 1002], // "char"
  [19, 1003], // name
  [20, 1016], // bigint
  [21, 1005], // smallint
  [23, 1007], // integer
  [25, 1009], // text
  [26, 1028], // oid
  [114, 199], // json
  [700, 1021], // real
  [701, 1022], // double precision
  [1042, 1014], // character
  [1043, 1015], // character varying
  [1082, 1182], // date
  [1083, 1183], // time
  [1114, 1115], // timestamp
  [1184, 1185], // timestamptz
  [1186, 1187], // interval
  [1700, 1231], // numeric
  [2950, 2951], // uuid
  [3802, 3807], // jsonb
];

type Parse = ((text: string) => unknown) & { array?: boolean };
type Serialize = (value: unknown) => unknown;

interface Options {
  readonly parsers: Record<number, Parse | undefined>;
  readonly serializers: Record<number, Serialize | undefined>;
  readonly shared: { readonly typeArrayMap: Record<number, number> };
}

interface ArrayFunctions {
  arrayParser(text: string, parse: Parse | undefined, type: number): unknown;
  arraySerializer(values: unknown, serialize: Serialize | undefined, options: Options, type: number): unknown;
}

// The library's own functions, which it does not export by name; its version is pinned.
const { arrayParser, arraySerializer } = (await import(
  new URL('./types.js', import.meta.resolve('postgres')).href
)) as ArrayFunctions;

/** To be called before the first query. */
export function addArrayTypes(sql: Sql): void {
  const options = sql.options as unknown as Options;
  for (const [element, array] of BUILT_IN) {
    options.shared.typeArrayMap[element] = array;
    const parse: Parse = (text) => arrayParser(text, options.parsers[element], array);
    options.parsers[array] = Object.assign(parse, { array: true });
    options.serializers[array] = (values) => arraySerializer(values, options.serializers[element], options, array);
  }
}
