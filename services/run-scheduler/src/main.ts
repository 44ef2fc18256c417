// The run-scheduler's process; on SIGTERM or SIGINT it gives its shards away first.
import 'reflect-metadata/lite';
import { armFaultPoint } from '@methods/base/fault-point';
import { runService } from '@methods/service/run-service';
import { composeRunScheduler } from './composition.ts';
import { readConfig } from './config.ts';

runService({
  name: 'run-scheduler',
  readConfig: () => readConfig(),
  compose(config, logger) {
    armFaultPoint(config.faultPoint);
    return composeRunScheduler(config, logger);
  },
});
