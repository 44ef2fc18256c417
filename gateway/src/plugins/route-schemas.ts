// Checks the requests of a route and serializes its replies. Compiling all schemas takes longer than the rest of a
// start, so only the compilers are made at the start, and each schema is compiled when a request needs it, or soon
// after the start.
import ajvCompiler from '@fastify/ajv-compiler';
import stringifyCompiler from '@fastify/fast-json-stringify-compiler';
import type { Clock, Timer } from '@methods/base/clock';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

export interface RouteSchemas {
  readonly compilersFactory: Compilers;
  /** Creates the compilers, which takes longer than any compilation. */
  makeCompilers(): void;
  /**
   * Compiles one schema that no request has needed so far; returns false if none is left. Throws the fault of a schema.
   */
  compileNext(): boolean;
}

export function routeSchemas(): RouteSchemas {
  const compilers: (() => void)[] = [];
  const waiting = new Set<() => void>();
  const once = <Compiled>(compile: () => Compiled): (() => Compiled) => {
    let compiled: Compiled | undefined;
    const get = () => {
      waiting.delete(get);
      compiled ??= compile();
      return compiled;
    };
    return get;
  };
  const compilerOnce = <Compiler>(make: () => Compiler): (() => Compiler) => {
    const get = once(make);
    compilers.push(get);
    return get;
  };
  const routeOnce = <Compiled>(compile: () => Compiled): (() => Compiled) => {
    const get = once(compile);
    waiting.add(get);
    return get;
  };
  const [validators, serializers] = [ajvCompiler(), stringifyCompiler()];
  return {
    compilersFactory: {
      buildValidator(shared: never, options: never) {
        const compile = compilerOnce(() => validators(shared, options));
        return (route: never) => {
          const get = routeOnce(() => compile()(route));
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
        const compile = compilerOnce(() => serializers(shared, options));
        return (route: never) => {
          const get = routeOnce(() => compile()(route));
          return (value: unknown) => get()(value);
        };
      },
    } as Compilers,
    makeCompilers: () => {
      for (const make of compilers) make();
    },
    compileNext: () => {
      for (const compile of waiting) {
        compile();
        return true;
      }
      return false;
    },
  };
}

/** Between two of them the event loop is left to requests. */
export const COMPILING_REST_MS = 100;

/** Compiles the schemas of an app once it listens. Only a request soon after a start must compile one itself. */
export function addCompiling(app: FastifyInstance, schemas: RouteSchemas, clock: Clock): void {
  let timer: Timer | null = null;
  const next = () => {
    timer = schemas.compileNext() ? clock.after(COMPILING_REST_MS, next) : null;
  };
  app.addHook('onReady', (done) => {
    schemas.makeCompilers();
    done();
  });
  app.addHook('onListen', (done) => {
    timer = clock.after(COMPILING_REST_MS, next);
    done();
  });
  app.addHook('onClose', (_app, done) => {
    timer?.cancel();
    done();
  });
}
