import { connect } from 'node:net';
import { gatewayFixture } from './src/testing/gateway-fixture.ts';
await using g = await gatewayFixture();
const t = performance.now();
await new Promise<void>((res) => { const s = connect(g.port, '127.0.0.1'); s.write('POST /v1/runs HTTP/1.1\r\nHost: x\r\n'); const i = setInterval(() => s.write('X-A: 1\r\n'), 500); s.on('data', (d) => console.log(String(d).slice(0, 300))); s.on('error', () => {}); s.on('close', () => { clearInterval(i); res(); }); });
console.log('closed after', Math.round(performance.now() - t));
const r = await g.ask('POST', '/v1/runs?wait_ms=11500', { method: g.methodId, inputs: { name: 'x' } });
console.log(r.status, r.body.status, Math.round(performance.now() - t));
