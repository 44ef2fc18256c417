// What checks the requests of a route and writes its replies, compiled when it is first needed: all of them together take
// longer than the rest of a start, and most processes use few.
import ajvCompiler from '@fastify/ajv-compiler';
import stringifyCompiler from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

export interface RouteSchemas {
  readonly compilersFactory: Compilers;
  /** Compiles what nobody has needed so far; throws what is wrong with a schema. */
  compileAll(): void;
}

export function routeSchemas(): RouteSchemas {
  const waiting: (() => void)[] = [];
  const once = <Compiled>(compile: () => Compiled): (() => Compiled) => {
    let compiled: Compiled | undefined;
    const get = () => {
      compiled ??= compile();
      return compiled;
    };
    waiting.push(get);
    return get;
  };
  const [validators, serializers] = [ajvCompiler(), stringifyCompiler()];
  return {
    compilersFactory: {
      buildValidator(shared: never, options: never) {
        const compile = once(() => validators(shared, options));
        return (route: never) => {
          const get = once(() => compile()(route));
          const validate = Object.assign(
            (value: unknown) => {
              const isValid = get()(value);
              validate.errors = get().errors;
              return isValid;
            },
            { errors: null as unknown },
          );
          return validate;
        };
      },
      buildSerializer(shared: never, options: never) {
        const compile = once(() => serializers(shared, options));
        return (route: never) => {
          const get = once(() => compile()(route));
          return (value: unknown) => get()(value);
        };
      },
    } as Compilers,
    compileAll: () => {
      for (const compile of waiting) compile();
    },
  };
}
