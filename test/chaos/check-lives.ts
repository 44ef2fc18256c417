// What each client must have seen of its run: acknowledged starts end, once, in a way its story allows.
import { type History, isFinished, type Life, lastSeen, type SeenRun } from './history.ts';

/** Sentences about what went wrong; none when all is well. */
export function checkLives(history: History): string[] {
  return history.lives.flatMap((life) => [
    ...life.wrong,
    ...checkEnd(life),
    ...checkOneRun(life),
    ...checkOrder(life),
    ...checkAttempts(life),
  ]);
}

function checkEnd(life: Life): string[] {
  const run = lastSeen(life);
  if (run === null) return [];
  if (!isFinished(run.status)) return [`${run.runId} (${life.kind}) is ${run.status} at the end`];
  // Its workers were lost three times: bad luck, and no fault.
  if (run.errorCode === 'attempts_exhausted') {
    return run.attempts === 3 ? [] : [`${run.runId} is exhausted after ${run.attempts} attempts`];
  }
  return endsOf(life).includes(endOf(run)) ? [] : [`${run.runId} (${life.kind}) ended as ${endOf(run)}`];
}

function endOf({ status, result, errorCode }: SeenRun): string {
  return status === 'succeeded' ? `succeeded ${result}` : status === 'failed' ? `failed ${errorCode}` : status;
}

function endsOf(life: Life): string[] {
  const answered = `succeeded {"n":${life.answer}}`;
  switch (life.kind) {
    case 'worked':
    case 'twins':
      return ['succeeded {"n":3}'];
    case 'asked':
      return [answered];
    case 'unanswered':
      return ['failed no_answer'];
    case 'raced':
      // An accepted answer and a passed deadline exclude each other.
      return [wasAccepted(life, 'answer') ? answered : 'failed no_answer'];
    case 'cancelled':
      return wasAccepted(life, 'cancel') ? ['cancelled'] : ['succeeded {"n":3}'];
  }
}

function wasAccepted(life: Life, kind: 'answer' | 'cancel'): boolean {
  return life.operations.some((operation) => operation.kind === kind && operation.httpStatus < 300);
}

/** Equal starts with one key make one run. */
function checkOneRun(life: Life): string[] {
  const ids = new Set(life.operations.flatMap(({ run }) => (run === null ? [] : [run.runId])));
  return ids.size > 1 ? [`one key made several runs: ${[...ids].join(', ')}`] : [];
}

/** A request made after a reply never shows an older run than the reply, and an end never changes. */
function checkOrder(life: Life): string[] {
  const wrong: string[] = [];
  for (const earlier of life.operations) {
    if (earlier.run === null || !isFinished(earlier.run.status)) continue;
    for (const later of life.operations) {
      if (later.run === null || later.invokedMs < earlier.repliedMs) continue;
      const [was, is] = [JSON.stringify(earlier.run), JSON.stringify(later.run)];
      if (was !== is) wrong.push(`${earlier.run.runId} was seen as ${was} and later as ${is}`);
    }
  }
  return wrong.slice(0, 1);
}

function checkAttempts(life: Life): string[] {
  const wrong: string[] = [];
  let most = 0;
  let repliedMs = 0;
  for (const { run, invokedMs, repliedMs: until } of life.operations) {
    if (run === null) continue;
    if (run.attempts > 3) wrong.push(`${run.runId} made ${run.attempts} attempts`);
    if (invokedMs >= repliedMs && run.attempts < most) wrong.push(`${run.runId} went back to ${run.attempts} attempts`);
    if (run.attempts >= most) [most, repliedMs] = [run.attempts, until];
  }
  return wrong.slice(0, 1);
}
