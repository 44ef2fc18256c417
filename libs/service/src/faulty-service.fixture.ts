// A service that meets a rejected promise which nothing awaits, and is asked to stop afterwards.
import { runService } from './run-service.ts';

runService({
  name: 'faulty',
  readConfig: () => ({ logLevel: 'info' as const }),
  compose: () => ({
    start() {
      const code = process.argv.at(-1);
      const fault = code === 'none' ? new Error('ours') : Object.assign(new Error('theirs'), { code });
      void Promise.reject(fault);
      // After the turn in which the process gets the rejection.
      setImmediate(() => setImmediate(() => process.kill(process.pid, 'SIGTERM')));
    },
    stop() {},
  }),
});
