// The registry's process.
import 'reflect-metadata/lite';
import { runService } from '@methods/service/run-service';
import { composeMethodRegistry } from './composition.ts';
import { readConfig } from './config.ts';

runService({ name: 'method-registry', readConfig: () => readConfig(), compose: composeMethodRegistry });
