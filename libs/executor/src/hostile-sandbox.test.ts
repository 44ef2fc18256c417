// Tries, with real processes, to reach the machine from inside a step's sandbox.
import assert from 'node:assert/strict';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isJsonObject, type JsonObject } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { CodeHarness } from './code-harness.fixture.ts';
import { literal, node } from './hand-built-method.fixture.ts';
import { isolationLevel } from './isolation.ts';
import { processesOfFolder, readProcessTable } from './runners/process-table.ts';

const isolation = isolationLevel('/usr/local/bin:/usr/bin:/bin');
const isRoot = process.getuid?.() === 0;

describe('a hostile step in a sandbox', { skip: isolation.level === 'sandbox' ? false : isolation.text }, () => {
  let harness: CodeHarness;
  let server: Server;
  const abstract = `methods-test-${process.pid}`;
  const host = join(tmpdir(), `host-file-${process.pid}`);
  before(async () => {
    harness = await CodeHarness.start({ isolation });
    server = createServer((socket) => socket.end('hello')).listen(`\0${abstract}`);
    await until('the server listens', () => server.listening);
    await writeFile(host, 'of the host', { mode: 0o600 });
  });
  after(async () => {
    await harness.stop();
    server.close();
    await rm(host);
  });

  async function seen(code: string, more: Parameters<typeof node>[2] = {}): Promise<JsonObject> {
    const end = await harness.run(node('hostile', code, { kind: 'python', ...more }));
    assert.equal(end.failure, null, `${end.failure?.message} ${end.log?.text}`);
    assert.ok(isJsonObject(end.returned));
    return end.returned;
  }

  it('cannot change a setting of the machine or of its kernel', async () => {
    const before = await readFile('/proc/sys/vm/swappiness', 'utf8');
    const { written, masked } = await seen(`import os
written = []
for top in ["/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/sys"]:
    for folder, _, files in os.walk(top):
        for name in files:
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
                written.append(os.path.join(folder, name))
            except OSError: pass
masked = []
for name in ["kcore", "keys", "kmsg", "sysrq-trigger", "timer_list", "sched_debug"]:
    try:
        with open("/proc/" + name, "rb") as file:
            if file.read(1): masked.append(name)
    except OSError: pass
return {"written": written, "masked": masked}`);
    assert.deepEqual([written, masked], [[], []]);
    assert.equal(await readFile('/proc/sys/vm/swappiness', 'utf8'), before);
  });

  it('is a user without rights, and gains none', async () => {
    const { status, uid, name, owner } = await seen(`import os, pwd
keep = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Groups")
with open("/proc/self/status") as file: status = {l.split(":")[0]: l.split(":")[1].strip() for l in file if l.startswith(keep)}
open("mine", "w").close()
return {"status": status, "uid": os.getuid(), "name": pwd.getpwuid(os.getuid()).pw_name, "owner": os.stat("mine").st_uid}`);
    assert.ok(isJsonObject(status));
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) assert.equal(status[set], '0'.repeat(16), set);
    assert.equal(status.NoNewPrivs, '1');
    assert.equal(owner, uid);
    if (isolation.level !== 'sandbox' || isolation.setpriv === null) return;
    assert.deepEqual([status.CapBnd, status.Groups, name], ['0'.repeat(16), '', 'step']);
    assert.ok(Number(uid) >= 1_900_000_000, `user ${uid}`);
    const other = await seen('import os\nreturn {"uid": os.getuid()}');
    assert.notEqual(other.uid, uid, 'each runner has a user of its own');
  });

  it('finds no descriptor and no process of its worker, and no way out by /proc', async () => {
    const { fds, ways, signals, alone } = await seen(
      `import os
fds = []
for name in os.listdir("/proc/self/fd"):
    try: fds.append(os.readlink("/proc/self/fd/" + name))
    except OSError: pass
ways = []
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    for way in ("root", "cwd"):
        try:
            if os.path.exists(f"/proc/{pid}/{way}{host}"): ways.append(f"{pid}/{way}")
        except OSError: pass
signals = []
for pid in (worker, os.getppid() if os.getppid() > 1 else worker):
    try: os.kill(pid, 0); signals.append(pid)
    except OSError: pass
return {"fds": fds, "ways": ways, "signals": signals, "alone": os.path.exists(host)}`,
      { inputs: { host: literal(host), worker: literal(process.pid) } },
    );
    // Its line's tickets can only be read.
    const plain =
      /^(\/dev\/null|pipe:\[\d+\]|socket:\[\d+\]|anon_inode:.*|\/proc\/\d+\/(fd|schedstat)|\/.*\/tickets \(deleted\))$/;
    assert.deepEqual(
      (fds as string[]).filter((it) => !plain.test(it)),
      [],
    );
    assert.ok((fds as string[]).filter((it) => it.startsWith('socket:')).length <= 3, String(fds));
    assert.deepEqual([ways, alone], [[], false]);
    assert.ok((signals as number[]).length === 0 || !(signals as number[]).includes(process.pid), String(signals));
  });

  it('cannot put anything where its worker looks for its folders', async () => {
    const { moved } = await seen(`import os
moved = []
for what in ("work", "code", "in", "passwd", "node_modules"):
    for way in (lambda: os.rename("../" + what, "../x"), lambda: os.symlink("/etc", "../" + what + "2"), lambda: os.rmdir("../" + what)):
        try: way(); moved.append(what)
        except OSError: pass
return {"moved": moved}`);
    assert.deepEqual(moved, []);
  });

  it('cannot change rights or content of a file outside, even by tracing its runner', async () => {
    const { done } = await seen(
      `import os, ctypes
done = []
for path in (host, "/usr/bin/env", "/etc/passwd", "/proc/1/root" + host, "/proc/self/root" + host):
    for way in (lambda: os.chmod(path, 0o666), lambda: open(path, "r+").close(), lambda: os.chown(path, os.getuid(), -1), lambda: os.link(path, "linked")):
        try: way(); done.append(path)
        except OSError: pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, 1, 0, 0) == 0: done.append("traced the first process")
return {"done": done}`,
      { inputs: { host: literal(host) } },
    );
    assert.deepEqual(
      done,
      isRoot && isolation.level === 'sandbox' && isolation.setpriv !== null ? [] : withoutInit(done),
    );
    assert.equal((await stat(host)).mode & 0o777, 0o600);
  });

  it('reaches abstract sockets of the machine only with the network', async () => {
    // Node's name of it was filled up with zeros before Node 22.
    const code = `import socket
for path in (("\\0" + name).ljust(108, "\\0"), "\\0" + name):
    try:
        s = socket.socket(socket.AF_UNIX); s.connect(path); return {"got": s.recv(5).decode()}
    except OSError: pass
return {"got": None}`;
    const inputs = { name: literal(abstract) };
    assert.deepEqual(await seen(code, { inputs, network: false }), { got: null });
    assert.deepEqual(await seen(code, { inputs }), { got: 'hello' });
  });

  it('leaves no process, started in any way', async () => {
    const end = await harness.run(
      node(
        'leaves',
        '(setsid bash -c "trap : TERM HUP INT; env -i setsid sleep 600 & sleep 600" > /dev/null 2>&1 3>&- &)\necho "$STEP_DIR"',
        { kind: 'shell' },
      ),
    );
    const workDir = end.log?.text.trim() ?? '';
    assert.ok(workDir.startsWith(harness.dir));
    // At the end of the step, not a moment later.
    assert.deepEqual(processesOfFolder(readProcessTable(), workDir), []);
  });
});

/**
 * Steps that run as the worker's own user may trace each other, including bubblewrap's first process in the sandbox.
 */
function withoutInit(done: unknown): unknown {
  return (done as string[]).filter((it) => it === 'traced the first process');
}
