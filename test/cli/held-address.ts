// An address that answers once it is opened, for steps on this machine, which may be in a sandbox.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `source` is a method that asks it; `isAsked` resolves when that has begun. */
export async function heldAddress() {
  let open: () => void = () => {};
  let asked: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = createServer((_request, response) => {
    asked();
    void opened.then(() => response.setHeader('content-type', 'application/json').end('{"ok": true}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const source = `format: method/2
name: local
steps:
  - name: hold
    http: { get: "http://127.0.0.1:${port}/" }
    out: { ok: boolean }
result: { ok: =steps.hold.ok }
`;
  return { source, isAsked, open, close: () => server.close() };
}
