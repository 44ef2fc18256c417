// The physical limit to compare with: the rows of one-step runs written to Postgres by one connection, nothing else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@methods/local-stack/embedded/postgres-server';
import postgres from 'postgres';
import { cpuSeconds } from '../harness/process-tree.ts';

export async function measureLimit(scale: number): Promise<string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'methods-limit-'));
  const server = await startPostgres({ dataDir, port: 0, logFile: join(dataDir, 'log') });
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  try {
    await sql`create table runs (run_id text primary key, status text not null, revision int not null, body text)`;
    const notes: string[] = [];
    for (const batch of [200, 32, 1]) {
      const runs = Math.ceil((batch === 1 ? 1_000 : 20_000) * scale);
      await sql`truncate runs`;
      const before = [cpuSeconds([server.pid])[0] ?? 0, process.cpuUsage()] as const;
      const startedMs = performance.now();
      for (let from = 0; from < runs; from += batch) {
        const ids = Array.from({ length: Math.min(batch, runs - from) }, (_, at) => `run_${batch}_${from + at}`);
        await sql`insert into runs select id, 'queued', 1, 'a body of some size' from unnest(${ids}::text[]) as t(id)`;
        for (const status of ['running', 'succeeded']) {
          await sql`update runs r set status = ${status}, revision = revision + 1 from unnest(${ids}::text[]) as t(id)
            where r.run_id = t.id and r.run_id = any(${ids}::text[])`;
        }
      }
      const seconds = (performance.now() - startedMs) / 1000;
      const postgresS = (cpuSeconds([server.pid])[0] ?? 0) - before[0];
      const used = process.cpuUsage(before[1]);
      const nodeS = (used.user + used.system) / 1e6;
      const per = (value: number) => ((value / runs) * 1000).toFixed(3);
      notes.push(
        `batches of ${batch}: ${(runs / seconds).toFixed(0)} runs/s; CPU-s per 1,000 runs: Postgres ${per(postgresS)}, node ${per(nodeS)}`,
      );
    }
    return notes;
  } finally {
    await sql.end();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
