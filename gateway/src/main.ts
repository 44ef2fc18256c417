// The gateway's process; when it stops, requests in progress are answered.
import 'reflect-metadata/lite';
import { runService } from '@methods/service/run-service';
import { composeGateway } from './composition.ts';
import { readConfig } from './config.ts';

runService({ name: 'gateway', readConfig: () => readConfig(), compose: composeGateway });
