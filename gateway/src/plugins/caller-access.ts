// Requires each route to name the role it needs; a route without one is not registered. The rows of all routes are
// kept, so that a test can ask the running server instead of a handwritten list.
import { mayUse } from '@methods/auth/caller';
import type { FastifyInstance, onRequestHookHandler, RouteOptions } from 'fastify';
import { CallerRefused } from '../callers/caller-refused.ts';
import { type GuardedSurface, isOfSurface, type RouteRow } from '../callers/surface.ts';
import { callerOf } from './caller.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns every route of the server; complete once the server is ready. */
    routeTable(): RouteRow[];
  }
}

/** Called before any route is added. */
export function addRouteTable(app: FastifyInstance): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    routes.push(route);
  });
  app.decorate('routeTable', () => routes.flatMap(rowsOf));
  app.addHook('onReady', (done) => {
    const bare = app.routeTable().find(({ surface, url }) => surface === 'public' && /^\/(v1|api)\//.test(url));
    done(bare && new Error(`${bare.method} ${bare.url} is in no scope with callers`));
  });
}

/** Assigns the routes of `scope` to `surface`; called before any of them, after the scope has callers. */
export function addAccess(scope: FastifyInstance, surface: GuardedSurface): void {
  scope.addHook('onRoute', (route) => {
    const { access, ...config } = route.config ?? {};
    const name = `${String(route.method)} ${route.url}`;
    if (!isOfSurface(surface, route.url)) throw new Error(`${name} is not a path of the surface ${surface}`);
    route.schema = { ...route.schema, security: SECURITY[surface] };
    if (surface === 'upload') {
      route.config = { ...config, surface };
      return;
    }
    if (access === undefined) throw new Error(`${name} does not declare who may use it (config.access)`);
    route.config = { ...config, surface, access };
    const check: onRequestHookHandler = (request, _reply, done) => {
      if (mayUse(callerOf(request), access)) return done();
      request.refusal = 'role';
      done(new CallerRefused('role', `This needs the role ${access}.`));
    };
    const own = route.onRequest ?? [];
    route.onRequest = [check, ...(Array.isArray(own) ? own : [own])];
  });
}

/** The credentials of a surface in the API's description; the names are defined in plugins/openapi.ts. */
const SECURITY: Readonly<Record<GuardedSurface, Record<string, string[]>[]>> = {
  service: [{ serviceKey: [] }, { accessToken: [] }],
  cli: [{ accessToken: [] }],
  api: [{ accessToken: [] }, { session: [] }],
  mcp: [{ accessToken: [] }],
  upload: [{ uploadToken: [] }],
};

function rowsOf({ method, url, config }: RouteOptions): RouteRow[] {
  const methods = Array.isArray(method) ? method : [method];
  return methods.map((each) => ({
    method: each,
    url,
    surface: config?.surface ?? 'public',
    access: config?.access ?? null,
  }));
}
