// `npm run dashboard`: serves the dashboard's sources and reloads them as they are edited, in front of a running stack.
// `-- --server URL` names that stack's gateway.
import { createServer } from 'vite';
import { viteConfig } from '../vite-config.ts';

const LOCAL = 'http://127.0.0.1:4600';
const PORT = 4_700;
/** Everything that the gateway serves itself. */
const OF_GATEWAY = '^/(api|v1|auth|a|packages|reference|schemas|\\.well-known|o/[^/]+/api)(/|$|\\?)|^/openapi\\.json$';

const at = process.argv.indexOf('--server');
const target = (at > 0 && process.argv[at + 1]) || LOCAL;
const server = await createServer({
  ...viteConfig(''),
  html: {},
  server: {
    host: '127.0.0.1',
    port: PORT,
    proxy: {
      [OF_GATEWAY]: {
        target,
        // Changes are accepted only from a page of the gateway.
        configure: (proxy) => proxy.on('proxyReq', (request) => request.setHeader('origin', new URL(target).origin)),
      },
    },
  },
});
await server.listen();
console.log(`The dashboard runs at http://127.0.0.1:${server.config.server.port} in front of ${target}.`);
console.log(`Sign in at ${target} first: both share its cookie.`);
