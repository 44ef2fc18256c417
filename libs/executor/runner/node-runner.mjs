// A warm runner: a child process that runs node steps of one version, one at a time, until its worker closes the
// pipe. Plain JavaScript and small, because its start is on the path of a version's first step.
import { setImmediate as turn } from 'node:timers/promises';
import { PlainRealm } from './plain-realm.mjs';
import { ProcessState } from './process-state.mjs';
import { reportOf } from './step-error.mjs';
import { StepFunctions } from './step-function.mjs';
import { StepObject } from './step-object.mjs';
import { StepPrints } from './step-prints.mjs';
import { Tickets } from './tickets.mjs';
import { wantedMs } from './wanted-time.mjs';
import { WorkFolder } from './work-folder.mjs';
import { connectWorker } from './worker-pipe.mjs';

/** Stored here, since a step may replace the original. */
const { stringify } = JSON;
const HEAP_CHECK_EVERY_STEPS = 32;
const RETURNED_BYTES_MAX = 5 * 1024 * 1024;
/** How long the ends of plain steps wait for more of them. */
const PLAIN_TOGETHER_MS = 5;

const [workDir, codeDir, memoryMb, token] = process.argv.slice(2);
const folder = new WorkFolder(workDir);
const functions = new StepFunctions(codeDir);
const pipe = connectWorker(
  {
    lib: (message) => {
      functions.learnLib(message);
      libChanges = state.canChange(message.code);
    },
    code: (message) => {
      functions.learn(message);
      if (libChanges || state.canChange(message.code)) changing.add(message.step);
    },
    step: (message) => {
      steps.push(message);
      if (!running) void runSteps();
    },
    continue: () => letContinue?.(),
    'plain code': (message) => {
      plainRealm ??= PlainRealm.make();
      plainRealm?.learn(message);
    },
    plain: (message) => {
      if (plainSteps.push(message) === 1) setImmediate(runPlainSteps);
    },
  },
  (line) => (plainRealm ?? JSON).parse(line),
);
/** Created for the first plain code; if that fails, plain steps fail and run in the usual way. */
let plainRealm = null;
const plainSteps = [];
/** In the order in which they are to run. */
const steps = [];
let running = false;
/** The previous step could change nothing that is restored. */
let isClean = false;
/** This process runs no more steps. */
let closed = false;
const tickets = new Tickets();
const prints = new StepPrints(token);
/** Steps whose code, or whose lib, can change what all code shares. */
const changing = new Set();
let libChanges = false;
let stepsRun = 0;
/** The message of the present step. */
let current = null;
/** Resolves when another step may begin after one whose end is held. */
let continued = null;
let letContinue = null;

// Leftovers of a step may fail at any time; the process is not trusted after that.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    if (current === null) process.exit(1);
    end(current, { error: reportOf(error, codeDir), replace: 'an error outside the awaited code' });
  });
}
const state = new ProcessState(workDir);
pipe.send({ t: 'ready' });

async function runSteps() {
  running = true;
  while (steps.length > 0) {
    const message = steps.shift();
    if (message.queued && !tickets.take(message.n)) continue;
    await runStep(message);
    // Its end is sent before another step begins, and its leftovers fail before that.
    await pipe.flushed();
    await turn();
    if (closed) return;
    if (continued === null) continue;
    await continued;
    continued = null;
    // Prints since the end of the step do not belong to the next one.
    prints.mark();
  }
  running = false;
}

async function runStep(message) {
  current = message;
  const { contained } = message;
  const resourcesBefore = process.getActiveResourcesInfo().length;
  const startedMs = performance.now();
  const wantedBeforeMs = wantedMs();
  const result = {};
  const send = (said) => pipe.send({ ...said, n: message.n });
  try {
    if (contained && isClean) state.count();
    else {
      folder.enter();
      state.reset(message);
    }
    isClean = contained;
    prints.begin(contained ? send : null);
    const step = new StepObject(message, workDir, send);
    const run = await functions.get(message.step);
    const out = await run(step, ...message.values);
    result.outText = textOf(out);
    if (step.filesNamed > 0) result.files = true;
  } catch (error) {
    result.error = reportOf(error, codeDir);
  }
  result.ms = performance.now() - startedMs;
  result.wanted = wantedMs() - wantedBeforeMs;
  // A full pipe delays prints; they belong to this step and precede its end.
  if (contained) await pipe.flushed();
  else await prints.flushed();
  if (state.spawned()) result.spawned = true;
  if (process.getActiveResourcesInfo().length > resourcesBefore && (await staysActive(resourcesBefore))) {
    result.replace = 'the step left timers, connections or processes';
  } else if (state.isChanged(changing.has(message.step))) {
    result.replace = 'the step changed what all code shares';
  } else if (contained && state.reachedCode()) {
    result.replace = 'the step reached what makes code of text, or formats prints';
  } else if (++stepsRun % HEAP_CHECK_EVERY_STEPS === 0 && memoryIsLow()) {
    result.replace = 'its memory grew';
  }
  // The worker collects files, and looks for processes, before another step meets either.
  if (!result.replace && (result.files || result.spawned)) {
    result.held = true;
    continued = new Promise((resolve) => {
      letContinue = resolve;
    });
  }
  end(message, result);
}

/** Ends are sent together. Code that fails here runs again in the usual way: `again`. */
function runPlainSteps() {
  let lines = '';
  let sentMs = performance.now();
  let beganMs = sentMs;
  for (const { n, step, values } of plainSteps.splice(0)) {
    const out = plainOut(step, values);
    const endedMs = performance.now();
    const replace = ++stepsRun % HEAP_CHECK_EVERY_STEPS === 0 && memoryIsLow() ? ',"replace":"its memory grew"' : '';
    const more = out === null || out === '' ? replace : `${replace},"out":${out}`;
    lines += `{"t":"${out === null ? 'again' : 'end'}","n":${n},"ms":${(endedMs - beganMs).toFixed(3)}${more}}\n`;
    beganMs = endedMs;
    if (endedMs - sentMs < PLAIN_TOGETHER_MS) continue;
    pipe.sendLines(lines);
    lines = '';
    sentMs = endedMs;
  }
  if (lines !== '') pipe.sendLines(lines);
}

/** Empty: nothing was returned; null: it failed. */
function plainOut(step, values) {
  try {
    return textOf(plainRealm.run(step, values)) ?? '';
  } catch {
    return null;
  }
}

function end(message, { outText, replace, ...result }) {
  if (current !== message) return;
  current = null;
  prints.end();
  const marked = message.contained ? undefined : prints.mark();
  const reason = marked === false ? 'the step closed its output' : replace;
  if (reason) closed = true;
  const head = stringify({ t: 'end', n: message.n, ms: 0, ...result, marked, replace: reason });
  // The out is already text; inserting it unchanged saves a second pass.
  pipe.sendText(outText === undefined ? head : `${head.slice(0, -1)},"out":${outText}}`);
}

/** Resources that are being closed need a turn or two; what remains after 10 ms was left behind. */
async function staysActive(resourcesBefore) {
  for (let i = 0; i < 3; i++) {
    await turn();
    if (process.getActiveResourcesInfo().length <= resourcesBefore) return false;
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
  return process.getActiveResourcesInfo().length > resourcesBefore;
}

function textOf(out) {
  let text;
  try {
    text = stringify(out);
  } catch (error) {
    throw Object.assign(new Error(`the returned value is not JSON: ${error.message.split('\n')[0]}`), {
      stepKind: 'out',
    });
  }
  if (text !== undefined && text.length > RETURNED_BYTES_MAX / 3 && Buffer.byteLength(text) > RETURNED_BYTES_MAX) {
    throw Object.assign(new Error('the returned value is larger than 5 MiB'), { stepKind: 'limit' });
  }
  return text;
}

function memoryIsLow() {
  const { heapUsed, rss } = process.memoryUsage();
  const limit = Number(memoryMb) * 1024 * 1024;
  return heapUsed > 0.6 * limit || rss > 1.5 * limit + 64 * 1024 * 1024;
}
