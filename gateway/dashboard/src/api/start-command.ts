// The command that starts a worker.

/** `server`: the address of this dashboard, which is the gateway's. `method`: an id wf_…, if one is asked for. */
export function startCommand(server: string, method = 'METHOD'): string {
  return `export METHODS_SERVER=${server} SERVICE_API_KEY=sk_...\nnpx methods worker --method ${method} --concurrency 10`;
}
