import http from 'node:http';
const [url, key, method, n, c] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(c) });
const u = new URL(url + '/v1/runs?wait_ms=30000');
const body = JSON.stringify({ method, inputs: { name: 'Ada' } });
let left = Number(n); let bad = 0;
function one() { return new Promise<void>((res) => { const r = http.request(u, { method: 'POST', agent, headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json', 'content-length': body.length } }, (m) => { if (m.statusCode !== 201) bad++; let t=''; m.setEncoding('utf8'); m.on('data', (d) => {t+=d}); m.on('end', () => { if(!t.includes('"result"')) bad++; res(); }); }); r.end(body); }); }
async function worker() { while (left-- > 0) await one(); }
const t = performance.now(); const cpu = process.cpuUsage();
await Promise.all(Array.from({ length: Number(c) }, worker));
const d = performance.now() - t; const used = process.cpuUsage(cpu);
console.log({ rps: Math.round(Number(n) / d * 1000), bad, clientCpuMsPerReq: (used.user + used.system) / 1000 / Number(n) });
