// What the page of a run reads: the run without its steps, its steps, and parts of its values.
import { useInfiniteQuery, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type Api, got } from '../../api/client.ts';
import type { operations } from '../../api/gen/openapi.ts';
import { useApi } from '../../api/use-api.ts';
import { useEvents } from '../../live/live-events.tsx';

type Reply<Name extends 'getRunAsUser' | 'listRunSteps' | 'readRunValue'> =
  operations[Name]['responses'][200]['content']['application/json'];

export type WholeRun = Extract<Reply<'getRunAsUser'>, { run_data: string }>;
export type Step = Reply<'listRunSteps'>['items'][number];
type ValueOf = Reply<'readRunValue'>['of'];

const STEPS_A_PAGE = 1_000;
/** Rounds of one loop that are listed. */
export const ROUNDS_MAX = 5_000;
const AGAIN_AFTER_MS = 400;
const VALUE_BYTES = 16_384;

/** The run without its steps. What the page shows of it is read again when something happens to it. */
export function useRun(runId: string) {
  const { org, api } = useApi();
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEvents(({ name, data }) => {
    if (name !== 'run' && name !== 'question' && name !== 'delivery') return;
    if (data?.run_id !== runId || timer.current !== null) return;
    // A run of short steps has many events a second.
    timer.current = setTimeout(() => {
      timer.current = null;
      void queryClient.invalidateQueries({ queryKey: [org, 'run', runId] });
    }, AGAIN_AFTER_MS);
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return useQuery({
    queryKey: [org, 'run', runId, 'head'],
    meta: { staleOn: [] },
    queryFn: async ({ signal }) => {
      const params = { path: { id: runId }, query: { steps: 'false' } } as const;
      return (await got(api.GET('/api/runs/{id}', { params, signal }))) as WholeRun;
    },
  });
}

export interface StepFilter {
  /** A part of the path. */
  readonly name: string;
  readonly status: Step['status'] | '';
}

/** Long loops are one entry each, unless something is looked for. */
export function useSteps(runId: string, { name, status }: StepFilter) {
  const { org, api } = useApi();
  return useInfiniteQuery({
    queryKey: [org, 'run', runId, 'steps', name, status],
    meta: { staleOn: [] },
    queryFn: ({ pageParam, signal }) => {
      const filter = { ...(name !== '' && { name }), ...(status !== '' && { status }) };
      // What is looked for may be within a long loop.
      const fold = name === '' && status === '' && ({ fold: 'true' } as const);
      const query = { limit: STEPS_A_PAGE, ...fold, ...filter, ...(pageParam && { cursor: pageParam }) };
      return got(api.GET('/api/runs/{id}/steps', { params: { path: { id: runId }, query }, signal }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

/** The steps below each of these loops, by the loop's path; a missing one is still loading. */
export function useRounds(runId: string, loops: readonly string[]): ReadonlyMap<string, readonly Step[]> {
  const { org, api } = useApi();
  const replies = useQueries({
    queries: loops.map((under) => ({
      queryKey: [org, 'run', runId, 'rounds', under],
      queryFn: ({ signal }: { signal: AbortSignal }) => roundsOf(api, runId, under, signal),
    })),
  });
  return new Map(replies.flatMap(({ data }, at) => (data === undefined ? [] : [[loops[at] as string, data] as const])));
}

async function roundsOf(api: Api, runId: string, under: string, signal: AbortSignal): Promise<Step[]> {
  const found: Step[] = [];
  let cursor: string | null = '';
  while (cursor !== null && found.length < ROUNDS_MAX) {
    const query = { limit: STEPS_A_PAGE, fold: 'true', under, ...(cursor !== '' && { cursor }) } as const;
    const page: Reply<'listRunSteps'> = await got(
      api.GET('/api/runs/{id}/steps', { params: { path: { id: runId }, query }, signal }),
    );
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  return found;
}

/** A value of the run in parts of 16 KiB. `step`: its path, for an output or a log. */
export function useValue(runId: string, of: ValueOf, step?: string) {
  const { org, api } = useApi();
  return useInfiniteQuery({
    queryKey: [org, 'run', runId, 'value', of, step ?? ''],
    queryFn: ({ pageParam, signal }) => {
      // The first part is small; who asks for all gets larger ones.
      const bytes = pageParam === 0 ? VALUE_BYTES : 16 * VALUE_BYTES;
      const query = { of, bytes, ...(pageParam > 0 && { offset: pageParam }), ...(step !== undefined && { step }) };
      return got(api.GET('/api/runs/{id}/values', { params: { path: { id: runId }, query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: ({ next_offset }) => next_offset,
  });
}
