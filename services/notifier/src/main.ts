// The notifier's process; what is being sent at its end is finished or put back.
import 'reflect-metadata/lite';
import { runService } from '@methods/service/run-service';
import { composeNotifier } from './composition.ts';
import { readConfig } from './config.ts';

runService({ name: 'notifier', readConfig: () => readConfig(), compose: composeNotifier });
