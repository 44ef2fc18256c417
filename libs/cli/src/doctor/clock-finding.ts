// How far the clock of this machine is from a server's: tokens and signed times end early or late by that much.
import { type Finding, ok, problem, warning } from './finding.ts';

const WARNING_MS = 5_000;
const PROBLEM_MS = 60_000;

/** `date` is the server's Date header, which counts whole seconds; the request was under way between the two times. */
export function clockFinding(date: string | null, sentAtMs: number, receivedAtMs: number): Finding {
  const serverMs = Date.parse(date ?? '');
  if (Number.isNaN(serverMs)) return ok('clock', 'the server sends no time to compare with');
  // The server's second began up to 1 s before it wrote it down.
  const early = Math.max(0, serverMs - receivedAtMs);
  const late = Math.max(0, sentAtMs - (serverMs + 1_000));
  const differenceMs = Math.max(early, late);
  const found = `${Math.round(differenceMs / 1_000)} s ${early > 0 ? 'behind' : 'ahead of'} the server`;
  const remedy = 'let the system set its clock, for example  timedatectl set-ntp true';
  if (differenceMs > PROBLEM_MS) return problem('clock', found, remedy);
  if (differenceMs > WARNING_MS) return warning('clock', found, remedy);
  return ok('clock', 'agrees with the server');
}
