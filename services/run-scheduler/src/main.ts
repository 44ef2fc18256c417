// The run-scheduler's process; on SIGTERM or SIGINT it gives its shards away first.
import 'reflect-metadata/lite';
import { runService } from '@methods/service/run-service';
import { composeRunScheduler } from './composition.ts';
import { readConfig } from './config.ts';

runService({ name: 'run-scheduler', readConfig: () => readConfig(), compose: composeRunScheduler });
