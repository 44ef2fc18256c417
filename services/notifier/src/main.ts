// The notifier's process; when it stops, pending sends are finished or put back.
import 'reflect-metadata/lite';
import { runService } from '@methods/service/run-service';
import { composeNotifier } from './composition.ts';
import { readConfig } from './config.ts';

runService({ name: 'notifier', readConfig: () => readConfig(), compose: composeNotifier });
