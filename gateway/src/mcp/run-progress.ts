// Sends progress notifications of a run that a tool waits for: one with each change of its steps, if the client
// requested them.
import { RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import type { RunAddress } from '../clients/watched-runs.ts';
import { declaredSteps } from '../routes/runs/run-reply.ts';
import { runStatusName } from '../views/run-view.ts';
import { quotedName } from './marked-data.ts';
import type { ToolCall } from './tool.ts';

const NAMES_MAX = 5;
const INNER = /[/[]/;

/** Returns a function that ends them. */
export async function reportProgress({ exchange, parts }: ToolCall, address: RunAddress): Promise<() => void> {
  const { mcpReq } = exchange;
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  let total: number | null = null;
  const known = new Map<string, RunView['steps'][number]['status']>();
  const changed = (run: RunView) => {
    const names = run.steps.filter(({ path, status }) => !INNER.test(path) && known.get(path) !== status);
    for (const { path, status } of names) known.set(path, status);
    const shown = names.slice(-NAMES_MAX).map(({ path }) => quotedName(path, 60));
    const message = `${runStatusName(run.status)}${shown.length === 0 ? '' : `; steps ${shown.join(', ')}`}`;
    // The protocol requires it to grow with each notification.
    progress++;
    const params = { progressToken, progress, ...(total !== null && total >= progress && { total }), message };
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const { run, stop } = await parts.scheduler.followRun(address, { changed, end: () => {} });
  total = (await declaredSteps(parts, address.orgId, run)).length + 2;
  if (run.status !== RunStatus.WAITING) changed(run);
  return stop;
}
