// What kind of work a call is. What Node does for others, such as a write to a socket, counts with its caller.
import type { Call } from './cpu-profile.ts';

export const KINDS = [
  'HTTP',
  'gRPC',
  'protobuf',
  'JSON',
  'Postgres',
  'NATS',
  'logs',
  'own code',
  'GC',
  'Node',
] as const;

export type Kind = (typeof KINDS)[number];

const RULES: readonly (readonly [RegExp, Kind])[] = [
  [/^node_modules\/(fast-json-stringify|secure-json-parse|ajv|@fastify\/(ajv|fast-json))/, 'JSON'],
  [/^node_modules\/(fastify|@fastify|find-my-way|avvio|undici|light-my-request|fast-querystring|reusify)\b/, 'HTTP'],
  [/^node:(_http|http$|https$|internal\/http|_tls_wrap)/, 'HTTP'],
  [/^node_modules\/@bufbuild\/|^libs\/(proto\/|rpc\/src\/(message-|wire-|encoder-|decoder-|decode-in))/, 'protobuf'],
  [/^node_modules\/@grpc\/|^libs\/rpc\/|^node:(http2|internal\/http2)/, 'gRPC'],
  [/^node_modules\/postgres\/|^libs\/postgres\//, 'Postgres'],
  [/^node_modules\/nats\//, 'NATS'],
  [/^node_modules\/(pino|sonic-boom|thread-stream)|^libs\/logging\//, 'logs'],
  [/^(libs|services|gateway|deploy)\//, 'own code'],
];

/** Microseconds by kind. Time without work is left out. */
export function kindsOf(root: Call): Map<Kind, number> {
  const kinds = new Map<Kind, number>();
  const walk = (call: Call, callers: Kind) => {
    const kind = kindOf(call) ?? callers;
    if (call.name !== '(idle)' && call.selfUs > 0) kinds.set(kind, (kinds.get(kind) ?? 0) + call.selfUs);
    for (const called of call.calls) walk(called, kind);
  };
  walk(root, 'Node');
  return kinds;
}

/** Of code that is generated from schemas, which has no source. */
const GENERATED_FOR_JSON = /^(anonymous\d+|main|validate\d+|serialize)$/;

/** Null: that of its caller. */
export function kindOf({ name, source }: Call): Kind | null {
  if (name === '(garbage collector)') return 'GC';
  if (source === '' && GENERATED_FOR_JSON.test(name)) return 'JSON';
  return RULES.find(([pattern]) => pattern.test(source))?.[1] ?? null;
}
